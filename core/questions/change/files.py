"""An audit beside the last one: common comparisons tell whether the judge changed, the rest the
data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...auditing.checks import BY_NAME
from ...auditing.sources import read_sources
from ...errors import NoUsableVotes, UnreadableFile
from ...finding.check import rater_of
from ...finding.wording import one_line
from ...importers import ReadOptions
from ...records import (
    ConfidenceCounts,
    IntArray,
    OrderCounts,
    PositionCounts,
    VoteCounts,
    kept_rows,
)
from ...schema import Selection
from ...stats.estimate import Estimate
from ...store import Store
from ...store import vote_queries as queries
from ...store.browse import comparison_names, summary
from ..agreement.paired import JudgeVotes, pool_raters
from ..scores.ask import score_answers, scored_metrics
from ..scores.table import ScoreTable
from .results import Against
from .scores import SCORE_MEASURES, SideScores, score_shifts, sides_of
from .votes import MEASURES, Shift, SideVotes, shifts, unpaired

if TYPE_CHECKING:
    from ...auditing.results import Audit
    from ...store.connection import Database, Snapshot

OF_CHECK = {
    "accuracy": "accuracy",
    "position": "position",
    "flips": "stability",
    "calibration": "calibration",
    "agreement": "agreement",
}
"""Measure → the check of an audit's JSON that has it."""
SCORE_CHECKS = ("leniency", "tpr", "tnr")
"""Measures of scores that are checks of the same name."""
SCHEMA = "appellate.audit/"


def compare(
    name: str,
    old: tuple[Database | Snapshot, Selection],
    new: tuple[Database | Snapshot, Selection],
    *,
    level: float = 0.95,
) -> Against:
    """Two audits of votes, or of scores, each a store and what is selected of it.

    Comparisons are the same where item, models and order are; names of data sets do not count.
    Judges are matched by name; one judge on either side is the same judge whatever its name.
    """
    with old[0].snapshot() as before, new[0].snapshot() as after:
        moments = (before, old[1]), (after, new[1])
        abouts = [summary(moment, replace(each, judges=None)) for moment, each in moments]
        parts = []
        if all(about.judges for about in abouts):
            parts.append(_of_votes(name, *moments, level=level))
        if all(about.scores for about in abouts):
            parts.append(_of_scores(name, *moments, level=level))
    if not parts:
        raise NoUsableVotes(f"{name}: one audit has votes and the other scores.")
    return replace(
        parts[0],
        shifts=tuple(shift for part in parts for shift in part.shifts),
        alone=tuple(sorted({judge for part in parts for judge in part.alone})),
        answers=sum(part.answers for part in parts),
    )


def _of_votes(
    name: str, old: tuple[Snapshot, Selection], new: tuple[Snapshot, Selection], *, level: float
) -> Against:
    sides = [Side(*each) for each in (old, new)]
    share(sides)
    pairs, alone = _matched(sides[0].judges, sides[1].judges)
    found = [
        shift
        for one, two in pairs
        for shift in shifts(two, sides[0].votes(one), sides[1].votes(two), level=level)
    ]
    return Against(
        name=name,
        paired=True,
        common=len(set(sides[0].keys) & set(sides[1].keys)),
        shifts=tuple(found),
        alone=alone,
    )


def _matched(
    old: Sequence[str], new: Sequence[str]
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Judges of both by name, one on either side whatever its name; and those that one side has."""
    pairs = [(judge, judge) for judge in new if judge in old]
    if not pairs and len(old) == len(new) == 1:
        pairs = [(old[0], new[0])]
    matched = {name for pair in pairs for name in pair}
    return pairs, tuple(sorted({*old, *new} - matched))


def _of_scores(
    name: str, old: tuple[Snapshot, Selection], new: tuple[Snapshot, Selection], *, level: float
) -> Against:
    """Judges of single answers by metric."""
    sides = [ScoreSide(*each) for each in (old, new)]
    pairs, alone = _matched(sides[0].judges, sides[1].judges)
    found: list[Shift] = []
    answers: set[Any] = set()
    for before, after in pairs:
        metrics = [side.metrics(who) for side, who in zip(sides, (before, after), strict=True)]
        for metric in sorted(metrics[0] & metrics[1]):
            both = [sides[0].scored[before, metric], sides[1].scored[after, metric]]
            answers |= set(both[0][1]) & set(both[1][1])
            whose = rater_of(after, metric)
            found += score_shifts(whose, *with_shared_codes(both), level=level)
    return Against(
        name=name, paired=True, common=0, shifts=tuple(found), alone=alone, answers=len(answers)
    )


def compare_document(name: str, document: Mapping[str, Any], audit: Audit) -> Against:
    """An audit beside the JSON document of an older one: differences as if they were independent.

    Raises UnreadableFile: no such document.
    """
    try:
        rows = {
            (rater_of(row["judge"], row.get("metric")), row["check"]): row
            for row in document["verdicts"]
        }
        scored = {
            rater_of(judge, metric)
            for judge, metrics in document.get("scores", {}).items()
            for metric in metrics
        }
        judges = set(document["judges"])
        before = {
            key: Estimate(
                float(row["estimate"]),
                float(row["low"]),
                float(row["high"]),
                n=int(row["n_items"] or 0),
            )
            for key, row in rows.items()
            if all(isinstance(row[part], int | float) for part in ("estimate", "low", "high"))
        }
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(
            f"{name}: no audit's JSON of version 3 ({error}). Give the votes of the last audit, or "
            "its JSON."
        ) from None
    now = {(each.judge, each.check): each.interval for each in audit.checks}
    names = [judge.judge for judge in audit.judges]
    found = []
    for judge in names:
        if judge not in judges:
            continue
        for measure, check in OF_CHECK.items():
            old, new = before.get((judge, check)), now.get((judge, check))
            if old is None or new is None or not new.has_interval or math.isnan(new.value):
                reason = f"no {check} with an interval in both audits"
                found.append(Shift(judge=judge, measure=measure, paired=False, reason=reason))
                continue
            signed = BY_NAME[check].limits.shape == "signed"
            found.append(unpaired(judge, measure, old, new, signed=signed))
    for scores in audit.scores:
        if scores.whose not in scored:
            continue
        of_check = {result.check: result.interval for result in scores.checks}
        for check in SCORE_CHECKS:
            old, new = before.get((scores.whose, check)), of_check[check]
            if old is not None and new is not None and new.has_interval:
                signed = BY_NAME[check].limits.shape == "signed"
                found.append(unpaired(scores.whose, check, old, new, signed=signed))
    alone = (judges ^ set(names)) | (scored ^ {scores.whose for scores in audit.scores})
    return Against(
        name=name, paired=False, common=0, shifts=tuple(found), alone=tuple(sorted(alone))
    )


def with_files(
    audit: Audit,
    files: Sequence[tuple[str, bytes | Path]],
    new: Database | Snapshot,
    options: ReadOptions,
) -> Audit:
    """An audit with what moved since the votes in files, or since an audit's JSON.

    The files are read, and votes selected, as those of the audit are. Raises as `read`, and
    UnreadableFile for several files of which one is an audit's JSON.
    """
    name = ", ".join(one_line(each) for each, _ in files)
    document = _document(files[0][1]) if len(files) == 1 else None
    if document is not None:
        return replace(audit, against=compare_document(name, document, audit))
    readings = read_sources(files, options)
    if not any(reading.votes.num_rows for reading in readings):
        raise NoUsableVotes(f"{name}: no vote in it to compare with.")
    with Store.holding(readings) as store:
        sides = (store, of_other_files(audit.selection)), (new, audit.selection)
        found = compare(name, *sides, level=audit.options.level)
    return replace(audit, against=found)


def of_other_files(selection: Selection) -> Selection:
    """The same votes of other files, whose judges and data sets may have other names: those of the
    audit are matched.
    """
    return replace(selection, judges=None, datasets=None)


def _document(data: bytes | Path) -> dict[str, Any] | None:
    """The JSON of an audit; None if a file is none."""
    if isinstance(data, Path):
        if not data.is_file():
            return None
        with data.open("rb") as file:
            if SCHEMA.encode() not in file.read(200):
                return None
        data = data.read_bytes()
    elif SCHEMA.encode() not in data[:200]:
        return None
    try:
        whole = json.loads(data)
    except ValueError:
        return None
    fits = isinstance(whole, dict) and str(whole.get("schema", "")).startswith(SCHEMA)
    return whole if fits else None


C = TypeVar("C", VoteCounts, OrderCounts, PositionCounts, ConfidenceCounts)


class Side:
    """What one audit has counted, and who voted."""

    def __init__(self, moment: Snapshot, selection: Selection) -> None:
        # The judges that were chosen are held beside all others.
        everyone = replace(selection, judges=None)
        self.counts = queries.vote_counts(moment, everyone)
        self.orders = queries.order_counts(moment, everyone)
        self.placed = queries.positions(moment, everyone)
        self.stated = queries.confidence_counts(moment, everyone)
        names = comparison_names(moment, everyone)
        columns = (names[key].to_pylist() for key in ("item_id", "model_a", "model_b"))
        self.keys = list(zip(*columns, strict=True))
        kinds = {each.name: each.rater_type for each in summary(moment, everyone).judges}
        self.people = [judge for judge in self.counts if kinds[judge] == "human"]
        chosen = selection.judges
        judges = [judge for judge in self.counts if chosen is None or judge in chosen]
        self.judges = [judge for judge in judges if judge not in self.people] or judges
        self.code = self.item = np.zeros(0, dtype=np.int64)

    def share(self, code: Mapping[Any, int], item: Mapping[Any, int]) -> None:
        """Take codes that another side has too."""
        self.code = np.array([code[key] for key in self.keys], dtype=np.int64)
        self.item = np.array([item[key[0]] for key in self.keys], dtype=np.int64)

    def votes(self, judge: str) -> SideVotes:
        """The votes of a judge in shared codes; beside people, or else beside all other judges."""
        who = self.people if any(each != judge for each in self.people) else list(self.counts)
        others = [self._moved(self.counts[each]) for each in who if each != judge]
        return SideVotes(
            counts=self._moved(self.counts[judge]),
            orders=self._maybe(self.orders.get(judge)),
            placed=self._maybe(self.placed.get(judge)),
            stated=self._maybe(self.stated.get(judge)),
            others=_pooled(others),
        )

    def _maybe(self, record: C | None) -> C | None:
        return None if record is None else self._moved(record)

    def _moved(self, record: C) -> C:
        """A record with shared codes, in their order."""
        code: IntArray = self.code[record.comparison]
        order = np.argsort(code, kind="stable")
        columns = kept_rows(record, order)
        columns["comparison"] = code[order]
        if "item" in columns:
            columns["item"] = self.item[record.comparison][order]
        return replace(record, **columns)


def share(sides: Sequence[Side]) -> None:
    """Give several sides the same codes of comparisons and items, by their names."""
    code = _codes(key for side in sides for key in side.keys)
    item = _codes(key[0] for key in code)
    for side in sides:
        side.share(code, item)


def _codes(names: Iterable[Any]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


class ScoreSide:
    """Judges of single answers in one audit; an answer is an item and a model, by their names.

    scored : by judge and metric, a table and its answers.
    """

    def __init__(self, moment: Snapshot, selection: Selection) -> None:
        everyone = replace(selection, judges=None)
        chosen = selection.judges
        items = dict(moment.rows("select id, name from items"))
        self.scored: dict[tuple[str, str], tuple[ScoreTable, list[tuple[str, str]]]] = {}
        for row in scored_metrics(moment, everyone):
            if row.rater_type == "human" or not row.n or (chosen and row.judge not in chosen):
                continue
            own = score_answers(moment, everyone, row.judge, row.metric)
            models = [own.models[code] if code >= 0 else "" for code in own.model.tolist()]
            names = [items[one] for one in own.item.tolist()]
            fields = own.table | ({} if own.categories else {"category": None})
            answers = list(zip(names, models, strict=True))
            self.scored[row.judge, row.metric] = ScoreTable(**fields), answers

    @property
    def judges(self) -> list[str]:
        return list(dict.fromkeys(judge for judge, _ in self.scored))

    def metrics(self, judge: str) -> set[str]:
        return {metric for who, metric in self.scored if who == judge}


def with_shared_codes(
    scored: Sequence[tuple[ScoreTable, list[tuple[str, str]]]],
) -> list[SideScores]:
    """Tables of one judge and metric with the same codes of answers and items, oldest first."""
    code = _codes(answer for _, answers in scored for answer in answers)
    item = _codes(answer[0] for answer in code)
    return sides_of(
        *(
            (
                table,
                np.array([code[answer] for answer in answers], dtype=np.int64),
                np.array([item[answer[0]] for answer in answers], dtype=np.int64),
            )
            for table, answers in scored
        )
    )


def _pooled(raters: Sequence[VoteCounts]) -> VoteCounts | None:
    """Several raters as one who gave all their votes."""
    if not raters:
        return None
    none = np.zeros(0, dtype=np.int64)
    stated = ConfidenceCounts(comparison=none, vote=none, confidence=np.zeros(0), n=none)
    return pool_raters([JudgeVotes(counts=each, stated=stated) for each in raters]).counts


def document_of(against: Against) -> dict[str, Any]:
    """What moved, as the JSON document has it."""

    def ends(change: Estimate | None, way: str | None) -> dict[str, Any] | None:
        if change is None:
            return None
        return {
            "difference": change.value,
            "low": change.low,
            "high": change.high,
            "n_items": change.n,
            "way": way,
        }

    return {
        "name": against.name,
        "paired": against.paired,
        "common": against.common,
        "answers": against.answers,
        "moved": [
            {
                "judge": each.judge,
                "measure": each.measure,
                "old": each.old,
                "new": each.new,
                "judge_change": ends(each.judge_change, each.way),
                "data_change": ends(each.data_change, each.data_way),
                "reason": each.reason,
            }
            for each in against.shifts
        ],
        "alone": list(against.alone),
    }


COMPARED = (*MEASURES, *SCORE_MEASURES)
"""Measures that a gate can name."""

__all__ = ("COMPARED", "Against", "compare", "compare_document", "document_of", "with_files")
