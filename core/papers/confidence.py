"""Tables of [TH]: confidence, near-certain verdicts, juries and fusers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NoUsableVotes
from ..questions.confidence.alone import threshold_for_risk
from ..questions.confidence.calibration_error import reliability
from ..questions.confidence.results import KINDS, TH
from ..questions.juries.jury import FUSER, Jury, judge_jury, model_of_fuser
from ..records import NO_GOLD, OutcomeCounts
from ..stats.estimate import DataFrame, flat
from ..store import vote_queries as queries
from ..store.arrays import fetch
from ..store.schema import CODES
from .asked import Asked, rows, together

if TYPE_CHECKING:
    from ..schema import Selection
    from ..store.connection import Snapshot

NO_CONFIDENCE = "It needs a confidence beside the votes, or repeated votes, and gold."
MEASURES = ("accuracy", "ece", "ace", "brier", "mce", "nll")
RISK, CONFIDENCE = 0.10, 0.10
"""Error that verdicts above the threshold may have, and the chance that they have more."""


def measures(asked: Asked) -> DataFrame:
    """Accuracy and every measure of calibration by judge and kind of confidence."""
    return rows(
        (
            {"judge": each.judge, "confidence": kind.kind or kind.by}
            | {
                name: getattr(value, "value", value)
                for name in MEASURES
                for value in [getattr(kind.calibration, name)]
            }
            | {f"th_{score.epsilon:g}": score.th.value for score in kind.th}
            | {"n": kind.calibration.n}
            for each in asked.evidence()
            for kind in each[KINDS]
        ),
        NO_CONFIDENCE,
    )


def bins(asked: Asked) -> DataFrame:
    """The reliability diagram as numbers; gap is confidence minus accuracy."""
    frames = {}
    for each in asked.evidence():
        if each.stated is not None:
            frame = reliability(
                each.stated, bins=asked.options.bins, level=asked.options.level
            ).to_frame()
            frames[each.judge] = frame[frame["n"] > 0]
    if not frames:
        raise NoUsableVotes(NO_CONFIDENCE)
    return together(frames)


def near_certain(asked: Asked) -> DataFrame:
    """TH-Score, share and accuracy of the verdicts with c > 1 − ε or c < ε, and of each band."""
    found = []
    for each in asked.evidence():
        for score in each[TH]:
            assert each.stated is not None
            row = {"judge": each.judge, "epsilon": score.epsilon, "th": score.th.value}
            row |= {"th_published": score.th.value / 2, "share": score.share}
            row |= {"accuracy": score.accuracy.value, "n": score.n}
            found.append(row | _bands(each.stated, score.epsilon))
    return rows(found, NO_CONFIDENCE)


def _bands(outcomes: OutcomeCounts, epsilon: float) -> dict[str, float | int]:
    """Verdicts that are surely right by their confidence, and surely wrong, with their accuracy."""
    found: dict[str, float | int] = {}
    for name, distance in (("high", 1 - outcomes.confidence), ("low", outcomes.confidence)):
        inside = distance < epsilon - 1e-9
        n = int(outcomes.n[inside].sum())
        found |= {
            f"{name}_n": n,
            f"{name}_accuracy": float(outcomes.correct[inside].sum() / n) if n else float("nan"),
        }
    return found


def surest_errors(asked: Asked) -> DataFrame:
    """The error of each judge with the highest confidence, as a vote to read."""
    frames = {
        name: votes["surest"].to_pandas()
        for name in asked.votes
        if "surest" in (votes := asked.counted.ask(queries.telling_errors, judge=name))
    }
    return together(frames)


def stated_by_kind(store: Snapshot, selection: Selection) -> dict[str, dict[str, Any]]:
    """Votes that state a confidence, by judge, comparison, kind and vote."""
    listed = """
        select v.judge, v.comparison, coalesce(v.confidence_kind, -1)::bigint as kind,
               v.vote::bigint as vote, avg(v.confidence)::double as confidence,
               count(*)::bigint as n
        from {usable} v where v.confidence is not null
        group by v.judge, v.comparison, coalesce(v.confidence_kind, -1), v.vote
        order by v.judge, v.comparison, kind, v.vote"""
    return fetch(store, selection, listed, dict)


def one_item(asked: Asked) -> DataFrame:
    """One comparison under every setting: what was said, how surely, and whether it was right.

    Of the judge with most settings the comparison on which they differ most.
    """
    stated = {
        name: each
        for name, each in asked.counted.ask(stated_by_kind).items()
        if name in asked.votes
    }
    if not stated:
        raise NoUsableVotes(NO_CONFIDENCE)
    judge = max(stated, key=lambda name: (len(set(stated[name]["kind"].tolist())), name))
    of, votes = stated[judge], asked.votes[judge]
    place = {code: row for row, code in enumerate(votes.comparison.tolist())}
    settings: dict[int, list[dict[str, Any]]] = {}
    for code, kind, vote, confidence, n in zip(
        *(of[name].tolist() for name in ("comparison", "kind", "vote", "confidence", "n")),
        strict=True,
    ):
        settings.setdefault(code, []).append(
            {
                "setting": CODES["confidence_kind"].get(kind, "not named"),
                "verdict": vote,
                "votes": n,
            }
            | {"confidence": confidence}
        )
    for code, listed in settings.items():
        row = place[code]
        if votes.n[row] > 1:
            most = max(votes.plus[row], votes.tie[row], votes.minus[row])
            listed.append(
                {"setting": "share of votes", "verdict": int(votes.label[row])}
                | {"votes": int(votes.n[row]), "confidence": float(most / votes.n[row])}
            )

    def telling(code: int) -> tuple[bool, int, float]:
        sure = [each["confidence"] for each in settings[code]]
        names = {each["setting"] for each in settings[code]}
        return votes.gold[place[code]] != NO_GOLD, len(names), max(sure) - min(sure)

    chosen = max(settings, key=telling)
    gold = int(votes.gold[place[chosen]])
    known = gold != NO_GOLD
    return rows(
        {"judge": judge, "comparison": chosen, "gold": gold if known else None}
        | each
        | {"right": each["verdict"] == gold if known else None}
        for each in settings[chosen]
    )


def thresholds(asked: Asked) -> DataFrame:
    """From which confidence on verdicts may be accepted, with the promise on their error."""
    return rows(
        (
            {"judge": each.judge}
            | flat(
                threshold_for_risk(each.stated, alpha=RISK, delta=CONFIDENCE),
                names=(
                    "threshold",
                    "coverage",
                    "error_rate",
                    "bound",
                    "n",
                    "alpha",
                    "delta",
                    "note",
                ),
            )
            for each in asked.evidence()
            if each.stated is not None
        ),
        NO_CONFIDENCE,
    )


def _jury(asked: Asked) -> Jury:
    """The jury with its fusers, and the model of each fuser by itself where it is no member."""
    make = partial(
        judge_jury,
        asked.votes,
        asked.counted.by_confidence,
        by=asked.options.confidence_by,
        epsilon=asked.options.middle_epsilon,
        level=asked.options.level,
    )
    found = make(rng=asked.rng())
    alone = [
        model
        for name in found.fusers
        if (model := model_of_fuser(name)) in asked.votes and model not in found.members.names
    ]
    if not alone:
        return found
    return make(rng=asked.rng(), jury=found.members.names, fusers=[*found.fusers, *alone])


def jury(asked: Asked) -> DataFrame:
    """Members, rules and fusers: accuracy, calibration, TH-Score, departures from the majority."""
    found = _jury(asked).table
    th = np.array(
        [np.nan if score.th is None else score.th.th.value for score in found.scores.values()]
    )
    return found.to_frame().assign(th=th, epsilon=asked.options.middle_epsilon)


def fusers(asked: Asked) -> DataFrame:
    """Each fuser minus the same model alone, on all six measures and the TH-Score."""
    found = _jury(asked)
    names = [name for name in asked.votes if name.startswith(FUSER)]
    if not names:
        raise NoUsableVotes("It needs a judge named fuser(model), which read the others' verdicts.")
    table = {score.name: score for score in found.table.scores.values()}
    listed = []
    for name in names:
        fuser, alone = table.get(name), table.get(model_of_fuser(name) or "")
        if fuser is None or alone is None:
            continue
        row: dict[str, object] = {"fuser": name, "alone": alone.name, "n": fuser.n}
        for measure in MEASURES:
            one, other = (
                each.accuracy.value
                if measure == "accuracy"
                else getattr(each.calibration, measure, float("nan"))
                for each in (fuser, alone)
            )
            row |= {measure: one, f"{measure}_change": one - other}
        if fuser.th is not None and alone.th is not None:
            row |= {"th": fuser.th.th.value, "th_change": fuser.th.th.value - alone.th.th.value}
            row |= {"epsilon": fuser.th.epsilon}
        listed.append(row)
    return rows(
        listed, "It needs the judge by whose model a fuser is named, on the same comparisons."
    )


def without(asked: Asked) -> DataFrame:
    """Accuracy of each rule without each member, minus that with all."""
    found = _jury(asked)
    return rows(
        {"rule": rule, "without": member}
        | {"change": None if gap is None else gap.value}
        | {"low": None if gap is None else gap.low, "high": None if gap is None else gap.high}
        for rule, gaps in zip(found.table.rules, found.table.without, strict=True)
        for member, gap in zip(found.members.names, gaps, strict=True)
    )
