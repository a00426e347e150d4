"""What decides the results of a run: a folder holds those of one configuration alone."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import eagle
from eagle._engine.targets import Target, check_target
from eagle._tables.column import plain
from eagle._values.text import short, short_repr
from eagle.dataset.parts import Maker
from eagle.dataset.source import DataSource
from eagle.errors import InputError
from eagle.explainer import setup_of
from eagle.io.values import decode, encode
from eagle.saved.folders import MANIFEST, Manifest
from eagle.survey.identity import of_setup, versions
from eagle.survey.survey import Survey
from eagle.until import Rule

PART_ROWS: Final[Mapping[str | None, int]] = {None: 256, "image": 16}
"""Rows per part, by what is explained. None is for everything else."""

SURVEY_PART_ROWS: Final = 10_000
"""Rows per part from a survey: rows that are alike share work within a part."""


MAX_BITS: Final = 64
"""No place of an output is a larger integer, and not every one could be written to a file."""


def part_rows_of(maker: Maker) -> int:
    """How many rows a part has if it is not said."""
    if isinstance(maker, Survey):
        return SURVEY_PART_ROWS
    return PART_ROWS.get(maker.kind.asked, PART_ROWS[None])


def manifest(
    maker: Maker, source: DataSource, part_rows: int, target: Target, until: Rule | None
) -> Manifest:
    """The manifest of a run."""
    check_target(target)
    told = tuple(map(plain, target)) if isinstance(target, tuple) else plain(target)
    for one in told if isinstance(told, tuple) else (told,):
        if isinstance(one, int) and one.bit_length() > MAX_BITS:
            raise InputError(f"the model has no output {short_repr(one)}")
    config = {
        "eagle": eagle.__version__,
        "target": told,
        "until": None if until is None else repr(until),
        **(_of_survey(maker) if isinstance(maker, Survey) else of_setup(setup_of(maker))),
        **source.describe(),
    }
    return Manifest(decode(encode(config), {}), source.files, part_rows, versions())


def _of_survey(survey: Survey) -> dict[str, Any]:
    kernel = survey.setting.kernel
    return {
        "model": survey.identity.model,
        "model digest": survey.identity.model_digest,
        "background": survey.identity.background_digest,
        "method": survey.method,
        "kernel": [kernel.width, kernel.root],
        "survey": survey.drawn.digest,
        "answers": sha256(survey.answers.tobytes()).hexdigest(),
        "seed": survey.seed,
        "link": None if survey.setting.box.link is None else repr(survey.setting.box.link),
        "asks its model": survey.setting.has_model,
    }


def begin(folder: Path, wanted: Manifest) -> None:
    """Begin a run in a folder, or go on with it. A folder of another run is refused."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"explanations of a data set are a folder, but {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MANIFEST).exists():
        name = next((p.name for p in folder.iterdir() if not p.name.startswith(".")), None)
        if name is not None:
            raise InputError(
                f"{folder} is not empty, and no folder of explanations (it has {name}): name "
                "another folder"
            )
        wanted.write(folder)
        return
    before = Manifest.read(folder)
    if before.digest != wanted.digest:
        raise InputError(
            f"{folder} holds another run, which differs in {_difference(before, wanted)}: name "
            "another folder, or give the command of that run"
        )


def _difference(one: Manifest, other: Manifest) -> str:
    """What differs between two runs, in words."""
    parts = []
    if list(one.files) != list(other.files):
        parts.append("the source's files or their rows")
    if one.part_rows != other.part_rows:
        parts.append(f"part_rows ({one.part_rows} there, {other.part_rows} here)")
    for name in dict.fromkeys((*one.config, *other.config)):
        there, here = one.config.get(name), other.config.get(name)
        if there != here:
            long = max(len(str(there)), len(str(here))) > 40
            parts.append(name if long else f"{name} ({there} there, {here} here)")
    return short(", ".join(parts), 300)
