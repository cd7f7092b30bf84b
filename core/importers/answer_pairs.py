"""Votes out of scores: of two answers to one item the one with the higher score wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOption, UnknownName
from ..labels import shown
from ..schema import VOTES, ImportResult
from .columns import dense_codes
from .options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PAIRS = 50_000_000
"""Votes that the scores of one file are made into."""
_OF_ITEM = ("dataset", "item_id", "judge", "run")


def with_votes(readings: Sequence[ImportResult], options: ReadOptions) -> list[ImportResult]:
    """The readings, and behind each of scores the votes that its scores on one metric come to, if
    the options ask for them.

    A vote for every two models that one judge scored on one item in one run: +1 where the first by
    name has the higher score, 0 where both differ by `tie_margin` or less; of a metric of which
    less is better −1. Gold is made alike of the gold of both. If either score is missing the vote
    is, with the status of the first that failed. No pair was shown, so there is no position.

    Raises UnknownName: no reading has the metric. InvalidOption: no item has scores of two models,
    or they come to more than 50 million votes.
    """
    metric = options.votes_of
    if metric is None:
        return [*readings]
    metrics = {name for reading in readings for name in _metrics(reading)}
    if metric not in metrics:
        raise UnknownName(
            "{option} {value!r}: no metric is called so. There are: {known}.",
            option="votes_of",
            value=metric,
            known=sorted(metrics) or "none",
        )
    made: list[ImportResult] = []
    for reading in readings:
        made.append(reading)
        votes = _votes_of(reading, metric, options.tie_margin) if _metrics(reading) else None
        made += [votes] if votes else []
    if len(made) == len(readings):
        raise InvalidOption(
            "{option} {value!r}: no item has scores of two models by one judge in one run.",
            option="votes_of",
            value=metric,
        )
    return made


def paired_metrics(readings: Sequence[ImportResult]) -> list[str]:
    """Metrics of which votes can be made: one judge scored two models on one item in one run."""
    found: set[str] = set()
    for reading in readings:
        if reading.kind == "scores":
            key = ["metric", *_OF_ITEM]
            models = reading.votes.select([*key, "model"]).group_by(key)
            counted = models.aggregate([("model", "count_distinct")]).to_pylist()
            found |= {row["metric"] for row in counted if row["model_count_distinct"] > 1}
    return sorted(found)


def _metrics(reading: ImportResult) -> list[str]:
    return reading.votes["metric"].unique().to_pylist() if reading.kind == "scores" else []


def _votes_of(reading: ImportResult, metric: str, margin: float) -> ImportResult | None:
    """Votes of the scores on a metric; None where no item has scores of two models."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = reading.votes
    rows = rows.filter(pc.and_(pc.equal(rows["metric"], metric), pc.is_valid(rows["model"])))
    first, second = _pairs(rows, reading.name)
    if not len(first):
        return None

    def of(name: str, place: Any) -> pa.ChunkedArray:
        return rows[name].take(pa.array(place))

    columns: dict[str, Any] = {name: of(name, first) for name in (*_OF_ITEM, "rater_type")}
    columns["category"] = pc.coalesce(of("category", first), of("category", second))
    for letter, place in (("a", first), ("b", second)):
        columns[f"model_{letter}"] = of("model", place)
        columns[f"response_{letter}"] = of("response", place)
        columns[f"length_{letter}"] = of("length", place)
    columns["prompt"] = pc.coalesce(of("prompt", first), of("prompt", second))
    lower = pc.fill_null(rows["lower_is_better"], 0).to_numpy() == 1
    sign = np.where(lower[first], -1, 1)
    for name, column in (("vote", "score"), ("gold", "gold")):
        value = rows[column].to_numpy().astype(float)
        gap = value[first] - value[second]
        label = np.where(np.abs(gap) <= margin * (1 + 1e-9), 0, np.sign(gap)) * sign
        columns[name] = pa.array(np.nan_to_num(label).astype(np.int64), mask=np.isnan(gap))
    ok = pc.equal(of("status", first), "ok")
    columns["status"] = pc.if_else(ok, of("status", second), of("status", first))
    n = len(first)
    votes = pa.table(
        [
            pc.cast(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(n, field.type)
            for field in list(VOTES.schema())[: len(VOTES.names)]
        ],
        names=list(VOTES.names),
    )
    made = ImportResult.without_rejects(
        votes, name=reading.name, sha256=reading.sha256, format=reading.format
    )
    said = f"scores that differ by {margin:g} or less tie" if margin else "equal ones tie"
    note = f"{n:,} votes made of the scores on {shown(metric)}: {said}."
    return replace(made, rows=0, mapping=reading.mapping, notes=(note,))


def _pairs(rows: pa.Table, name: str) -> tuple[Any, Any]:
    """Rows of every two models of one item, judge and run; the first by name comes first."""
    code = dense_codes(rows[name].combine_chunks().dictionary_encode() for name in _OF_ITEM)
    model = np.unique(rows["model"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    order = np.lexsort((model[1], code))
    code = code[order]
    sizes = np.bincount(code) if len(code) else np.zeros(0, np.int64)
    if (sizes * (sizes - 1) // 2).sum() > MOST_PAIRS:
        raise InvalidOption(
            "{file}: {option}: every two answers come to more than {most} votes. Select fewer "
            "models.",
            option="votes_of",
            file=name,
            most=f"{MOST_PAIRS:,}",
        )
    steps = range(1, int(sizes.max(initial=0)))
    firsts = [np.flatnonzero(code[step:] == code[:-step]) for step in steps]
    at = [(order[place], order[place + step]) for place, step in zip(firsts, steps, strict=True)]
    if not at:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first, second = (np.concatenate(side) for side in zip(*at, strict=True))
    back = np.argsort(first, kind="stable")
    return first[back], second[back]
