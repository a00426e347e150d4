"""All pages, from the records of a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from eagle.errors import InputError
from evaluation.experiment import Experiment
from evaluation.report.choice import default
from evaluation.report.crossover import crossover
from evaluation.report.curves import ablation, bounds, convergence
from evaluation.report.examples import attributions, samples
from evaluation.report.frontier import frontier
from evaluation.report.page import Page
from evaluation.report.readings import readings
from evaluation.report.records import Records
from evaluation.report.runtime import runtime, seconds
from evaluation.report.segments import segments
from evaluation.report.stability import stability
from evaluation.report.stop import stopping
from evaluation.store import Store

PAGES: Final[dict[str, Callable[[Records], Page]]] = {
    "table1": stability,
    "table2": crossover,
    "table2-seconds": seconds,
    "table3": runtime,
    "figure1": samples,
    "figure2": convergence,
    "figure3-prior": ablation,
    "figure3-pool": ablation,
    "figure3-segments": ablation,
    "mnist-segments": segments,
    "attributions": attributions,
    "texts": attributions,
    "bounds": bounds,
    "default": default,
    "stop": stopping,
    "frontier": frontier,
}


BESIDE: Final = {
    "paper/README.md": "As much as was run in the paper's own sizes",
    "untouched.md": "The default on tables that had no say in anything",
    "few-rows.md": "Few paid rows: 16 to 256 rows of masks and tables",
    "prompts.md": "Prompts: the calls that find the sources of an answer",
    "survey.md": "Surveys: one set of rows for every row of a table, beside plans for each row",
}
"""Pages that stand beside those of a profile."""


def write(planned: dict[str, Experiment], store: Store, how: str, out: Path) -> list[Path]:
    """Write a page for every experiment that has records.

    `how` are the options of the command that made the records.
    """
    every = store.read()
    records: dict[str, Records] = {}
    for name, one in planned.items():
        own = [record for record in every if one.owns(record)]
        if own:
            records[name] = Records(one, own)
    if not records:
        raise InputError(f"there are no records of {how} yet: run python -m evaluation run {how}")
    pages = []
    for name, several in records.items():
        page = PAGES[name](several)
        page.say(
            f"Made by `python -m evaluation run {name} {how}` and `python -m evaluation report "
            f"{how}` from {len(several.each):,} records."
        )
        pages.append(page)
    if "table1" in records:
        page = readings(records)
        page.say(f"Made by `python -m evaluation report {how}` from the records of all pages.")
        pages.append(page)
    index = Page("README", "Results")
    index.say(
        "Every table and figure of the paper, made again, whoever wins. Each page names the "
        "command that makes it; those of tables and figures end with a verdict. ImageNet stands "
        "for the photographs of the data folder under EfficientNet-Lite0, since the paper's VGG-16 "
        "cannot be had from a package registry."
    )
    index.say("\n".join(f"- [{page.title}]({page.name}.md)" for page in pages))
    beside = [f"- [{title}]({name})" for name, title in BESIDE.items() if (out / name).exists()]
    if beside:
        index.say("Beside these:")
        index.say("\n".join(beside))
    return [page.write(out) for page in (*pages, index)]
