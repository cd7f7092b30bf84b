"""What is promised of versions of a judge, drawn anew: `python -m benchmarks.planted --only
versions`.

Truths, verdicts and labels are drawn here by code that shares nothing with the methods. Wanted are
the shares of the design, from 1,000 to 2,000 draws of a simulation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from core.questions.agreement.paired import JudgeVotes
from core.questions.scores.evidence import JudgedScores
from core.questions.scores.table import ScoreTable
from core.questions.versions.method import compare_scores, compare_votes
from core.questions.versions.proof import bounds, prove, sign_test, spent, state_of
from core.records import ConfidenceCounts, VoteCounts
from core.stats.intervals import mean_interval

if TYPE_CHECKING:
    from .planted_reference import Planted, Side

Draw = Callable[[np.random.Generator], dict[str, float]]
RIGHT = 0.8
"""Share on which the first version is right."""
EDITS = 40
MOST = 120
"""Labels of a try of a real gain."""
NAMES = "old", "new"


def edited(rng: np.random.Generator, n: int, fixed: float, broken: float) -> tuple[Any, Any, Any]:
    """Truths, and verdicts of both versions: shares of all items that the edit puts right, and
    wrong.
    """
    truth, chance = rng.random(n) < 0.6, rng.random(n)
    old_right = rng.random(n) < RIGHT
    turned = np.where(old_right, chance < broken / RIGHT, chance < fixed / (1 - RIGHT))
    old = truth == old_right
    return truth, old, old ^ turned


def labelled(rng: np.random.Generator, edit: tuple[Any, Any, Any], wrong: float = 0.0) -> Any:
    """d of the items on which the versions part, in random order, by labels of which some are
    wrong.
    """
    truth, old, new = edit
    label = truth ^ (rng.random(len(truth)) < wrong)
    parted = rng.permutation(np.flatnonzero(old != new))
    return np.where(new[parted] == label[parted], 1.0, -1.0)


def null_session(rng: np.random.Generator) -> dict[str, float]:
    """40 edits that change nothing: put to proof one after the other, and looked at on the same 120
    labels.
    """
    claims = looks = False
    for attempt in range(1, EDITS + 1):
        half = rng.uniform(0.03, 0.08)
        edit = edited(rng, 1200, half, half)
        d = labelled(rng, edit)
        claims |= state_of(d[:60], attempt) == "better"
        truth, old, new = (side[:120] for side in edit)
        apart = (old != truth).astype(float) - (new != truth)
        looks |= mean_interval(np.arange(120), apart, ends=(-1.0, 1.0)).low > 0
    return {"some edit is claimed better": claims, "some interval on 120 labels above 0": looks}


def of_gain(fixed: int, broken: int, attempt: int, wrong: float = 0.0) -> Draw:
    """A gain of so many fixed for so many broken of 100: proven within 120 labels; `share` of those
    120 that it took.
    """

    def draw(rng: np.random.Generator) -> dict[str, float]:
        d = labelled(rng, edited(rng, 2000, fixed / 100, broken / 100), wrong)[:MOST]
        for n in range(1, len(d) + 1):
            state = state_of(d[:n], attempt, most=MOST)
            if state != "open":
                return {"proven": float(state == "better"), "share": n / MOST}
        return {"proven": 0.0, "share": 1.0}

    return draw


def of_file(sealed: int, attempt: int) -> Draw:
    """11 fixed for 3 broken of 100 on so many sealed items that are labelled."""

    def draw(rng: np.random.Generator) -> dict[str, float]:
        d = labelled(rng, edited(rng, sealed, 0.11, 0.03))
        fixed, broken = int((d > 0).sum()), int((d < 0).sum())
        return {"proven": float(sign_test(fixed, broken) <= spent(attempt))}

    return draw


def of_itself(rng: np.random.Generator) -> dict[str, float]:
    """A judge that wavers beside itself, looked at after every label."""
    d = labelled(rng, edited(rng, 1500, 0.05, 0.05))[:MOST]
    needed = any(state_of(d[:n], 1, most=MOST) == "better" for n in range(1, len(d) + 1))
    return {"claimed better": float(needed)}


def of_bounds(rng: np.random.Generator) -> dict[str, float]:
    """Whether bounds miss the gain, at a stop that the labels decide."""
    p = rng.uniform(0.5, 0.95)
    d = np.where(rng.random(60) < p, 1.0, -1.0)
    stop = next((n for n in range(1, 61) if state_of(d[:n], 1) != "open"), 60)
    found = prove(d[:stop], 1, parted=1.0)
    low, high = bounds(d[:stop], spent(1))
    assert (found.low, found.high) == (low, high)
    return {"missed": float(not low <= 2 * p - 1 <= high)}


def of_interval(kind: str, n: int, parted: float) -> Draw:
    """Whether the interval of a comparison holds a gain of 11 fixed for 3 broken."""
    fixed, broken = parted * 11 / 14, parted * 3 / 14
    size = 0.25 if kind == "levels" else 1.0

    def draw(rng: np.random.Generator) -> dict[str, float]:
        truth, old, new = edited(rng, n, fixed, broken)
        found = of_pairs(truth, old, new) if kind == "pairs" else of_scores(kind, truth, old, new)
        assert found.gain is not None
        gain = size * (fixed - broken)
        return {"held": float(found.gain.low <= gain <= found.gain.high)}

    return draw


def of_pairs(truth: Any, old: Any, new: Any) -> Any:
    codes = np.arange(len(truth))
    none = np.zeros(0, dtype=np.int64)

    def votes(said: Any) -> JudgeVotes:
        counts = VoteCounts(
            comparison=codes,
            item=codes,
            plus=said.astype(np.int64),
            tie=np.zeros(len(said), dtype=np.int64),
            minus=(~said).astype(np.int64),
            gold=np.where(truth, 1, -1),
        )
        stated = ConfidenceCounts(comparison=none, vote=none, confidence=np.zeros(0), n=none)
        return JudgeVotes(counts=counts, stated=stated)

    return compare_votes(votes(old), votes(new), NAMES)  # type: ignore[arg-type]


def of_scores(kind: str, truth: Any, old: Any, new: Any) -> Any:
    def scores(said: Any) -> JudgedScores:
        if kind == "pass_fail":
            table = ScoreTable.of(
                said.astype(float), truth.astype(float), kind="pass_fail", low=0, high=1
            )
        else:
            # One level off where the verdict is wrong.
            people = np.where(truth, 4.0, 2.0)
            table = ScoreTable.of(
                people + (said != truth), people, low=1, high=5, kind="levels", same_scale=True
            )
        return JudgedScores(
            judge="j",
            metric="score",
            table=table,
            runs=table.judge[:, None],
            outputs=len(table),
            missing=0,
        )

    return compare_scores(scores(old), scores(new), NAMES)  # type: ignore[arg-type]


PROVEN = {(9, 1): (1.0, 1.0), (10, 2): (0.99, 0.99), (11, 3): (0.96, 0.96), (13, 5): (0.88, 0.85)}
"""Fixed and broken of 100 → share proven within 120 labels at the first and at the third try."""
IN_FILE = {120: (0.62, 0.27), 200: (0.86, 0.59), 300: (0.96, 0.84)}


def families() -> Iterator[Planted]:
    """Every situation."""
    from .planted_reference import Planted

    def planted(name: str, draw: Draw, what: str, wanted: float, side: Side) -> Planted:
        return Planted("versions", name, draw, {what: (wanted, side)})

    yield Planted(
        "versions",
        "40 edits that change nothing",
        null_session,
        {
            "some edit is claimed better": (0.05, "at most"),
            "some interval on 120 labels above 0": (0.49, "at least"),
        },
    )
    for (fixed, broken), shares in PROVEN.items():
        for attempt, share in zip((1, 3), shares, strict=True):
            name = f"{fixed} fixed, {broken} broken of 100, try {attempt}"
            yield planted(name, of_gain(fixed, broken, attempt), "proven", share, "at least")
    for attempt, share in ((1, 0.89), (3, 0.87)):
        name = f"11 fixed, 3 broken, a tenth of labels wrong, try {attempt}"
        yield planted(name, of_gain(11, 3, attempt, 0.1), "proven", share, "at least")
    for sealed, shares in IN_FILE.items():
        for attempt, share in zip((1, 3), shares, strict=True):
            name = f"file of {sealed} sealed labels, try {attempt}"
            yield planted(name, of_file(sealed, attempt), "proven", share, "at least")
    yield planted("a judge beside itself", of_itself, "claimed better", 0.05, "at most")
    yield planted("bounds at any stop", of_bounds, "missed", 0.061, "at most")
    for kind in ("pairs", "pass_fail", "levels"):
        for n in (30, 120, 600):
            for parted in (0.02, 0.10, 0.14):
                name = f"interval of {kind}, {n} items, {parted:.0%} parted"
                yield planted(name, of_interval(kind, n, parted), "held", 0.93, "at least")
