"""Saved explanations, plans and backgrounds: plain JSON under a checksum, and no code.

A file names the surrogate of its explanation. One of your own can be saved once it is registered,
and read wherever the module that registers it was imported:

    import eagle.files

    @eagle.files.register
    @dataclass(frozen=True)
    class Median:
        share: float = 0.5

        def on(self, rows): ...

The same holds for your own posterior, your own subject of explanations, and parts of these. Their
fields are written: numbers, texts, true and false, None, arrays, tuples, and registered
dataclasses. Only registered classes are built from a file, and their own `__post_init__` may
refuse what does not fit. `registered` registers classes within a `with` block, for tests.

A file is refused if its scores are not those that its surrogate gives again. They may differ by
1e-6 of the largest score. A surrogate that is tuned step by step may need more:
`@eagle.files.register(tolerance=1e-3)`.
"""

from eagle.files.registry import register, registered

__all__ = ["register", "registered"]


def __dir__() -> list[str]:
    """What users import."""
    return sorted(__all__)
