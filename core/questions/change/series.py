"""A series of files of the same judges, such as one a week: a control chart for each figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...auditing.sources import read_sources
from ...errors import NoUsableVotes
from ...finding.check import rater_of
from ...finding.wording import one_line
from ...importers import ReadOptions
from ...records import FloatArray
from ...schema import Selection
from ...store import Store
from ...store.browse import summary
from .charts import FIRST, WEIGHT, Chart, check_series, vote_charts
from .files import ScoreSide, Side, of_other_files, share, with_shared_codes
from .results import FileSeries
from .scores import score_charts

if TYPE_CHECKING:
    from ...auditing.results import Audit
    from ...store.connection import Database, Snapshot


def charted(
    sides: Iterable[tuple[str, Database | Snapshot, Selection]], *, level: float = 0.95
) -> FileSeries:
    """Control charts of the judges of the last of several sets of votes or scores, oldest first.

    sides : a name, a store and what is selected of it; a store is left before the next is asked
        for. Comparisons are the same where item, models and order are, answers where item and model
        are. Judges are matched by name; if every set has one, they are one judge whatever its name.

    Raises InvalidOption for fewer than eight sets.
    """
    names, votes, scores = [], {}, {}
    for place, (name, store, selection) in enumerate(sides):
        names.append(name)
        with store.snapshot() as moment:
            about = summary(moment, replace(selection, judges=None))
            if about.judges:
                votes[place] = Side(moment, selection)
            if about.scores:
                scores[place] = ScoreSide(moment, selection)
    check_series(len(names))
    last = len(names) - 1
    share(list(votes.values()))
    charts: list[Chart] = []
    for judge in votes[last].judges if last in votes else ():
        own = {
            place: side.votes(_same(judge, side.judges, votes.values()))
            for place, side in votes.items()
            if _same(judge, side.judges, votes.values()) in side.judges
        }
        charts += vote_charts(judge, own, level=level)
    for judge, metric in scores[last].scored if last in scores else ():
        scored = {
            place: side.scored[key]
            for place, side in scores.items()
            if (key := (_same(judge, side.judges, scores.values()), metric)) in side.scored
        }
        coded = with_shared_codes(list(scored.values()))
        whose = rater_of(judge, metric)
        charts += score_charts(whose, dict(zip(scored, coded, strict=True)), level=level)
    return FileSeries(files=tuple(names), charts=tuple(charts))


def _same(judge: str, there: Sequence[str], sides: Iterable[Side | ScoreSide]) -> str:
    """What a judge is called in a file: where every file has one judge, they are one."""
    return there[0] if all(len(side.judges) == 1 for side in sides) else judge


def with_series(
    audit: Audit,
    older: Sequence[tuple[str, bytes | Path]],
    new: Database | Snapshot,
    options: ReadOptions,
) -> Audit:
    """An audit with its control charts over older files, oldest first, and itself as the newest.

    The files are read, and votes selected, as those of the audit are. Raises as `read` and
    `charted`, and NoUsableVotes for a file without votes.
    """
    check_series(len(older) + 1)

    def sides() -> Iterable[tuple[str, Database | Snapshot, Selection]]:
        selection = of_other_files(audit.selection)
        for name, data in older:
            readings = read_sources([(name, data)], options)
            if not any(reading.votes.num_rows for reading in readings):
                raise NoUsableVotes(f"{one_line(name)}: no vote in it for a series.")
            with Store.holding(readings) as store:
                yield one_line(name), store, selection
        yield _name(audit), new, audit.selection

    return replace(audit, series=charted(sides(), level=audit.options.level))


def _name(audit: Audit) -> str:
    names = [reading.name for reading in audit.readings] or list(audit.summary.datasets)
    return one_line(", ".join(names))


def series_document(series: FileSeries) -> dict[str, Any]:
    """The charts, as the JSON document has them."""

    def plain(values: FloatArray | None) -> list[float | None] | None:
        if values is None:
            return None
        return [None if np.isnan(value) else value for value in values.tolist()]

    return {
        "files": list(series.files),
        "first": FIRST,
        "weight": WEIGHT,
        "charts": [
            {
                "judge": chart.judge,
                "measure": chart.measure,
                "files": [series.files[place] for place in chart.files],
                "usual": chart.usual,
                "change": plain(chart.change),
                "average": plain(chart.average),
                "limit": plain(chart.limit),
                "beyond": [series.file(chart, place) for place in chart.beyond],
                "way": chart.way,
                "n_items": chart.n_items,
                "reason": chart.reason,
            }
            for chart in series.charts
        ],
    }
