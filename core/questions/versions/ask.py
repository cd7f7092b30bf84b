"""What two versions of a judge said of all that both judged, sealed items too, for a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import BoolArray, FloatArray, IntArray, majority
from ...schema import Selection
from ...stats.intervals import dense_codes
from ...store.arrays import units
from ..scores.ask import said_of_answers, score_answers
from ..scores.table import SAME, ScoreTable
from .results import Kind

if TYPE_CHECKING:
    from ...store.connection import Snapshot

EVERYTHING = Selection(sealed=True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BothJudged:
    """What both versions judged, a comparison or answer a row.

    key : of each row, a text.  item : its number in the store.  unit : code of its item or cluster.
    old, new : (n, 2) shares of votes for A and for B, or (n, 1) the share of runs that pass, or the
        score in shares of the scale.
    label : (n,) 1, 0 or −1, 1 or 0, or people's mean in shares of the scale; NaN without one.
    low, high : ends of the scale, in the file's units; low above high where less is better.
    """

    kind: Kind
    key: tuple[str, ...]
    item: IntArray
    unit: IntArray
    old: FloatArray
    new: FloatArray
    parted: BoolArray
    label: FloatArray
    low: float = 0.0
    high: float = 1.0

    def d(self, row: int, label: float | None) -> float:
        """loss(old) − loss(new) by a label; 0 where it was skipped, or says a tie of two."""
        if label is None or np.isnan(label):
            return 0.0
        if self.kind != "pairs":
            return float(abs(self.old[row, 0] - label) - abs(self.new[row, 0] - label))
        if label == 0:
            return 0.0
        side = 0 if label > 0 else 1
        # Right with ties at a half: (1 + own − other)/2.
        gain = self.new[row, side] - self.new[row, 1 - side]
        return float(gain - self.old[row, side] + self.old[row, 1 - side]) / 2

    @property
    def parted_share(self) -> float:
        return float(self.parted.mean()) if len(self.parted) else 0.0


def both_judged(
    store: Snapshot, old: str, new: str, metric: str | None, *, passing: float | None = None
) -> BothJudged:
    """What two judges said of what both judged, by votes, or by the scores of a metric.

    passing : a score from which levels pass; then verdicts are compared.
    """
    return _votes(store, old, new) if metric is None else _scores(store, old, new, metric)


def _votes(store: Snapshot, old: str, new: str) -> BothJudged:
    rows = store.rows(
        """with said as (
               select v.comparison, j.name, avg(case when v.vote = 1 then 1.0 else 0 end) as a,
                      avg(case when v.vote = -1 then 1.0 else 0 end) as b
               from votes v join judges j on j.id = v.judge
               where v.status = 0 and j.name in ($old, $new) group by 1, 2)
           select o.comparison, c.item, o.a, o.b, n.a, n.b, c.gold
           from said o join said n on n.comparison = o.comparison and n.name = $new
           join comparisons c on c.id = o.comparison where o.name = $old order by 1""",
        {"old": old, "new": new},
    )
    columns = np.array(rows, dtype=np.float64).reshape(-1, 7).T
    own = [np.stack([columns[k], columns[k + 1]], axis=1) for k in (2, 4)]
    labels = [
        majority(*((1000 * share).round().astype(np.int64) for share in (a, 1 - a - b, b)))
        for a, b in (each.T for each in own)
    ]
    item, unit = columns[1].astype(np.int64), units(store)
    return BothJudged(
        kind="pairs",
        key=tuple(str(int(code)) for code in columns[0]),
        item=item,
        unit=dense_codes(item if unit is None else unit[item]) if len(item) else item,
        old=own[0],
        new=own[1],
        parted=labels[0] != labels[1],
        label=columns[6],
    )


def _scores(store: Snapshot, old: str, new: str, metric: str) -> BothJudged:
    sides = [score_answers(store, EVERYTHING, judge, metric) for judge in (old, new)]
    keys = [
        [
            f"{item}\t{[*one.models, ''][model]}"
            for item, model in zip(one.item, one.model, strict=True)
        ]
        for one in sides
    ]
    place = {key: row for row, key in enumerate(keys[0])}
    rows = [(place[key], row) for row, key in enumerate(keys[1]) if key in place]
    of_old, of_new = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    tables = [
        ScoreTable(**one.table | ({} if one.categories else {"category": None})).rows(own)
        for one, own in zip(sides, (of_old, of_new), strict=True)
    ]
    low, high = min(t.low for t in tables), max(t.high for t in tables)
    verdicts = all(table.kind == "pass_fail" for table in tables)
    width = (high - low) or 1.0
    said = [t.passed if verdicts else (t.judge - low) / width for t in tables]
    people = tables[1] if (tables[1].persons > 0).any() else tables[0]
    label = (
        np.where(people.people_verdict < 0, np.nan, people.people_verdict)
        if verdicts
        else (people.reference - low) / width
    )
    verdict = [table.verdict for table in tables]
    turned = sides[1].turned
    return BothJudged(
        kind="pass_fail" if verdicts else "levels",
        key=tuple(keys[1][row] for row in of_new),
        item=sides[1].item[of_new],
        unit=tables[1].unit,
        old=said[0][:, None],
        new=said[1][:, None],
        parted=verdict[0] != verdict[1] if verdicts else np.abs(said[0] - said[1]) > SAME,
        label=label.astype(np.float64),
        low=high if turned else low,
        high=low if turned else high,
    )


def texts_of(store: Snapshot, judged: BothJudged, rows: Sequence[int]) -> list[tuple[str, ...]]:
    """The prompt and the response, or the responses A and B, of rows; empty where there is none."""
    if judged.kind == "pairs":
        codes = [int(judged.key[row]) for row in rows]
        said = store.rows(
            """select v.comparison, min(p.text), min(a.text), min(b.text)
               from votes v join details d on d.vote = v.id
               left join texts p on p.id = d.prompt left join texts a on a.id = d.response_a
               left join texts b on b.id = d.response_b
               where v.comparison in (select unnest(?::bigint[])) group by 1""",
            [codes],
        )
        by_code = {code: tuple(text or "" for text in texts) for code, *texts in said}
        return [by_code.get(code, ("", "", "")) for code in codes]
    items = [int(judged.item[row]) for row in rows]
    said = store.rows(
        """select s.item, coalesce(m.name, ''), min(p.text), min(r.text)
           from scores s left join models m on m.id = s.model
           left join texts p on p.id = s.prompt left join texts r on r.id = s.response
           where s.item in (select unnest(?::bigint[])) group by 1, 2""",
        [items],
    )
    by_key = {
        f"{item}\t{model}": tuple(text or "" for text in texts) for item, model, *texts in said
    }
    return [by_key.get(judged.key[row], ("", "")) for row in rows]


def parted_answers(
    store: Snapshot, selection: Selection, judges: tuple[str, str], metric: str
) -> list[dict[str, object]]:
    """The answers to which two judges gave another score, the mean of their runs, the farthest
    apart first, beside the mean of people; none of what is sealed.
    """
    answers: dict[tuple[int, str | None], list[dict[str, Any]]] = {}
    for row in said_of_answers(store, selection, metric).to_pylist():
        if row["score"] is not None:
            answers.setdefault((row["item"], row["model"]), []).append(row)
    found: list[dict[str, object]] = []
    for rows in answers.values():
        said = [[row["score"] for row in rows if row["judge"] == judge] for judge in judges]
        if not all(said) or abs(fmean(said[0]) - fmean(said[1])) <= SAME:
            continue
        people = [row["score"] for row in rows if row["human"]] or [
            row["gold"] for row in rows if row["gold"] is not None
        ]
        facts = {name: rows[0][name] for name in ("item_id", "model", "prompt", "response")}
        scores = dict(zip(judges, map(fmean, said), strict=True))
        found.append(facts | scores | {"people": fmean(people) if people else None})
    return sorted(found, key=lambda row: -abs(row[judges[0]] - row[judges[1]]))  # type: ignore[operator]


def metrics_of_both(store: Snapshot, old: str, new: str) -> list[str]:
    """The metrics that two judges scored."""
    rows = store.rows(
        """select k.name from scores s join metrics k on k.id = s.metric
           join judges j on j.id = s.judge where j.name in (?, ?)
           group by k.name having count(distinct j.name) = 2 order by k.name""",
        [old, new],
    )
    return [name for (name,) in rows]


def people_differ(store: Snapshot, metric: str | None) -> tuple[int, float]:
    """Of what two people judged, how many there are and the share on which they differ."""
    about, said, table, only, params = (
        ("v.comparison", "v.vote", "votes", "true", {})
        if metric is None
        else ("v.item, v.model", "v.score", "scores", "k.name = $metric", {"metric": metric})
    )
    named = "" if metric is None else "join metrics k on k.id = v.metric"
    ((n, share),) = store.rows(
        f"""select count(*), coalesce(avg(case when least_ < most_ then 1.0 else 0 end), 0)
            from (select min({said}) as least_, max({said}) as most_ from {table} v {named}
                  where v.human and v.status = 0 and {only} group by {about}
                  having count(distinct v.judge) = 2)""",
        params,
    )
    return int(n), float(share)
