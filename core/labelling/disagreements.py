"""Answers on which a judge and people differ, out to be looked at again, and back; and the answers
that go to a person, as a judge may not decide them alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import UnreadableFile
from ..finding.check import ONE_METRIC
from ..importers import ReadOptions
from ..importers.columns import cell_text
from ..importers.source import open_source
from ..importers.tables import read_delimited
from ..questions.reference.second_look import (
    NOT_LOOKED,
    SecondLook,
    order_of_disagreements,
    second_look,
)
from ..questions.scores.ask import GOLD, said_of_answers
from ..questions.scores.evidence import ScoreEvidence
from ..questions.scores.table import UNDECIDED
from ..records import BoolArray, FloatArray
from ..store.export import write_csv

if TYPE_CHECKING:
    import pyarrow as pa

    from ..auditing.options import AuditOptions
    from ..auditing.results import Audit
    from ..questions.scores.audited import ScoreAudit
    from ..schema import Selection
    from ..store.connection import Database, Snapshot


class Judged(Protocol):
    """What was found of judges of single answers; an audit is one."""

    @property
    def scores(self) -> tuple[ScoreAudit, ...]: ...
    @property
    def selection(self) -> Selection: ...
    @property
    def options(self) -> AuditOptions: ...


WHO, NOTE = "who_is_right", "note"
KEYS = ("dataset", "item_id", "model", "judge", "metric")
_SAID = ("category", "question", "answer", "judge_says", "judge_reason", "sure")
DISAGREEMENTS = (*KEYS, *_SAID, "people_say", "kind", "others_say", WHO, NOTE)
TO_PEOPLE = (*KEYS, *_SAID, "why")
ANSWERS = {
    "judge": ("judge", "model", "j", "llm"),
    "person": ("person", "people", "human", "gold", "p"),
    "both": ("both",),
    "neither": ("neither", "none"),
    "unclear": ("unclear", "unsure", "?"),
}
"""Who is right → the words for it; `both` of an agreement, `neither` where both are wrong."""
MEANS = {word: meaning for meaning, words in ANSWERS.items() for word in words}
ONE_LEVEL = 0.25
"""Of the scale: levels that differ by less, one of five, are no disagreement."""
SPOT_CHECK = 0.05
"""Share of what is decided alone that goes to a person all the same."""
BYTE_ORDER_MARK = "﻿".encode()


def differs_from_people(evidence: ScoreEvidence) -> tuple[BoolArray, BoolArray]:
    """(n,) whether judge and people differ, and whether both said something.

    Of pass and fail another verdict; of levels one of five levels or more.
    """
    table = evidence.table
    if table.passing is not None and table.people_passing is not None:
        verdict, truth = table.verdict, table.people_verdict
        known = (verdict != UNDECIDED) & (truth != UNDECIDED)
        return known & (verdict != truth), known
    distance = np.abs(table.judge - table.reference)
    known = ~np.isnan(distance) & table.same_scale
    return known & (np.nan_to_num(distance) >= ONE_LEVEL * table.scale - 1e-9), known


def strength_of(scores: ScoreAudit, every: Sequence[ScoreAudit]) -> FloatArray:
    """(n,) how likely the judge is right where it differs from people.

    Of levels their distance; of pass and fail ½·|own mean vote| + (mean vote of the other judges in
    its direction). A judge that is alone and voted once: its sureness.
    """
    evidence = scores.evidence
    table = evidence.table
    if table.passing is None or table.people_passing is None:
        return np.abs(table.judge - table.reference)
    own = 2 * table.passed - 1
    others = np.full((len(every), len(table)), np.nan)
    places = {key: place for place, key in enumerate(_answers(evidence))}
    for row, other in enumerate(every):
        if other.metric != scores.metric or other.judge == scores.judge:
            continue
        votes = 2 * other.evidence.table.passed - 1
        for key, vote in zip(_answers(other.evidence), votes, strict=True):
            if key in places:
                others[row, places[key]] = vote
    known = ~np.isnan(others)
    if known.any():
        mean = np.where(known, others, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return np.asarray(0.5 * np.abs(own) + mean * np.sign(own))
    sureness = evidence.sureness
    return np.abs(own) if sureness is None else sureness.values


def _answers(evidence: ScoreEvidence) -> list[tuple[int, str | None]]:
    """The item's number and the model of each answer."""
    scores = evidence.scores
    if scores.item is None or scores.model is None:
        return [(place, None) for place in range(len(evidence.table))]
    names = (*scores.models, None)
    return [
        (item, names[model])
        for item, model in zip(scores.item.tolist(), scores.model.tolist(), strict=True)
    ]


@dataclass(slots=True, eq=False)
class _Said:
    """What is known of one answer: its texts, and what each rater said of it."""

    facts: Mapping[str, Any]
    by: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)

    def of(self, judge: str) -> str:
        """Its reasons, one that it gave again once."""
        given = dict.fromkeys(row["rationale"] for row in self.by.get(judge, ()))
        return " ".join(filter(None, given))


def _said(store: Database | Snapshot, audit: Judged, metric: str) -> dict[Any, _Said]:
    rows = said_of_answers(store, audit.selection, metric).to_pylist()
    said: dict[Any, _Said] = {}
    for row in rows:
        one = said.setdefault((row["item"], row["model"]), _Said(row))
        one.by.setdefault(row["judge"], []).append(row)
    return said


def _word(evidence: ScoreEvidence, value: float, passing: float | None) -> str:
    """A score in words: pass or fail where that is what is said."""
    if np.isnan(value):
        return ""
    if evidence.table.says_pass and passing is not None:
        return "pass" if value >= passing else "fail"
    return f"{round(value, 2):g}"


def _row(scores: ScoreAudit, place: int, one: _Said) -> dict[str, Any]:
    evidence = scores.evidence
    sureness = None if evidence.sureness is None else evidence.sureness.values[place]
    return {
        **{name: one.facts[name] for name in ("dataset", "item_id", "model", "category")},
        "judge": scores.judge,
        "metric": scores.metric,
        "question": one.facts["prompt"],
        "answer": one.facts["response"],
        "judge_says": _word(evidence, evidence.table.judge[place], evidence.table.passing),
        "judge_reason": one.of(scores.judge),
        "sure": None if sureness is None or np.isnan(sureness) else round(float(sureness), 4),
    }


def disagreements(
    store: Database | Snapshot, audit: Judged, *, with_agreements: int = 30
) -> pa.Table:
    """The answers on which judges of single answers and people differ, to be looked at again.

    Of each judge and metric the 20 in which the judge is most likely right, then the others with
    so many agreements among them, in random order and unmarked; `who_is_right` and `note` are
    empty. `second_looks` takes the filled table.

    Source: ours, docs/verdicts.md.
    """
    rows: list[dict[str, Any]] = []
    said: dict[str, dict[Any, _Said]] = {}
    for scores in audit.scores:
        evidence = scores.evidence
        of_metric = said.setdefault(scores.metric, _said(store, audit, scores.metric))
        answers = _answers(evidence)
        # What is sealed for proofs is in no list.
        listed = np.array([answer in of_metric for answer in answers], dtype=np.bool_)
        differs, known = (each & listed for each in differs_from_people(evidence))
        if not differs.any():
            continue
        others = [
            (other, {key: place for place, key in enumerate(_answers(other.evidence))})
            for other in audit.scores
            if other.metric == scores.metric and other.judge != scores.judge
        ]
        places = np.flatnonzero(known)
        order = places[
            order_of_disagreements(
                differs[known],
                strength_of(scores, audit.scores)[known],
                agreements=with_agreements,
                seed=audit.options.seed,
            )
        ]
        for place in order.tolist():
            one = of_metric[answers[place]]
            rows.append(
                _row(scores, place, one)
                | {
                    "people_say": _people_say(evidence, place),
                    "kind": _kind(evidence, place),
                    "others_say": _others_say(others, answers[place]),
                }
            )
    return _table(rows, DISAGREEMENTS)


def in_short(row: Mapping[str, Any]) -> tuple[str, str]:
    """Which answer a row of `disagreements` is about, and who says what of it.

    "t17 · gpt-4o", "judge says pass, people say fail"; people by their names where they have some.
    """
    metric = "" if row["metric"] == ONE_METRIC else row["metric"]
    about = " · ".join(filter(None, (row["item_id"], row["model"], metric)))
    people = row["people_say"].removeprefix(f"{GOLD}: ")
    return about, f"{row['judge']} says {row['judge_says']}, people say {people}"


def _people_say(evidence: ScoreEvidence, place: int) -> str:
    table = evidence.table
    names = table.names or tuple(f"person {k + 1}" for k in range(table.people.shape[1]))
    said = zip(names, table.people[place].tolist(), strict=True)
    return "; ".join(
        f"{name}: {_word(evidence, value, table.people_passing)}"
        for name, value in said
        if not np.isnan(value)
    )


def _kind(evidence: ScoreEvidence, place: int) -> str:
    table = evidence.table
    if table.passing is not None and table.people_passing is not None:
        does = "passes" if table.verdict[place] == 1 else "fails"
        did = "passed" if table.people_verdict[place] == 1 else "failed"
        return f"{does} what people {did}"
    more = float(table.judge[place] - table.reference[place])
    return (
        f"scores {abs(more):g} {'more' if more > 0 else 'less'} than people"
        if more
        else "as people"
    )


def _others_say(others: Sequence[tuple[ScoreAudit, Mapping[Any, int]]], answer: Any) -> str:
    """What the other judges of the metric say of an answer; each with the places of its answers."""
    said = []
    for other, place in others:
        if answer in place:
            table = other.evidence.table
            word = _word(other.evidence, table.judge[place[answer]], table.passing)
            said.append(f"{other.judge}: {word}")
    return "; ".join(said)


def to_people(store: Database | Snapshot, audit: Judged) -> pa.Table:
    """The answers that judges of single answers may not decide alone at the error that the audit's
    options allow, the least sure first; those without a verdict; and a random 5 % of the rest.

    Source: ours, docs/verdicts.md.
    """
    rng, rows = np.random.default_rng(audit.options.seed), []
    for scores in audit.scores:
        evidence = scores.evidence
        table, sureness = evidence.table, evidence.sureness
        sure = np.full(len(table), np.nan) if sureness is None else sureness.values
        from_ = [scores.alone.threshold(audit.options.error, verdict) for verdict in (0, 1)]
        least = np.where(table.verdict == 1, from_[1], from_[0])
        decided = np.nan_to_num(sure, nan=-1.0) >= least - 1e-9
        of_metric = _said(store, audit, scores.metric)
        answers = _answers(evidence)
        listed = np.array([answer in of_metric for answer in answers], dtype=np.bool_)
        order = np.argsort(np.nan_to_num(sure, nan=-1.0), kind="stable")
        unsure = [place for place in order.tolist() if listed[place] and not decided[place]]
        rest = np.flatnonzero(decided & listed)
        checked = rng.permutation(rest)[: int(np.ceil(SPOT_CHECK * len(rest)))]
        for why, places in (("unsure", unsure), ("spot check", checked.tolist())):
            rows += [
                _row(scores, place, of_metric[answers[place]]) | {"why": why} for place in places
            ]
        rows += list(_without_verdict(scores, of_metric, set(answers)))
    return _table(rows, TO_PEOPLE)


def _without_verdict(
    scores: ScoreAudit, of_metric: Mapping[Any, _Said], scored: set[Any]
) -> Iterator[dict[str, Any]]:
    for answer, one in of_metric.items():
        if scores.judge in one.by and answer not in scored:
            yield {
                **{name: one.facts[name] for name in ("dataset", "item_id", "model", "category")},
                "judge": scores.judge,
                "metric": scores.metric,
                "question": one.facts["prompt"],
                "answer": one.facts["response"],
                "judge_says": "",
                "judge_reason": one.of(scores.judge),
                "sure": None,
                "why": "no verdict",
            }


def _table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    kinds = {"sure": pa.float64()}
    columns = {
        name: pa.array([row.get(name) for row in rows], kinds.get(name, pa.string()))
        for name in names
    }
    return pa.table(columns)


def as_csv(table: pa.Table) -> bytes:
    """A table as CSV for a spreadsheet: UTF-8 with a byte order mark, and no cell is a formula."""
    out = io.BytesIO()
    write_csv(table, out)
    return BYTE_ORDER_MARK + out.getvalue()


def is_second_look(name: str, data: bytes | Path) -> bool:
    """Whether a file is a table of disagreements that was filled."""
    source = open_source(name, data, ReadOptions().max_bytes)
    return source.kind == "delimited" and {WHO, "item_id", "judge"} <= set(
        read_delimited(source).columns
    )


def with_second_looks(
    audit: Audit, store: Database | Snapshot, *files: tuple[str, bytes | Path]
) -> Audit:
    """The audit with `second_looks`."""
    return replace(audit, second_looks=second_looks(audit, store, *files))


def second_looks(
    audit: Judged, store: Database | Snapshot, *files: tuple[str, bytes | Path]
) -> tuple[SecondLook, ...]:
    """What became of the answers in filled tables of disagreements, by judge and metric.

    Raises UnreadableFile: no row is of an answer of the audit, or a word in `who_is_right` is none
    of judge, person, both, neither and unclear.
    """
    rows = [row for file in files for row in _filled(*file)]
    looks = []
    for scores in audit.scores:
        own = {
            (row["item_id"], row["model"]): row[WHO]
            for row in rows
            if row["judge"] == scores.judge and row["metric"] in ("", scores.metric)
        }
        if own:
            looks.append(_second_look(store, audit, scores, own))
    if not looks:
        names = ", ".join(name for name, _ in files)
        raise UnreadableFile(f"{names}: no row with {WHO} is of a judge of this audit.")
    return tuple(looks)


def _filled(name: str, data: bytes | Path) -> Iterator[dict[str, str]]:
    table = read_delimited(open_source(name, data, ReadOptions().max_bytes))
    for row in range(len(table.row)):
        cells = {
            column: _unquoted(cell_text(table.columns[column], row))
            for column in (*KEYS, WHO)
            if column in table.columns
        }
        word = cells[WHO].strip().casefold()
        if not word:
            continue
        if word not in MEANS:
            raise UnreadableFile(
                f"{name}: row {int(table.row[row])}: {WHO} {word!r}: write judge, person, both, "
                "neither or unclear."
            )
        yield {key: cells.get(key, "") for key in KEYS} | {WHO: MEANS[word]}


def _unquoted(text: str) -> str:
    """A cell without the apostrophe before what would be a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in tuple("=+-@\t\r") else text


def _second_look(
    store: Database | Snapshot,
    audit: Judged,
    scores: ScoreAudit,
    own: Mapping[tuple[str, str], str],
) -> SecondLook:
    evidence = scores.evidence
    differs, known = differs_from_people(evidence)
    said = _said(store, audit, scores.metric)
    judge_right = np.full(len(evidence.table), NOT_LOOKED)
    taken_out = 0
    for place, answer in enumerate(_answers(evidence)):
        facts = said[answer].facts
        who = own.get((facts["item_id"], facts["model"] or ""))
        if who is None:
            continue
        if differs[place]:
            # Of pass and fail one of two that differ is right.
            settled = {"judge": 1, "person": 0}.get(who)
        else:
            settled = {"judge": 1, "person": 1, "both": 1, "neither": 0}.get(who)
        if settled is None:
            taken_out += 1
        else:
            judge_right[place] = settled
    return second_look(
        differs[known],
        strength_of(scores, audit.scores)[known],
        judge_right[known],
        evidence.table.unit[known],
        taken_out=taken_out,
        judge=scores.judge,
        metric=scores.metric,
        level=evidence.level,
    )
