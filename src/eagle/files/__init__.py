"""Saved explanations, plans and backgrounds: plain JSON under a checksum, and no code.

A file names the surrogate of its explanation. One of your own can be saved once it is registered,
and read wherever the module that registers it was imported:

    import eagle.files

    @eagle.files.register
    @dataclass(frozen=True)
    class Median:
        share: float = 0.5

        def on(self, features, weight): ...

The same goes for a posterior of your own, and for the parts of either. Its fields are what is
written: numbers, texts, true and false, None, arrays, tuples, and registered dataclasses. Only
registered classes are built from a file, and their own `__post_init__` may refuse what does not
fit. `registered` registers for a while, as tests need it.
"""

from eagle.files.registry import register, registered

__all__ = ["register", "registered"]
