"""What is promised of who, which, follows and uses, drawn anew:
`python -m benchmarks.planted --only reference`.

Judges, people and labels are drawn here by code that shares nothing with the methods. Every cell
has the share that the design was simulated with; a cell is outside where the share that is seen is
on the worse side of it by more than two standard errors of both. Where no method could reach the
design's share, what can be reached is wanted: `ATTAINABLE`, reckoned without the methods.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import Any, Literal

import numpy as np

from core import audit
from core.auditing.checks import LIMITS
from core.questions.reference.second_look import order_of_disagreements, second_look
from core.questions.reference.which import Design, compared, differing
from core.questions.scores.evidence import JudgedScores, ScoreEvidence
from core.questions.scores.overall import check_scores, overall_of_scores
from core.questions.scores.table import ScoreTable

from . import planted_versions

DRAWS = 200
TABLE_DRAWS = 1000
"""Draws of a cell with which the wanted shares were simulated: 200 to 2,000."""
NEAR, FAR = 2.0, 4.0
OUTSIDE = 0.05
"""Share of cells that may be beyond `NEAR` standard errors on the worse side; none beyond `FAR`."""

Side = Literal["at least", "at most"]
Seen = dict[str, float]
Draw = Callable[[np.random.Generator], Seen]


@dataclass(frozen=True, slots=True)
class Planted:
    """One situation: what is drawn, and of what is seen the share that is wanted.

    wanted : name of what `draw` says → the share, and the side on which it may be missed.
    """

    family: str
    name: str
    draw: Draw
    wanted: dict[str, tuple[float, Side]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One share beside the wanted one; `z` in standard errors, above 0 on the worse side."""

    family: str
    name: str
    what: str
    side: Side
    wanted: float
    seen: float
    draws: int

    @property
    def z(self) -> float:
        p = min(max(self.wanted, 0.002), 0.998)
        error = math.sqrt(p * (1 - p) * (1 / self.draws + 1 / TABLE_DRAWS))
        worse = self.wanted - self.seen if self.side == "at least" else self.seen - self.wanted
        return worse / error


# What the product says of drawn scores.


def audited(
    judge: Any, people: Any, *, drawn: Design | None = None, kind: Any = None
) -> dict[str, str]:
    """Use → what is said of it, of one judge."""
    table = ScoreTable.of(
        judge,
        people,
        kind=kind,
        low=0 if kind == "pass_fail" else 1,
        high=1 if kind == "pass_fail" else 5,
    )
    scores = JudgedScores(
        judge="judge",
        metric="score",
        table=table,
        runs=table.judge[:, None],
        outputs=len(table),
        missing=0,
        drawn=drawn,
    )
    evidence = ScoreEvidence(scores, LIMITS)
    overall = overall_of_scores(evidence, check_scores(evidence))
    said = {name: use.answer for name, use in overall.use.items()}
    weighed = evidence.weighed
    said["asked"] = str(evidence.which.design == "asked")
    if weighed is not None:
        for name in ("tpr", "tnr", "rate"):
            ends = getattr(weighed, name)
            said[name] = f"{ends.low} {ends.high}"
    return said


def audited_categories(judge: Any, people: Any, category: Any, k: int) -> Seen:
    """1 where a judge of pass and fail is warned of in a category, or fails there."""
    table = ScoreTable.of(
        judge,
        people,
        kind="pass_fail",
        low=0,
        high=1,
        category=category,
        categories=tuple(f"category {c}" for c in range(k)),
    )
    scores = JudgedScores(
        judge="judge",
        metric="score",
        table=table,
        runs=table.judge[:, None],
        outputs=len(table),
        missing=0,
    )
    (rates,) = (
        one for one in check_scores(ScoreEvidence(scores, LIMITS)) if one.check == "score_category"
    )
    return {"named": float(rates.grade in ("warn", "fail"))}


def audited_pairs(vote: Any, gold: Any) -> dict[str, str]:
    """Use → what is said of it, of one judge of pairs."""
    rows = [
        {"item_id": f"q{k}", "model_a": "a", "model_b": "b", "judge": "j"}
        | {"vote": int(vote[k]), "gold": int(gold[k])}
        for k in range(len(vote))
    ]
    use = audit(rows, splits=0).overall["j"].use
    return {name: said.answer for name, said in use.items()}


def answers(said: dict[str, str]) -> Seen:
    """1 and 0 of every use and answer."""
    return {
        f"{use} {answer}": float(said[use] == answer)
        for use in ("decide", "measure", "sort")
        for answer in ("yes", "no")
    }


# Scores of 1 to 5 by people who see quality through noise.

STEPS = np.array([-1.2, -0.4, 0.4, 1.2])


@cache
def latent(r: float) -> float:
    """Correlation of two normal values whose levels of 1 to 5 have the correlation r."""
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 100_000))
    grid = np.linspace(0, 0.99, 34)
    seen = [
        np.corrcoef(levels(x), levels(rho * x + math.sqrt(1 - rho**2) * e))[0, 1] for rho in grid
    ]
    return float(np.interp(r, seen, grid))


def levels(values: Any) -> Any:
    return 1.0 + np.searchsorted(STEPS, values)


def seen_by(quality: Any, share: float, rng: np.random.Generator) -> Any:
    """What somebody sees whose values have the correlation √share with quality."""
    return math.sqrt(share) * quality + math.sqrt(1 - share) * rng.normal(size=len(quality))


BLIND = (
    "always 1",
    "always 3",
    "always 5",
    "coin of 5",
    "coin of 3 and 4",
    "skewed coin",
    "inverted",
)


def blind_scores(name: str, quality: Any, share: float, rng: np.random.Generator) -> Any:
    n = len(quality)
    if name.startswith("always"):
        return np.full(n, float(name[-1]))
    if name == "coin of 5":
        return rng.integers(1, 6, n).astype(float)
    if name == "coin of 3 and 4":
        return rng.integers(3, 5, n).astype(float)
    if name == "skewed coin":
        return rng.choice([1.0, 2, 3, 4, 5], n, p=[0.02, 0.03, 0.05, 0.3, 0.6])
    return 6 - levels(seen_by(quality, share, rng))


def of_levels(judge: str, people: int, r: float, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        share, quality = latent(r), rng.normal(size=n)
        theirs = np.column_stack([levels(seen_by(quality, share, rng)) for _ in range(people)])
        if judge in BLIND:
            own = blind_scores(judge, quality, share, rng)
        elif judge == "half as good":
            # r of judge and person is half of that of two people.
            own = levels(seen_by(quality, latent(r / 2) ** 2 / share, rng))
        elif judge == "better":
            own = levels(seen_by(quality, math.sqrt(share), rng))
        else:
            own = levels(seen_by(quality, share, rng))
            own = np.minimum(own + 1, 5) if judge == "one level up" else own
        return answers(audited(own, theirs, kind="levels"))

    return draw


ATTAINABLE = {
    (0.5, 60): 0.172,
    (0.5, 100): 0.266,
    (0.5, 300): 0.652,
    (0.65, 60): 0.289,
    (0.65, 100): 0.459,
    (0.65, 300): 0.900,
    (0.8, 60): 0.684,
    (0.8, 100): 0.895,
}
"""r of two people, and answers → share of draws in which a judge like them is shown to be less than
.10 below, by somebody who knows the standard error of the difference: d − t·SE > −.10, d of 20,000
draws. No interval that covers .95 by the width that it needs does so more often; the design had
.33, .48 and .93 at r .65, and .73 and .95 at r .80, of 200 draws."""


def attainable(r: float, n: int, draws: int, rng: np.random.Generator) -> float:
    """A value of `ATTAINABLE`, with r of two normal values that are cut reckoned exactly."""
    from scipy.optimize import brentq
    from scipy.stats import multivariate_normal, norm, t

    below = norm.cdf(STEPS)
    variance = sum(min(a, b) - a * b for a in below for b in below)

    def of_levels_at(rho: float) -> float:
        both = multivariate_normal(cov=[[1, rho], [rho, 1]])
        joint = sum(float(both.cdf([a, b])) for a in STEPS for b in STEPS)
        return float((joint - below.sum() ** 2) / variance) - r

    share = brentq(of_levels_at, 0.01, 0.98)
    quality = rng.normal(size=(draws, n))
    seen = []
    for _ in range(3):
        noise = rng.normal(size=quality.shape)
        values = np.searchsorted(STEPS, math.sqrt(share) * quality + math.sqrt(1 - share) * noise)
        centred = values - values.mean(axis=1, keepdims=True)
        seen.append(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)))
    judge, anna, ben = seen
    gain = (judge * (anna + ben) / 2 - anna * ben).mean(axis=1)
    return float((gain - t.ppf(0.975, n - 1) * gain.std() > -0.10).mean())


NEVER: dict[str, tuple[float, Side]] = {
    "measure yes": (0.005, "at most"),
    "decide yes": (0.005, "at most"),
}


def families_of_levels() -> Iterator[Planted]:
    for judge in BLIND:
        for people in (1, 2, 3):
            for r in (0.1, 0.3, 0.5, 0.8):
                for n in (60, 300):
                    name = f"{judge}, {people} of r {r:g}, {n}"
                    yield Planted("reference.levels", name, of_levels(judge, people, r, n), NEVER)
    measures = {0.5: (0.80, 0.92, 1, 1), 0.65: (0.99, 1, 1, 1), 0.8: (1, 1, 1, 1)}
    places = {0.5: (0.17, 0.30, 0.64, None), 0.65: (0.33, 0.48, 0.93, 1), 0.8: (0.73, 0.95, 1, 1)}
    none = (0.005, 0.005, 0.0, 0.0)
    for k, n in enumerate((60, 100, 300, 1000)):
        for r in measures:
            wanted: dict[str, tuple[float, Side]] = {
                "measure yes": (measures[r][k], "at least"),
                "decide no": (none[k], "at most"),
            }
            if (place := places[r][k]) is not None:
                wanted["decide yes"] = (min(place, ATTAINABLE.get((r, n), 1.0)), "at least")
            name = f"as a person, 2 of r {r:g}, {n}"
            yield Planted("reference.levels", name, of_levels("as a person", 2, r, n), wanted)
            for judge in ("better", "one level up"):
                yield Planted(
                    "reference.levels",
                    f"{judge}, 2 of r {r:g}, {n}",
                    of_levels(judge, 2, r, n),
                    {"decide no": (none[k], "at most")},
                )
            yield Planted(
                "reference.levels",
                f"half as good, 2 of r {r:g}, {n}",
                of_levels("half as good", 2, r, n),
                {"decide yes": (none[k], "at most")},
            )


# Pass and fail.


def verdicts(passes: Any, tpr: float, tnr: float, rng: np.random.Generator) -> Any:
    chance = np.where(passes, tpr, 1 - tnr)
    return (rng.random(len(passes)) < chance).astype(float)


def of_pass_fail(tpr: float, tnr: float, bad: float, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        passes = rng.random(n) >= bad
        own = verdicts(passes, tpr, tnr, rng)
        return answers(audited(own, passes.astype(float), kind="pass_fail"))

    return draw


def of_people(tpr: float, tnr: float, people: int, error: float, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        passes = rng.random(n) >= 0.3
        theirs = np.column_stack(
            [np.where(rng.random(n) < error, ~passes, passes) for _ in range(people)]
        ).astype(float)
        own = verdicts(passes, tpr, tnr, rng)
        return answers(audited(own, theirs, kind="pass_fail"))

    return draw


SIZES = (60, 100, 300, 1000)
PASS_FAIL: tuple[tuple[str, float, float, float, str, Side, tuple[float, ...]], ...] = (
    ("clean .96/.93", 0.96, 0.93, 0.3, "decide yes", "at least", (0.12, 0.37, 0.94, 1.0)),
    ("good .95/.90", 0.95, 0.90, 0.3, "decide yes", "at least", (0.05, 0.18, 0.71, 1.0)),
    ("good .93/.87", 0.93, 0.87, 0.3, "decide yes", "at least", (0.02, 0.07, 0.35, 0.89)),
    ("good .95/.90", 0.95, 0.90, 0.3, "decide no", "at most", (0.002, 0.002, 0.0, 0.0)),
    ("good .93/.87", 0.93, 0.87, 0.3, "decide no", "at most", (0.002, 0.002, 0.0, 0.0)),
    ("at the limit .95/.80", 0.95, 0.80, 0.3, "decide yes", "at most", (0.01, 0.01, 0.02, 0.02)),
    ("at the limit .95/.80", 0.95, 0.80, 0.3, "decide no", "at most", (0.02, 0.02, 0.03, 0.03)),
    ("leaky .95/.68", 0.95, 0.68, 0.3, "decide yes", "at most", (0.0, 0.0, 0.0, 0.0)),
    ("leaky .95/.68", 0.95, 0.68, 0.3, "decide no", "at least", (0.23, 0.34, 0.75, 1.0)),
    ("lenient .97/.50", 0.97, 0.50, 0.3, "decide no", "at least", (0.79, 0.94, 1.0, 1.0)),
    ("strict .60/.97", 0.60, 0.97, 0.3, "decide no", "at least", (0.84, 0.97, 1.0, 1.0)),
    ("coin of .7", 0.7, 0.3, 0.3, "measure yes", "at most", (0.0, 0.0, 0.0, 0.0)),
    ("always pass", 1.0, 0.0, 0.3, "measure yes", "at most", (0.0, 0.0, 0.0, 0.0)),
    ("coin of .7", 0.7, 0.3, 0.3, "measure no", "at least", (0.27, 0.45, 0.90, 1.0)),
    ("10 % bad, clean .96/.93", 0.96, 0.93, 0.1, "decide yes", "at least", (0, 0, 0.37, 0.97)),
    ("10 % bad, leaky .95/.68", 0.95, 0.68, 0.1, "decide yes", "at most", (0, 0, 0, 0)),
    ("10 % bad, leaky .95/.68", 0.95, 0.68, 0.1, "decide no", "at least", (0.07, 0.14, 0.38, 0.8)),
)


def families_of_pass_fail() -> Iterator[Planted]:
    for name, tpr, tnr, bad, what, side, wanted in PASS_FAIL:
        for n, share in zip(SIZES, wanted, strict=True):
            yield Planted(
                "reference.passfail",
                f"{name}, {n}",
                of_pass_fail(tpr, tnr, bad, n),
                {what: (share, side)},
            )
    for people in (2, 3):
        for error in (0.02, 0.10, 0.20):
            for n, good, weak in ((100, 0.005, 0.0), (300, 0.01, 0.003), (1000, 0.01, 0.05)):
                beside = f"{people} people erring {error:g}, {n}"
                for name, tpr, tnr, wants in (
                    ("leaky .95/.60", 0.95, 0.60, {"decide yes": (0.0, "at most")}),
                    ("weak .75/.65", 0.75, 0.65, {"decide yes": (weak, "at most")}),
                    ("good .95/.90", 0.95, 0.90, {"decide no": (good, "at most")}),
                ):
                    draw = of_people(tpr, tnr, people, error, n)
                    yield Planted("reference.people", f"{name}, {beside}", draw, wants)  # type: ignore[arg-type]


def of_pairs(right: float, n: int) -> Draw:
    """A judge of pairs that is right on a share of the comparisons, each asked once."""

    def draw(rng: np.random.Generator) -> Seen:
        gold = rng.choice([-1, 1], n)
        vote = np.where(rng.random(n) < right, gold, -gold)
        return answers(audited_pairs(vote, gold))

    return draw


PAIRS: tuple[tuple[float, dict[str, tuple[Side, tuple[float, ...]]]], ...] = (
    (0.90, {"decide yes": ("at least", (0.45, 0.79, 1.0, 1.0))}),
    (0.86, {"decide yes": ("at least", (0.14, 0.35, 0.77, 1.0))}),
    (
        0.80,
        {
            "decide yes": ("at most", (0.01, 0.02, 0.03, 0.03)),
            "decide no": ("at most", (0.03, 0.04, 0.03, 0.03)),
        },
    ),
    (
        0.59,
        {
            "measure yes": ("at most", (0.02, 0.02, 0.01, 0.0)),
            "decide no": ("at least", (0.95, 1.0, 1.0, 1.0)),
        },
    ),
)
"""Share right → what is said of it at each of `SIZES`."""


def families_of_pairs() -> Iterator[Planted]:
    for right, said in PAIRS:
        for k, n in enumerate(SIZES):
            wanted = {what: (shares[k], side) for what, (side, shares) in said.items()}
            yield Planted("reference.pairs", f"right {right:g}, {n}", of_pairs(right, n), wanted)


def of_categories(tpr: float, tnr: float, weak: float | None, k: int, n: int) -> Draw:
    """A judge of answers in k categories, in the first of which its TNR is `weak`."""

    def draw(rng: np.random.Generator) -> Seen:
        passes = rng.random(n) >= 0.3
        category = rng.integers(0, k, n)
        own = verdicts(passes, tpr, tnr, rng)
        if weak is not None:
            own = np.where(category == 0, verdicts(passes, tpr, weak, rng), own)
        return audited_categories(own, passes.astype(float), category, k)

    return draw


CATEGORIES: tuple[tuple[str, float, float, float | None, int, Side, tuple[float, ...]], ...] = (
    *((f".90/.80, {k} alike", 0.90, 0.80, None, k, "at most", (0.03,) * 3) for k in (4, 8, 15)),
    *((f".93/.87, {k} alike", 0.93, 0.87, None, k, "at most", (0.014,) * 3) for k in (4, 8, 15)),
    ("TNR .54 in one of 4", 0.95, 0.90, 0.54, 4, "at least", (0.21, 0.72, 1.0)),
    ("TNR .25 in one of 4", 0.95, 0.90, 0.25, 4, "at least", (0.83, 1.0, 1.0)),
    ("TNR .25 in one of 8", 0.95, 0.90, 0.25, 8, "at least", (0.33, 0.96, 1.0)),
)
"""At 100, 300 and 1,000 answers of which 30 % are bad; what the rest of a judge is, the design does
not say: .95 and .90 here."""


def families_of_categories() -> Iterator[Planted]:
    for name, tpr, tnr, weak, k, side, shares in CATEGORIES:
        for n, share in zip((100, 300, 1000), shares, strict=True):
            draw = of_categories(tpr, tnr, weak, k, n)
            yield Planted("reference.categories", f"{name}, {n}", draw, {"named": (share, side)})


# Which answers have a label.

DESIGNS = (
    "random",
    "half of each verdict",
    "all fails and a tenth",
    "equal classes",
    "equal classes, said",
)


def of_labels(design: str, tpr: float, tnr: float, labels: int) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        n, share = 1000, 0.7
        passes = rng.random(n) < share
        own = verdicts(passes, tpr, tnr, rng)
        order = rng.random(n)

        def first(of: Any, size: int) -> Any:
            places = np.flatnonzero(of)
            return places[np.argsort(order[places])[:size]]

        every = np.ones(n, bool)
        if design == "random":
            seen = first(every, labels)
        elif design == "half of each verdict":
            seen = np.append(first(own == 1, labels // 2), first(own == 0, labels // 2))
        elif design == "all fails and a tenth":
            seen = np.append(first(own == 0, n), first(own == 1, int(0.1 * own.sum())))
        else:
            seen = np.append(first(passes, labels // 2), first(~passes, labels // 2))
        people = np.full(n, np.nan)
        people[seen] = passes[seen]
        said = audited(
            own, people, kind="pass_fail", drawn="classes" if design.endswith("said") else None
        )
        found = answers(said) | {"asked": float(said["asked"] == "True")}
        for name, true in (("tpr", tpr), ("tnr", tnr), ("rate", share)):
            if name in said:
                low, high = map(float, said[name].split())
                found[f"{name} covered"] = float(low <= true <= high)
        return found

    return draw


GOOD = {
    "random": (0.18, 0.38, 0.79),
    "half of each verdict": (0.25, 0.38, 0.73),
    "all fails and a tenth": (0.39, 0.39, 0.39),
    "equal classes": (0.04, 0.04, 0.05),
    # Binomial, of half the labels in each class and the fewest right that show .80: the design had
    # .36, .44 and .94 of 200 draws (29 of 30 have to be right in both).
    "equal classes, said": (0.102, 0.387, 0.928),
}
LOWEST_COVER = {
    "random": 0.91,
    "half of each verdict": 0.91,
    "all fails and a tenth": 0.88,
    "equal classes": 0.91,
    "equal classes, said": 0.92,
}


def families_of_labels() -> Iterator[Planted]:
    judges = {"good .95/.90": (0.95, 0.90), "leaky .95/.68": (0.95, 0.68), "coin": (0.7, 0.3)}
    for design in DESIGNS:
        for k, labels in enumerate((60, 100, 300)):
            for name, (tpr, tnr) in judges.items():
                wanted: dict[str, tuple[float, Side]] = {}
                if name.startswith("good"):
                    wanted["decide yes"] = (GOOD[design][k], "at least")
                    wanted["decide no"] = (0.005, "at most")
                elif name.startswith("leaky"):
                    wanted["decide yes"] = (0.005, "at most")
                else:
                    wanted["measure yes"] = (0.0, "at most")
                if name != "coin":
                    for rate in ("tpr", "tnr", "rate"):
                        wanted[f"{rate} covered"] = (LOWEST_COVER[design], "at least")
                    if design == "equal classes" and labels == 100:
                        # Fifty passes and fifty fails, as guides teach.
                        wanted["rate covered"] = (0.95, "at least")
                if design == "equal classes":
                    wanted["asked"] = (1.0, "at least")
                yield Planted(
                    "reference.labels",
                    f"{name}, {labels} labels, {design}",
                    of_labels(design, tpr, tnr, labels),
                    wanted,
                )


# Whether the labelled answers are like the others.

EACH = 5
"""Answers of a conversation, which are labelled whole and resemble each other."""


def of_which(n: int, labels: int, how: str) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        unit = np.arange(n) // (EACH if how == "by conversation" else 1)

        def shared(share: float) -> Any:
            own = rng.normal(size=n)
            return math.sqrt(share) * rng.normal(size=n)[unit] + math.sqrt(1 - share) * own

        hard, length = shared(0.3), shared(0.3)
        columns = {
            "verdict": (shared(0.3) < 0.5).astype(float),
            "agreement": (hard + shared(0) < 1.2).astype(float),
            "flips": (hard + shared(0) > 1.8).astype(float),
            "confidence": np.clip(0.85 - 0.08 * hard + 0.05 * shared(0), 0, 1),
            "length": length,
            "category": np.array(["code", "law", "maths", "prose"])[rng.integers(0, 4, n)[unit]],
            "model": np.array(["one", "two", "three"])[rng.integers(0, 3, n)],
        }
        first = {
            "short": length > np.median(length),
            "one category": columns["category"] != "law",
            "disagreements": columns["agreement"] == 1,
        }.get(how, np.zeros(n, bool))
        order = np.lexsort((rng.random(n)[unit], first))
        inside = np.isin(np.arange(n), order[:labels])
        found = differing(compared(inside, columns, unit))
        return {"differs": float(found is not None)}

    return draw


def families_of_which() -> Iterator[Planted]:
    sizes = ((300, 60), (1000, 100), (2000, 300))
    for how in ("at random", "by conversation", "short", "one category", "disagreements"):
        for n, labels in sizes:
            alike = how in ("at random", "by conversation")
            yield Planted(
                "reference.which",
                f"{labels} labels of {n}, {how}",
                of_which(n, labels, how),
                {"differs": (0.05, "at most") if alike else (1.0, "at least")},
            )


# A second look at disagreements.


def of_second_look(n: int, shared: float) -> Draw:
    def draw(rng: np.random.Generator) -> Seen:
        hard = rng.random(n) < shared
        wrong, theirs = ((rng.random(n) < 0.1) | hard for _ in range(2))
        differs, strength = wrong != theirs, rng.random(n) + 0.5 * ~wrong
        seen = order_of_disagreements(differs, strength, agreements=30, seed=0)
        right = np.full(n, -1)
        right[seen] = ~wrong[seen]
        look = second_look(
            differs, strength, right, np.arange(n), taken_out=0, judge="j", metric="m"
        )
        assert look.right is not None
        return {"covered": float(look.right.low <= 0.9 * (1 - shared) <= look.right.high)}

    return draw


def families_of_second_looks() -> Iterator[Planted]:
    for n, shared, wanted in ((100, 0.05, 0.94), (300, 0.05, 0.95), (100, 0, 0.95), (300, 0, 0.95)):
        yield Planted(
            "reference.looked_again",
            f"{n} answers, both err on {shared:g}",
            of_second_look(n, shared),
            {"covered": (wanted, "at least")},
        )


def situations() -> list[Planted]:
    return [
        *families_of_levels(),
        *families_of_pass_fail(),
        *families_of_pairs(),
        *families_of_categories(),
        *families_of_labels(),
        *families_of_which(),
        *families_of_second_looks(),
        *planted_versions.families(),
    ]


def drawn_cells(one: Planted, draws: int, seed: int) -> tuple[list[Cell], float]:
    """Every wanted share of a situation, and the mean of what is decided or labelled."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{one.family} {one.name}".encode())])
    seen = [one.draw(rng) for _ in range(draws)]
    cells = []
    for what, (wanted, side) in one.wanted.items():
        # Where nothing could be said, an interval covers everything.
        share = float(np.mean([draw.get(what, 1.0) for draw in seen]))
        cells.append(Cell(one.family, one.name, what, side, wanted, share, draws))
    return cells, float(np.mean([draw.get("share", math.nan) for draw in seen]))


_SITUATIONS: list[Planted] = []


def _of_place(place: int, draws: int, seed: int) -> tuple[list[Cell], float]:
    if not _SITUATIONS:
        _SITUATIONS.extend(situations())
    return drawn_cells(_SITUATIONS[place], draws, seed)


def run(only: Sequence[str], *, draws: int, workers: int, seed: int = 0) -> list[Cell]:
    """Draw the situations whose family or name has one of the texts, and print every cell."""
    began = time.perf_counter()
    every = situations()
    places = [
        place
        for place, one in enumerate(every)
        if any(text in f"{one.family} {one.name}" for text in only)
    ]
    cells: list[Cell] = []
    print("| planted | what | wanted | seen | SE beyond |\n|---|---|--:|--:|--:|")
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        jobs = [pool.submit(_of_place, place, draws, seed) for place in places]
        for place, job in zip(places, jobs, strict=True):
            own, share = job.result()
            cells += own
            for cell in own:
                decided = "" if math.isnan(share) else f" ({share:.2f} decided)"
                sign = "≥" if cell.side == "at least" else "≤"
                print(
                    f"| {every[place].family}: {cell.name} | {cell.what}{decided} | {sign} "
                    f"{cell.wanted:.3g} | {cell.seen:.3f} | {cell.z:+.1f} |",
                    flush=True,
                )
    near = sum(cell.z > NEAR for cell in cells)
    far = [cell for cell in cells if cell.z > FAR]
    print(
        f"\n{len(cells)} cells of {draws} draws: {near} outside {NEAR:g} standard errors on the "
        f"worse side ({near / max(len(cells), 1):.1%}, allowed {OUTSIDE:.0%}), {len(far)} outside "
        f"{FAR:g}; {time.perf_counter() - began:.0f} s."
    )
    return cells
