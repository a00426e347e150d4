"""A call that works for every public name, for the tests that give it something else.

A name of `public` that has no call here, and is not among `MADE` or `WITHIN`, fails a test.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import eagle
from catalogue import METHODS
from eagle import (
    Images,
    Parts,
    Series,
    Texts,
    comparison,
    language,
    methods,
    metrics,
    peers,
    theory,
    until,
)
from eagle.models import http, recorded
from eagle.models.vision import Network
from eagle.peers.selection import Highest
from graphs import mean_colour

PARTS = ("eagle.designs.", "eagle.kernels", "eagle.surrogates.")
FOLDER = Path(tempfile.mkdtemp(prefix="eagle-calls-"))
RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
TABLE = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": ["p", "q"] * 20})
PICTURE = RNG.random((6, 6, 3))
BLOCKS = np.kron([[0, 1], [2, 3]], np.ones((3, 3), dtype=int))
WAVE = RNG.normal(size=(12, 2))
SENTENCE = "a very good day"
QUESTION = {"sources": ["good", "old"], "question": "How?"}


def line(table: Any) -> Any:
    return np.asarray(table) @ [1.0, -2.0, 0.5]


def two(table: Any) -> Any:
    p = 1 / (1 + np.exp(-np.asarray(table) @ [1.0, -2.0, 0.5]))
    return np.stack([1 - p, p], axis=1)


def mixed(table: pd.DataFrame) -> Any:
    return table["a"].to_numpy(float) + (table["c"] == "p").to_numpy(float)


def bright(images: Any) -> Any:
    return np.asarray(images).mean(axis=tuple(range(1, np.ndim(images))))


def good(texts: Any) -> Any:
    return np.array([str(text).count("good") + len(str(text)) / 100 for text in texts])


def summed(baskets: Any) -> Any:
    return np.array([float(len(basket)) for basket in baskets])


def kept_parts(masks: Any) -> Any:
    return np.asarray(masks).sum(axis=1) * 1.0


def half(pixels: Any) -> Any:
    return np.stack([pixels.mean(axis=(1, 2, 3)), -pixels.max(axis=(1, 2, 3))], axis=1)


# -- what is called ----------------------------------------------------------------------------


@cache
def explainer() -> eagle.Explainer:
    return eagle.Explainer(two, X, budget=64)


@cache
def explanation() -> eagle.Explanation:
    return explainer().explain(X[0])


@cache
def explanations() -> eagle.Explanations:
    return explainer().explain_many(X[:6], target=1, progress=False)


@cache
def survey() -> eagle.Survey:
    return explainer().survey(64, progress=False)


@cache
def shapley_survey() -> eagle.ShapleySurvey:
    """Of a line, which its proxies find at once."""
    made = eagle.Explainer(line, X).shapley_survey(X, budget=8, background=10, progress=False)
    made.explain(X[0])
    return made


@cache
def compared() -> eagle.Comparison:
    both = [methods.EAGLE_BALANCED, peers.LIME]
    return eagle.compare_methods(explainer(), both, X[0], 2, progress=False)


@cache
def background() -> eagle.Background:
    return eagle.Background.of(TABLE)


@cache
def of_image() -> eagle.Explanation:
    return eagle.Explainer(bright, Images(BLOCKS), budget=16).explain(PICTURE)


@cache
def of_text() -> eagle.Explanation:
    return eagle.Explainer(good, Texts(), budget=16).explain(SENTENCE)


@cache
def of_series() -> eagle.Explanation:
    return eagle.Explainer(bright, Series(3), budget=16).explain(WAVE)


@cache
def of_prompt() -> eagle.Explanation:
    prompt = language.Prompt("{sources} {question}", fixed=["question"])
    return eagle.Explainer(good, prompt, budget=16).explain(QUESTION)


@cache
def logs() -> eagle.Explanation:
    return eagle.Explainer(two, X, budget=64, link="logit").explain(X[0])


@cache
def saved(kind: str) -> Path:
    """A file of a kind."""
    path = FOLDER / kind
    things: dict[str, Callable[[], Any]] = {
        "explanation.json": explanation,
        "explanations.parquet": explanations,
        "survey.json": survey,
        "shapley.json": shapley_survey,
        "plan.json": lambda: explainer().plan(X[0]),
        "background.json": background,
    }
    things[kind]().save(path)
    return path


def new(name: str) -> Path:
    """A path at which nothing is that matters."""
    return FOLDER / name


# -- what is done with what comes back ----------------------------------------------------------


def seen(made: Any) -> None:
    """What came back can be looked at."""
    repr(made)
    str(made)
    if isinstance(made, eagle.Explainer | eagle.Survey):
        made.describe()
    if hasattr(made, "_repr_html_"):
        made._repr_html_()
    if hasattr(made, "clear"):
        made.clear()  # an Axes, which draws no more


def explains(model: Callable[[Any], Any], x: Any) -> Callable[[Any], None]:
    """A source explains x."""

    def use(source: Any) -> None:
        explainer = eagle.Explainer(model, source, budget=16)
        explainer.describe()
        seen(explainer.explain(x))

    return use


def over(table: Any) -> None:
    """Explain a row of a table whose columns are described."""
    eagle.Explainer(two, table, budget=40).explain(X[0], progress=False)


def table_of(made: Any) -> None:
    """An explainer or a background of a table explains a row of it."""
    if isinstance(made, eagle.Background):
        made = eagle.Explainer(mixed, made, budget=16)
    seen(made)
    data = TABLE if "c" in [column.name for column in made.background.columns] else X
    seen(made.explain(data[:1]))


def stops(rule: Any) -> None:
    """A rule ends an explanation."""
    explainer().explain(X[0], until=rule, progress=False)


def limits(limit: Any) -> None:
    """A limit is kept."""
    with suppress(eagle.EagleError):  # what is too much is refused, and so are tokens here
        explainer().explain(X[0], limit=limit)


def by(method: Any) -> None:
    """A method explains a row."""
    seen(eagle.Explainer(two, X, method=method, budget=40).explain(X[0]))


def asked(model: Any) -> None:
    """A model of prompts, or of rows, is asked."""
    seen(eagle.Explainer(model, Texts(), budget=16).explain(SENTENCE))


def pictured(network: Any) -> None:
    """A network explains a picture."""
    seen(eagle.Explainer(network, Images(BLOCKS), budget=16).explain(PICTURE))


def exhausted(found: Iterator[Any]) -> None:
    for one in found:
        seen(one)


# -- every public name ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A function, arguments with which it works, and what is done with what it gives.

    `free` are parameters that may be anything at all, so that no object is wrong by its type.
    `functions` are those that are called by the library: what they raise is the caller's own, so
    no other function is tried there.
    """

    run: Callable[..., Any]
    good: Mapping[str, Any] = field(default_factory=dict)
    then: Callable[[Any], Any] = seen
    free: tuple[str, ...] = ("target",)
    functions: tuple[str, ...] = ()


ENDPOINT = {"url": "http://127.0.0.1:9/v2/models/m/infer", "retries": 0}
LEVELS = {"a": 1.0, "b": 1.0}


CALLS: dict[str, Callable[[], Call]] = {
    # sources
    "eagle.Background.of": lambda: Call(eagle.Background.of, {"data": TABLE}, table_of),
    "eagle.Background.around": lambda: Call(
        eagle.Background.around, {"x": [1.0, 2.0, 3.0], "scales": 1.0}
    ),
    "eagle.Background.load": lambda: Call(
        eagle.Background.load, {"path": saved("background.json")}
    ),
    "eagle.Background.save": lambda: Call(background().save, {"path": new("b.json")}),
    "eagle.Background.to_dict": lambda: Call(background().to_dict, {"key": b"a key of one's own"}),
    "eagle.Background.from_dict": lambda: Call(
        eagle.Background.from_dict, {"data": background().to_dict()}
    ),
    "eagle.Images": lambda: Call(Images, {"segments": BLOCKS}, explains(bright, PICTURE)),
    "eagle.Texts": lambda: Call(Texts, {}, explains(good, SENTENCE)),
    "eagle.Series": lambda: Call(Series, {"segments": 3}, explains(bright, WAVE)),
    "eagle.language.Prompt": lambda: Call(
        language.Prompt,
        {"template": "{sources} {question}", "fixed": ["question"]},
        explains(good, QUESTION),
    ),
    "eagle.Parts": lambda: Call(
        Parts, {"parts": list, "render": list}, explains(summed, [1, 2, 3])
    ),
    # explaining
    "eagle.Table": lambda: Call(eagle.Table, {"X": X}, over),
    "eagle.Explainer": lambda: Call(
        eagle.Explainer, {"model": two, "data": X, "budget": 40}, table_of
    ),
    "eagle.Explainer.explain": lambda: Call(explainer().explain, {"x": X[0], "progress": False}),
    "eagle.Explainer.explain_each": lambda: Call(explainer().explain_each, {"X": X[:2]}, exhausted),
    "eagle.Explainer.explain_many": lambda: Call(
        explainer().explain_many, {"X": X[:2], "progress": False}
    ),
    "eagle.Explainer.plan": lambda: Call(explainer().plan, {"x": X[0]}),
    "eagle.Explainer.predict": lambda: Call(explainer().predict, {"X": X[:2]}),
    "eagle.Explainer.estimate_cost": lambda: Call(explainer().estimate_cost, {"X": X[:2]}),
    "eagle.Explainer.shapley": lambda: Call(
        explainer().shapley, {"X": X, "budget": 24, "background": 4, "progress": False}
    ),
    "eagle.Explainer.shapley_survey": lambda: Call(
        explainer().shapley_survey, {"X": X, "budget": 24, "background": 4, "progress": False}
    ),
    "eagle.Explainer.survey": lambda: Call(explainer().survey, {"rows": 64, "progress": False}),
    "eagle.Explainer.survey_plan": lambda: Call(explainer().survey_plan, {"rows": 64}),
    "eagle.Explainer.with_options": lambda: Call(explainer().with_options, {}, table_of),
    "eagle.Logit": lambda: Call(
        eagle.Logit,
        {},
        lambda link: seen(eagle.Explainer(two, X, link=link, budget=40).explain(X[0])),
    ),
    "eagle.Logit.back": lambda: Call(eagle.Logit().back, {"log_odds": 0.5}),
    "eagle.Method": lambda: Call(
        eagle.Method, vars(peers.LIME), by, functions=("kernel", "on_masks")
    ),
    "eagle.CostEstimate": lambda: Call(
        eagle.CostEstimate, {"rows": 5, "calls": 2}, lambda one: seen(one + one)
    ),
    "eagle.compare_methods": lambda: Call(
        eagle.compare_methods,
        {
            "methods": peers.LIME,
            "explainer": explainer(),
            "x": X[0],
            "runs": 2,
            "progress": False,
        },
    ),
    "eagle.comparison.estimate_cost": lambda: Call(
        comparison.estimate_cost,
        {"methods": peers.LIME, "explainer": explainer(), "x": X[0], "runs": 2},
    ),
    "eagle.load": lambda: Call(eagle.load, {"path": saved("explanation.json")}),
    "eagle.report": lambda: Call(
        eagle.report,
        {"result": explanation(), "out": new("report.html"), "progress": False},
    ),
    "eagle.report of many": lambda: Call(
        eagle.report,
        {
            "result": explanations(),
            "out": new("many.html"),
            "groups": ["u", "v"] * 3,
            "progress": False,
        },
    ),
    # results
    "eagle.Explanation.about": lambda: Call(explanation().about, {"target": 0}),
    "eagle.Explanation.columns": lambda: Call(explanation().columns),
    "eagle.Explanation.to_dict": lambda: Call(
        explanation().to_dict, {"key": b"a key of one's own"}
    ),
    "eagle.Explanation.from_dict": lambda: Call(
        eagle.Explanation.from_dict, {"data": explanation().to_dict()}
    ),
    "eagle.Explanation.fit_to_first": lambda: Call(explanation().fit_to_first, {"rows": 40}),
    "eagle.Explanation.interactions": lambda: Call(explanation().interactions),
    "eagle.Explanation.sure": lambda: Call(explanation().sure),
    "eagle.Explanation.doubtful": lambda: Call(explanation().doubtful),
    "eagle.Explanation.interval": lambda: Call(explanation().interval),
    "eagle.Explanation.load": lambda: Call(
        eagle.Explanation.load, {"path": saved("explanation.json")}
    ),
    "eagle.Explanation.probability_top": lambda: Call(explanation().probability_top, {"k": 1}),
    "eagle.Explanation.probability_top_set": lambda: Call(
        explanation().probability_top_set, {"k": 1}
    ),
    "eagle.Explanation.save": lambda: Call(explanation().save, {"path": new("e.json")}),
    "eagle.Explanation.sheet": lambda: Call(explanation().sheet),
    "eagle.Explanation.interval_or_nan": lambda: Call(explanation().interval_or_nan),
    "eagle.Explanation.to_frame": lambda: Call(explanation().to_frame),
    "eagle.Explanation.to_shap": lambda: Call(explanation().to_shap),
    "eagle.Explanation.top": lambda: Call(explanation().top, {"k": 1}),
    "eagle.Explanations.compare_groups": lambda: Call(
        explanations().compare_groups, {"groups": ["u", "v"] * 3}
    ),
    "eagle.Explanations.mean_score": lambda: Call(explanations().mean_score),
    "eagle.Explanations.importance": lambda: Call(explanations().importance),
    "eagle.Explanations.sure": lambda: Call(explanations().sure),
    "eagle.Explanations.doubtful": lambda: Call(explanations().doubtful),
    "eagle.Explanations.interval": lambda: Call(explanations().interval),
    "eagle.Explanations.load": lambda: Call(
        eagle.Explanations.load, {"path": saved("explanations.parquet")}
    ),
    "eagle.Explanations.of": lambda: Call(eagle.Explanations.of, {"items": list(explanations())}),
    "eagle.Explanations.save": lambda: Call(explanations().save, {"path": new("m.parquet")}),
    "eagle.Explanations.top_k_share": lambda: Call(explanations().top_k_share, {"k": 1}),
    "eagle.Explanations.summary": lambda: Call(explanations().summary),
    "eagle.Explanations.to_frame": lambda: Call(explanations().to_frame),
    "eagle.Explanations.to_shap": lambda: Call(explanations().to_shap),
    "eagle.Comparison.to_frame": lambda: Call(compared().to_frame),
    "eagle.Plan.fit": lambda: Call(
        explainer().plan(X[0]).fit, {"answers": two(explainer().plan(X[0]).inputs)}
    ),
    "eagle.Plan.load": lambda: Call(eagle.Plan.load, {"path": saved("plan.json")}),
    "eagle.Plan.save": lambda: Call(explainer().plan(X[0]).save, {"path": new("p.json")}),
    "eagle.ShapleySurvey.requery": lambda: Call(
        shapley_survey().requery, {"model": line, "progress": False}
    ),
    "eagle.ShapleySurvey.check_target": lambda: Call(
        shapley_survey().check_target, {"target": "prediction"}
    ),
    "eagle.ShapleySurvey.explain": lambda: Call(shapley_survey().explain, {"x": X[0]}),
    "eagle.ShapleySurvey.explain_many": lambda: Call(
        shapley_survey().explain_many, {"X": X[:3], "progress": False}
    ),
    "eagle.ShapleySurvey.grow": lambda: Call(
        shapley_survey().grow, {"budget": 16, "progress": False}
    ),
    "eagle.ShapleySurvey.load": lambda: Call(
        eagle.ShapleySurvey.load, {"path": saved("shapley.json")}
    ),
    "eagle.ShapleySurvey.save": lambda: Call(
        shapley_survey().save, {"path": new("shapley_again.json")}
    ),
    "eagle.Survey.requery": lambda: Call(survey().requery, {"model": two, "progress": False}),
    "eagle.Survey.check_target": lambda: Call(survey().check_target, {"target": 0}),
    "eagle.Survey.explain": lambda: Call(survey().explain, {"x": X[0]}),
    "eagle.Survey.explain_many": lambda: Call(
        survey().explain_many, {"X": X[:3], "progress": False}
    ),
    "eagle.Survey.rename": lambda: Call(survey().rename, {"model": "champion"}),
    "eagle.Survey.grow": lambda: Call(survey().grow, {"rows": 128, "progress": False}),
    "eagle.Survey.load": lambda: Call(eagle.Survey.load, {"path": saved("survey.json")}),
    "eagle.Survey.plan": lambda: Call(survey().plan, {"rows": 128}),
    "eagle.Survey.predict": lambda: Call(survey().predict, {"X": X[:2]}),
    "eagle.Survey.estimate_cost": lambda: Call(survey().estimate_cost, {"X": X[:2]}),
    "eagle.Survey.save": lambda: Call(survey().save, {"path": new("s.json")}),
    "eagle.survey.plan.SurveyPlan.fit": lambda: Call(
        explainer().survey_plan(64).fit, {"answers": two(explainer().survey_plan(64).inputs)}
    ),
    "eagle.survey.plan.SurveyPlan.first": lambda: Call(
        explainer().survey_plan(128).first, {"rows": 64}
    ),
    "eagle.survey.plan.SurveyPlan.estimate_cost": lambda: Call(
        explainer().survey_plan(64).estimate_cost
    ),
    # rules, methods, theory
    "eagle.until.Width": lambda: Call(until.Width, {"width": 0.5}, stops),
    "eagle.until.Top": lambda: Call(until.Top, {"k": 1}, stops),
    "eagle.until.Sign": lambda: Call(until.Sign, {}, stops),
    "eagle.Limit": lambda: Call(eagle.Limit, {"rows": 50}, limits),
    "eagle.Limit of money": lambda: Call(eagle.Limit, {"money": 5, "price_per_row": 0.001}, limits),
    "eagle.until.Both": lambda: Call(
        until.Both, {"one": until.Top(1), "other": until.Sign()}, stops
    ),
    "eagle.until.Either": lambda: Call(
        until.Either, {"one": until.Top(1), "other": until.Sign()}, stops
    ),
    "eagle.peers.with_bootstrap": lambda: Call(
        peers.with_bootstrap, {"method": peers.LIME, "resamples": 10}, by
    ),
    "eagle.peers.baylime_with_prior": lambda: Call(
        peers.baylime_with_prior, {"precision": 1.0}, by
    ),
    "eagle.peers.calibrated_explanations": lambda: Call(
        peers.calibrated_explanations, {"labels": ["no", "yes"] * 20}
    ),
    "eagle.peers.context_cite_for": lambda: Call(peers.context_cite_for, {"tokens": 3}),
    "eagle.peers.sparse_lime": lambda: Call(peers.sparse_lime, {"selection": Highest(2)}, by),
    "eagle.theory.entropy": lambda: Call(theory.entropy, {"df": 5, "logdet": 0.5, "d": 2}),
    "eagle.theory.error_bound": lambda: Call(
        theory.error_bound, {"d": 2, "sigma": 1.0, "delta": 0.1, "norm": 1.0}
    ),
    "eagle.theory.error_radius": lambda: Call(
        theory.error_radius, {"d": 2, "sigma": 1.0, "delta": 0.1}
    ),
    "eagle.theory.information_bound": lambda: Call(theory.information_bound, {"d": 2, "t": 5}),
    "eagle.theory.information_bound_general": lambda: Call(
        theory.information_bound_general, {"d": 2, "t": 5}
    ),
    "eagle.theory.sample_size": lambda: Call(
        theory.sample_size,
        {"d": 2, "sigma": 1.0, "delta": 0.1, "norm": 1.0, "accuracy": 0.5, "kappa": 0.5},
    ),
    "eagle.verify": lambda: Call(eagle.verify, {"result": saved("explanation.json")}),
    # models
    "eagle.models.recorded": lambda: Call(
        recorded, {"model": good, "path": new("r.db"), "name": "n", "version": "1"}, asked
    ),
    "eagle.models.http.Endpoint": lambda: Call(http.Endpoint, ENDPOINT),
    "eagle.models.http.Instances": lambda: Call(http.Instances),
    "eagle.models.http.Invocations": lambda: Call(http.Invocations),
    "eagle.models.http.OpenInference": lambda: Call(http.OpenInference, {"model": "m"}),
    "eagle.models.http.Pace": lambda: Call(http.Pace, {"requests": 2, "seconds": 1.0}),
    "eagle.models.http.Retry": lambda: Call(
        http.Retry, {}, lambda retry: retry.wait(1, 429, None, "k")
    ),
    "eagle.models.http.Template": lambda: Call(http.Template, {"build": list}),
    "eagle.language.Answer": lambda: Call(language.Answer, {"text": " Paris"}),
    "eagle.language.YesNo": lambda: Call(
        language.YesNo, {}, lambda score: score.of_top({"yes": -0.5, "no": -1.0})
    ),
    "eagle.language.FirstToken": lambda: Call(
        language.FirstToken, {"text": " Paris"}, lambda score: score.of_top({" Paris": -0.5})
    ),
    "eagle.language.Completions": lambda: Call(
        language.Completions, {"model": "m", "score": language.YesNo()}
    ),
    "eagle.language.Chat": lambda: Call(language.Chat, {"model": "m"}),
    "eagle.language.Each": lambda: Call(
        language.Each, {"function": lambda text: float(len(text))}, asked
    ),
    "eagle.language.log_odds": lambda: Call(language.log_odds, {"log_p": -0.5}),
    "eagle.models.vision.Network": lambda: Call(
        Network, {"run": half}, pictured, functions=("run",)
    ),
    "eagle.models.vision.Network.of_onnx": lambda: Call(Network.of_onnx, {"path": network()}),
    "eagle.models.vision.Network.predict_proba": lambda: Call(
        Network(half).predict_proba, {"images": PICTURE[None]}
    ),
    # data sets
    "eagle.dataset.Ray": lambda: Call(eagle.dataset.Ray),
    "eagle.dataset.explain": lambda: Call(
        eagle.dataset.explain,
        {
            "maker": explainer(),
            "source": rows_file(),
            "out": new("folder"),
            "progress": False,
        },
    ),
}


def network() -> Path:
    """A network on images of any size as an ONNX file."""
    path = FOLDER / "net.onnx"
    if not path.exists():
        path.write_bytes(mean_colour(np.eye(3, 2, dtype=np.float32), ["n", 3, "h", "w"]))
    return path


def rows_file() -> Path:
    path = FOLDER / "rows.parquet"
    if not path.exists():
        pd.DataFrame({f"x{j}": X[:4, j] for j in range(3)}).to_parquet(path)
    return path


def plots() -> dict[str, Callable[[], Call]]:
    """Every figure."""
    from eagle import plot

    groups = partial(explanations().compare_groups, ["u", "v"] * 3)
    made: dict[str, Callable[[], dict[str, Any]]] = {
        "attribution": lambda: {"explanation": explanation()},
        "beeswarm": lambda: {"explanations": explanations()},
        "compare_groups": lambda: {"compared": groups()},
        "compare_explanations": lambda: {
            "explanations": {"one": explanation(), "two": explanation()}
        },
        "convergence": lambda: {"explanation": explanation()},
        "decision": lambda: {"explanations": explanations(), "groups": ["u", "v"] * 3},
        "dependence": lambda: {"explanations": explanations(), "feature": "x0"},
        "heatmap": lambda: {"explanations": explanations()},
        "image": lambda: {"explanation": of_image()},
        "importance": lambda: {"explanations": explanations()},
        "compare_methods": lambda: {"comparison": compared()},
        "prompt": lambda: {"explanation": of_prompt()},
        "series": lambda: {"explanation": of_series()},
        "strip": lambda: {"explanation": explanation()},
        "text": lambda: {"explanation": of_text()},
        "waterfall": lambda: {"explanation": explanation()},
    }
    return {f"eagle.plot.{name}": partial(_drawn, getattr(plot, name), made[name]) for name in made}


def _drawn(draw: Callable[..., Any], made: Callable[[], dict[str, Any]]) -> Call:
    return Call(draw, made())


def figures() -> dict[str, Callable[[], Call]]:
    """Every metric."""
    S, T = RNG.normal(size=(4, 3)), RNG.normal(size=3)
    inside = np.stack([S - 1, S + 1], axis=-1)
    order = {"order": [0, 1, 2], "ask": kept_parts}
    known: dict[str, dict[str, Any]] = {
        "stability.chance": {"d": 5},
        "stability.jaccard": {"scores": S, "k": 2},
        "truth.agreement": {"scores": S, "reference": T, "k": 2},
        "truth.coverage": {"intervals": inside, "reference": T},
        "truth.relative_error": {"scores": S, "reference": T},
        "truth.width": {"intervals": inside},
        "faith.deletion": order,
        "faith.gaps": {**order, "k": 1},
        "faith.insertion": order,
    }
    return {
        f"eagle.metrics.{name}": partial(Call, attrgetter(name)(metrics), given, functions=("ask",))
        for name, given in known.items()
    }


def parts() -> dict[str, Callable[[], Call]]:
    """Designs, kernels, surrogates and their parts, as the methods of the catalogue have them."""
    found: dict[type, Any] = {}

    def walk(part: Any) -> None:
        if type(part).__module__.startswith(PARTS) and is_dataclass(part):
            found.setdefault(type(part), part)
            for own in fields(part):
                walk(getattr(part, own.name))

    for method in METHODS.values():
        for part in (method.design, method.kernel, method.on_masks, method.surrogate):
            walk(part)
    return {
        f"{kind.__module__}.{kind.__name__}": partial(Call, kind, _given(part))
        for kind, part in found.items()
    }


def _given(part: Any) -> dict[str, Any]:
    return {own.name: getattr(part, own.name) for own in fields(part) if own.init}


def every() -> dict[str, Callable[[], Call]]:
    """Every call, by the public name of what is called."""
    return {**CALLS, **parts(), **plots(), **figures()}


MADE = (
    *("eagle.Background", "eagle.Comparison", "eagle.Explanation", "eagle.Explanations"),
    *(
        "eagle.Plan",
        "eagle.ShapleySurvey",
        "eagle.Survey",
        "eagle.comparison.Compared",
        "eagle.cost.Cost",
    ),
    *("eagle.metrics.faith.Gaps", "eagle._values.lack_of_fit.LackOfFit", "eagle.models.Recorded"),
    *(
        "eagle.saved.Verification",
        "eagle._values.means.Means",
        "eagle.survey.plan.SurveyPlan",
        "eagle.until.Look",
    ),
)
"""What the library makes and users are given. Its methods have calls, its constructor has none."""

CONTRACTS = (
    "eagle.Logit.against",
    "eagle.models.http.Codec",
    *("eagle.designs.", "eagle.kernels.", "eagle.spaces.", "eagle.surrogates."),
    "eagle.theory.expected_information_gain",
    "eagle.contracts.",
    "eagle.until.Rule",
)
"""Protocols, abstract classes, and functions that the library calls with arrays of its own. For
parts of methods `parts` has calls, by the modules that define them."""

ELSEWHERE = (
    "eagle.language.Local",
    "eagle.serve",
)
"""They need packages that are not here, and have tests of their own beside these."""

WITHIN = (
    *(
        f"eagle.Background.{name}"
        for name in (
            *(
                "adopt",
                "bends",
                "cells",
                "check_bounds",
                "condition",
                "conditions",
                "with_template",
            ),
            *("steps_kept", "moves", "read", "states", "values_at"),
        )
    ),
    *(
        f"eagle.{name}.of_saved"
        for name in ("Background", "Explanation", "Plan", "Survey", "ShapleySurvey")
    ),
    "eagle.Explanations.count",
    "eagle.Explanations.index",
    "eagle.Plan.of",
    *(f"eagle.ShapleySurvey.{name}" for name in ("about", "fit")),
    *(f"eagle.Survey.{name}" for name in ("own_answers", "instances", "longer", "supplement")),
    *(f"eagle.survey.plan.SurveyPlan.{name}" for name in ("survey_of", "cost_before", "table")),
    "eagle.metrics.faith.Gaps.count",
    "eagle.metrics.faith.Gaps.index",
    "eagle.models.Recorded.box",
    "eagle.until.Look.sure",
)
"""Methods that one part of the library has for another, and those of every sequence."""
