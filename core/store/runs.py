"""Question to the store about doubt: how far a judge's runs differ on a prompt, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.counts import FloatArray, PairDoubt
from core.store.pairs import pair_scores
from core.store.scope import at_one_moment, by_judge, floats, ints, number, scope
from core.votes import Selection

if TYPE_CHECKING:
    from core.store.database import Snapshot


@at_one_moment
def pair_doubts(store: Snapshot, selection: Selection) -> dict[str, PairDoubt]:
    """Pair scores of each judge (`pair_scores`), with across-run SD and mean confidence of every row.

    Across runs a score is compared in like orders: the mean of both orders over the runs that have both, if
    two or more have; else the order with most runs (model of the smaller store id first, on a tie); else NaN.
    The SD has n - 1 in its denominator. Raises as in `core.store.queries`.
    Source: methods §6 (like orders: ours).
    """
    scores = pair_scores(store, selection)
    selected = scope(store, selection)
    codes = number(store, selected, selection)
    by_order = ", ".join(
        f"avg(v.vote * x.side) filter (v.position * x.side = {shown}) as r{k}"
        for k, shown in enumerate((1, -1, 0))
    )
    per_order = ", ".join(f"count(r{k})::bigint as n{k}, stddev_samp(r{k})::double as d{k}" for k in range(3))
    table = store.query(
        f"""with x as (select id, item, least(model_a, model_b) as low, greatest(model_a, model_b) as high,
                              case when model_a < model_b then 1 else -1 end as side
                       from comparisons where model_a <> model_b),
            r as (select v.judge, x.item, x.low, x.high, v.run, {by_order}, sum(v.confidence) as confidence,
                         count(v.confidence) as confident
                  from votes v join x on x.id = v.comparison where v.status = 0 and {selected.filter}
                  group by v.judge, x.item, x.low, x.high, v.run)
            select judge, item, m.name as name_1, o.name as name_2, {per_order},
                   count((r0 + r1))::bigint as n3, stddev_samp((r0 + r1) / 2)::double as d3,
                   (sum(confidence) / nullif(sum(confident), 0))::double as confidence
            from r join models m on m.id = low join models o on o.id = high
            group by judge, item, low, high, m.name, o.name order by judge""",
        selected.params,
    )
    n = np.stack([ints(table, f"n{k}") for k in range(4)])
    sd = _chosen(n, np.stack([floats(table, f"d{k}") for k in range(4)])) / 2
    item, confidence = codes.item[ints(table, "item")], floats(table, "confidence")
    names = [table[f"name_{k}"].to_pylist() for k in (1, 2)]
    found = {}
    for judge, rows in by_judge(table, selected.judges).items():
        pairs = scores[judge]
        place = {name: code for code, name in enumerate(pairs.models)}
        one, two = (np.array([place[name] for name in column[rows]], dtype=np.int64) for column in names)
        order = np.lexsort((item[rows], np.maximum(one, two), np.minimum(one, two)))
        found[judge] = PairDoubt(pairs=pairs, run_sd=sd[rows][order], confidence=confidence[rows][order])
    return found


def _chosen(n: np.ndarray, sd: FloatArray) -> FloatArray:
    """SD of both orders' mean, else of the order with most runs, else NaN; `n` and `sd` are (4, rows)."""
    most = np.argmax(n[:3], axis=0)
    place = np.where(n[3] >= 2, 3, most)
    columns = np.arange(n.shape[1])
    return np.where(n[place, columns] >= 2, sd[place, columns], np.nan)
