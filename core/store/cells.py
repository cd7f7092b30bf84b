"""Cells: votes counted once, when they are loaded, to what nearly every question starts from.

Each is one SELECT over votes. A store keeps it as a table; where a selection has conditions that a
cell cannot tell, the same SELECT counts the votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..schema import STATUSES

Cell = Literal["tallies", "runs"]

ORDERS = {"ab": 1, "ba": -1}
LABELS = {"minus": -1, "tie": 0, "plus": 1}
RUNS_PER_BLOCK = 20
FAILED = STATUSES[1:]
"""Votes without a verdict, by the reason."""
MISSING = " + ".join(f"v.{name}" for name in FAILED)
"""SQL: votes without a verdict of a tally `v`."""


def _number(name: str, condition: str) -> str:
    return f"sum(case when {condition} then 1 else 0 end)::integer as {name}"


_TALLIED = {
    "n": "v.status = 0",
    **{name: f"v.status = 0 and v.vote = {vote}" for name, vote in LABELS.items()},
    **{
        f"{order}_{name}": f"v.status = 0 and v.position = {shown} and v.vote = {vote}"
        for order, shown in ORDERS.items()
        for name, vote in LABELS.items()
    },
    "stated": "v.status = 0 and v.confidence is not null",
    **{name: f"v.status = {STATUSES.index(name)}" for name in FAILED},
}
"""What a tally counts, and which votes those are."""
_RUN = ", ".join(
    f"max(case when v.status = 0 and v.position = {shown} then v.vote end) as {name}"
    for name, shown in {**ORDERS, "neither": 0}.items()
)
BASES = {"both": 6, "ab": 4, "ba": 4, "neither": 4}
"""What a run gives → base in which `runs` writes it."""


def _digits(name: str, digit: str) -> str:
    # Twenty digits of base 6 stay below 2^53, so sums of doubles are exact in any order.
    place = f"power({BASES[name]}, abs(r.run % {RUNS_PER_BLOCK}))"
    return f"coalesce(sum(({digit}) * {place}), 0)::bigint as {name}_votes"


CELLS: Mapping[Cell, str] = {
    "tallies": f"""
        select v.dataset, v.comparison, v.judge, v.category, v.human,
               {", ".join(_number(name, votes) for name, votes in _TALLIED.items())}
        from {{votes}} v group by v.dataset, v.comparison, v.judge, v.category, v.human""",
    "runs": f"""
        select r.dataset, r.comparison, r.judge, r.run - r.run % {RUNS_PER_BLOCK} as block,
               r.run < 0 as negative, count(r.ab)::integer as n_ab, count(r.ba)::integer as n_ba,
               count(r.neither)::integer as n_neither, count(r.ab + r.ba)::integer as n_both,
               min(r.asked)::integer as asked_both, {_number("flips", "r.ab <> r.ba")},
               {_number("hard_flips", "abs(r.ab - r.ba) = 2")},
               coalesce(sum(r.ab - r.ba), 0)::integer as slot_sum,
               {_digits("ab", "r.ab + 2")}, {_digits("ba", "r.ba + 2")},
               {_digits("neither", "r.neither + 2")}, {_digits("both", "r.ab + r.ba + 3")}
        from (select v.dataset, v.comparison, v.judge, v.run, {_RUN},
                     case when max(v.position) = 1 and min(v.position) = -1 then 1 else 0 end as
                     asked
              from {{votes}} v group by v.dataset, v.comparison, v.judge, v.run) r
        group by r.dataset, r.comparison, r.judge, r.run - r.run % {RUNS_PER_BLOCK}, r.run < 0""",
}
"""Name of a cell → its SELECT, with `{votes}` for the votes that it counts.

tallies : votes of a judge on a comparison, by category and kind of rater. `n` usable ones, `minus`,
    `tie` and `plus`
among them, the same of those shown as `ab` or `ba`, `stated` those with a confidence, and the
failed ones by `FAILED`.

runs : repetitions of a judge on a comparison, up to 20 in a row. `n_ab`, `n_ba`, `n_neither` have a
    usable
vote in that order, `n_both` in both; of these `flips` differ, `hard_flips` are +1 against -1, and
`slot_sum` adds up ab - ba. `asked_both` is 1 if all were asked in both. Digit k of `ab_votes`,
`ba_votes` and `neither_votes` (base 4) is the vote of run `block` + k plus 2, of `both_votes` (base
6) the sum of the two orders plus 3; 0 is none. Where `negative`, it is that of run `block` - k.
"""

_COLUMNS: Mapping[Cell, Mapping[str, str]] = {
    "tallies": {
        **dict.fromkeys(("dataset", "comparison", "judge", "category"), "integer"),
        "human": "boolean",
        **dict.fromkeys(_TALLIED, "integer"),
    },
    "runs": {
        **dict.fromkeys(("dataset", "comparison", "judge"), "integer"),
        "block": "bigint",
        "negative": "boolean",
        **{f"n_{name}": "integer" for name in ("ab", "ba", "neither", "both")},
        **dict.fromkeys(("asked_both", "flips", "hard_flips", "slot_sum"), "integer"),
        **{f"{name}_votes": "bigint" for name in ("ab", "ba", "neither", "both")},
    },
}
TABLES = "".join(
    f"create table {name} ({', '.join(map(' '.join, columns.items()))});\n"
    for name, columns in _COLUMNS.items()
)
"""Makes the tables, without a row: as the SELECT of no votes, which takes ten times as long."""
