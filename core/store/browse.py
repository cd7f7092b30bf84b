"""What a store, a selection or a file holds: totals, raters, the values of columns, and that in
words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..errors import UnknownName
from ..extras import require
from ..finding.wording import percent
from ..schema import COLUMN_NAMES, FORMS, STATUSES, ImportResult, Kind, Selection
from .arrays import units
from .cells import LABELS, MISSING, ORDERS
from .selection import (
    PAGES,
    TOLD,
    Scope,
    at_one_moment,
    check_column,
    column_sql,
    extra_columns,
    is_numeric,
    nothing,
    scope,
    shares_items,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from .connection import Database, Snapshot


FILTERS = (
    "category",
    "model_a",
    "model_b",
    "run",
    "position",
    "confidence_kind",
    "gold",
    "prompt_hash",
    "temperature",
)
"""Canonical columns worth offering as filters, besides data set, judge and rater type."""

MOST_VALUES = 200
"""A column with more distinct values is no filter to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """One data set of the store. `votes`, `scores` and `rankings` include failed ones; a ranking
    counts once.

    items : prompts that any of them is about.  files : the files loaded into it.
    """

    name: str
    votes: int
    items: int
    comparisons: int
    judges: int
    files: int
    simulated: bool
    loaded_at: datetime
    scores: int = 0
    rankings: int = 0


def datasets(store: Database | Snapshot) -> list[DatasetInfo]:
    """The data sets in order of name."""
    counted = {
        "votes": f"""select v.dataset, sum(v.n + {MISSING})::bigint as total
                    from tallies v group by v.dataset""",
        "scores": "select dataset, count(*) as total from scores group by dataset",
        "rankings": "select dataset, count(distinct id) as total from rankings group by dataset",
        "comparisons": "select dataset, count(*) as total from comparisons group by dataset",
        "items": "select dataset, count(*) as total from items group by dataset",
        "files": "select dataset, count(*) as total from files group by dataset",
        "judges": """select dataset, count(distinct judge) as total
                     from (select distinct dataset, judge from tallies
                           union all select distinct dataset, judge from scores
                           union all select distinct dataset, judge from rankings) j
                     where judge not in (select id from judges where name like '% [perturbed: %]')
                     group by dataset""",
    }
    with store.snapshot() as moment:
        if shares_items(moment):
            # Of items that several data sets are about each counts its own.
            counted["comparisons"] = """select dataset, count(distinct comparison) as total
                                        from tallies group by dataset"""
            counted["items"] = """select dataset, count(distinct item) as total
                                  from (select t.dataset, c.item from tallies t join comparisons c
                                        on c.id = t.comparison
                                        union all select dataset, item from scores
                                        union all select dataset, item from rankings) r
                                  group by dataset"""
    columns = ", ".join(f"coalesce(c_{name}.total, 0) as {name}" for name in counted)
    joins = " ".join(
        f"left join ({sql}) c_{name} on c_{name}.dataset = d.id" for name, sql in counted.items()
    )
    sizes = store.query(
        f"select d.name, d.simulated, d.loaded_at, {columns} from datasets d {joins} order by "
        "d.name"
    )
    return [DatasetInfo(**row) for row in sizes.to_pylist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """Votes of one judge: `plus`, `tie` and `minus` add up to `n`; `failed` ones are not among
    them.

    labelled : votes on comparisons with gold. with_confidence, with_position : votes that have one.
    runs : distinct run numbers. rater_type : `human` if any of its votes is a human's.
    """

    name: str
    rater_type: str
    plus: int
    tie: int
    minus: int
    n: int
    failed: int
    labelled: int
    with_confidence: int
    with_position: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCount:
    """Usable and failed judgements of one kind by one rater, besides its votes."""

    name: str
    rater_type: str
    n: int
    failed: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Summary:
    """What a selection holds. `votes`, `items` and `comparisons` count usable votes and what they
    are about.

    unparsed : failed votes of every kind (error, refused, unparsed), `statuses` splits them.
    categories : category → usable votes; "" holds votes without one. simulated : any data set is
        simulated.
    scores, rankings : raters who gave direct scores, or rankings of several candidates. Their
        categories are
    in `categories` too, with 0 votes if they have none; `judges` and `models` are those of votes
    only.
    units : what intervals count, clusters of items where there are any.  score_items, score_units :
        the same of direct scores.
    """

    votes: int
    items: int
    comparisons: int
    unparsed: int
    statuses: dict[str, int]
    datasets: tuple[str, ...]
    judges: tuple[JudgeSummary, ...]
    models: tuple[str, ...]
    categories: dict[str, int]
    simulated: bool
    scores: tuple[RaterCount, ...] = ()
    rankings: tuple[RaterCount, ...] = ()
    units: int = 0
    score_items: int = 0
    score_units: int = 0

    @property
    def clusters(self) -> str | None:
        """That intervals count clusters of items, and how many there are; None where they count
        items.
        """
        said = [
            f"{units:,} clusters ({items:,} {what})"
            for units, items, what in (
                (self.units, self.items, "items"),
                (self.score_units, self.score_items, "scored items"),
            )
            if 0 < units < items
        ]
        if not said:
            return None
        return (
            f"Items of one cluster are not independent: intervals count {' and '.join(said)}, and "
            "what is called an item beside one is a cluster."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per judge."""
        require("pandas", purpose="A data frame")
        import pandas as pd

        names = JudgeSummary.__slots__
        return pd.DataFrame(
            [[getattr(judge, name) for name in names] for judge in self.judges], columns=list(names)
        )


@at_one_moment
def summary(store: Snapshot, selection: Selection) -> Summary:
    """Count a selection, failed votes included.

    Raises NoUsableVotes: the selection matches no row at all (only failed votes, or no vote but
    direct scores or rankings: a summary with `votes` 0). UnknownName: a name that the store does
    not have.
    """
    selected = scope(store, selection)
    judges = _judges(store, selected)
    categories, sets = _about(store, selected) if judges else ({}, {})
    scores, rankings = (
        _others(store, selection, kind, categories, sets) for kind in ("scores", "rankings")
    )
    if not judges and not scores and not rankings:
        raise nothing(store, selection)

    def rows(template: str) -> list[tuple[Any, ...]]:
        return store.rows(selected.sql(template), selected.params)

    used = """select c.{column} from comparisons c
              where c.id in (select v.comparison from {{tallies}} v where v.n > 0)"""
    ((comparisons, items),) = rows(
        f"select count(*), count(distinct u.item) from ({used.format(column='item')}) u"
    )
    n_units = items
    if (unit := units(store)) is not None:
        own = rows(f"select distinct u.item from ({used.format(column='item')}) u")
        n_units = len({int(unit[item]) for (item,) in own})
    score_items = score_units = 0
    if scores:
        ((score_items, score_units),) = store.rows(
            (of_scores := scope(store, selection, "scores")).sql(
                """select count(distinct v.item), count(distinct coalesce(-v.cluster, v.item))
                   from {usable} v"""
            ),
            of_scores.params,
        )
    sums = ", ".join(f"coalesce(sum(v.{name}), 0)::bigint" for name in ("n", *STATUSES[1:]))
    (counts,) = rows(f"select {sums} from {{tallies}} v")
    models = rows(
        f"""select m.name from models m where m.id in ({used.format(column="model_a")})
            or m.id in ({used.format(column="model_b")}) order by m.name"""
    )
    return Summary(
        votes=sum(judge.n for judge in judges),
        items=items,
        comparisons=comparisons,
        unparsed=sum(judge.failed for judge in judges),
        statuses={status: n for status, n in zip(STATUSES, counts, strict=True) if n},
        datasets=tuple(sorted(sets)),
        judges=judges,
        models=tuple(name for (name,) in models),
        categories=dict(sorted(categories.items())),
        simulated=any(sets.values()),
        scores=scores,
        rankings=rankings,
        units=n_units,
        score_items=score_items,
        score_units=score_units,
    )


@at_one_moment
def default_gold(store: Snapshot, selection: Selection) -> str:
    """What is taken for true where nobody said: `humans` where people vote on the data sets of a
    selection and none of their votes has gold, else `given`.

    Filters on judges and columns do not count, so that each view of a data set has the same gold.
    """
    selected = scope(store, Selection(datasets=selection.datasets))
    ((people, labelled),) = store.rows(
        selected.sql(
            """select max(case when v.human then 1 else 0 end) as people,
                      max(case when g.gold is not null then 1 else 0 end) as labelled
               from {tallies} v join {gold} g using (comparison) where v.n > 0"""
        ),
        selected.params,
    )
    return "humans" if people and not labelled else "given"


def _judges(store: Snapshot, selected: Scope) -> tuple[JudgeSummary, ...]:
    """Votes of each judge in order of name, failed ones too."""
    placed = " + ".join(f"v.{order}_{label}" for order in ORDERS for label in LABELS)
    counted = {
        **{name: f"v.{name}" for name in ("plus", "tie", "minus", "n")},
        "failed": MISSING,
        "labelled": "case when g.gold is not null then v.n else 0 end",
        "with_confidence": "v.stated",
        "with_position": placed,
    }
    tallies = store.query(
        selected.sql(
            """
            with r as (select d.judge, count(*) as n_runs
                       from (select distinct v.judge, v.run from {usable} v) d group by d.judge)
            select j.name, case when max(case when v.human then 1 else 0 end) = 1 then 'human'
                                else 'llm' end as rater_type,
                   {counted}, coalesce(max(r.n_runs), 0)::bigint as runs
            from {tallies} v join judges j on j.id = v.judge join {gold} g using (comparison)
            left join r on r.judge = v.judge group by j.name order by j.name""",
            counted=", ".join(f"sum({sql})::bigint as {name}_" for name, sql in counted.items()),
        ),
        selected.params,
    )
    names = [column.removesuffix("_") for column in tallies.column_names]
    return tuple(JudgeSummary(**row) for row in tallies.rename_columns(names).to_pylist())


def _others(
    store: Snapshot,
    selection: Selection,
    kind: Kind,
    categories: dict[str, int],
    sets: dict[str, bool],
) -> tuple[RaterCount, ...]:
    """Raters who gave judgements of a kind that is no vote; categories and data sets gain
    theirs.
    """
    try:
        selected = scope(store, selection, kind)
    except UnknownName:
        # A filter on a column that only votes have selects nothing else.
        return ()
    # A ranking has a row per candidate; counting distinct ids of ten million scores takes 6 s.
    judgements = "distinct v.id" if kind == "rankings" else "*"
    raters = store.query(
        f"""select j.name, case when max(case when v.human then 1 else 0 end) = 1 then 'human'
                                else 'llm' end as rater_type,
                   (count({judgements}) filter (v.status = 0))::bigint as n,
                   (count({judgements}) filter (v.status <> 0))::bigint as failed
            from (select * from {kind} v where {selected.filter}) v join judges j on j.id = v.judge
            group by j.name order by j.name""",
        selected.params,
    ).to_pylist()
    if raters:
        more_categories, more_sets = _about(store, selected)
        sets |= more_sets
        for category in more_categories:
            categories.setdefault(category, 0)
    return tuple(RaterCount(**row) for row in raters)


def _about(store: Snapshot, selected: Scope) -> tuple[dict[str, int], dict[str, bool]]:
    """Category ("" without one) → usable judgements, and data set → whether it is simulated."""
    rows, n = ("{tallies}", "v.n") if selected.kind == "votes" else ("{usable}", "1")
    categories = f"""select coalesce(k.name, '') as category, sum({n})::bigint as n_usable
                     from {rows} v left join categories k on k.id = v.category where {n} > 0
                     group by 1"""
    everything = (
        "{tallies} v" if selected.kind == "votes" else f"{selected.kind} v where {{filter}}"
    )
    sets = f"""select d.name, d.simulated from datasets d
               where d.id in (select v.dataset from {everything})"""
    counts = dict(store.rows(selected.sql(categories), selected.params))
    return counts, dict(store.rows(selected.sql(sets), selected.params))


@at_one_moment
def costs(store: Snapshot, selection: Selection) -> dict[str, float | None]:
    """Mean cost of one judge's verdict on a comparison: what its votes cost, failed ones too, over
    the comparisons with a usable vote. None for a judge with a vote whose cost is unknown: never
    taken for 0.

    In the currency of the column `cost`.
    """
    selected = scope(store, selection)
    totals = store.rows(
        f"""select j.name, sum(d.cost)::double as total, count(*) = count(d.cost) as known,
                   count(distinct v.comparison) filter (v.status = 0) as comparisons
            from votes v join judges j on j.id = v.judge left join details d on d.vote = v.id
            where {selected.filter} group by j.name order by j.name""",
        selected.params,
    )
    return {
        name: total / comparisons if priced and comparisons else None
        for name, total, priced, comparisons in totals
    }


@at_one_moment
def values(
    store: Snapshot, selection: Selection, column: str, *, limit: int | None = None
) -> tuple[str, ...]:
    """Distinct values of a canonical or extra column as text, numbers by size, without the missing
    one.
    """
    return _values(store, selection, column, limit)


def _values(
    store: Snapshot, selection: Selection, column: str, limit: int | None
) -> tuple[str, ...]:
    check_column(store, column)
    selected = scope(store, selection)
    value, joins = column_sql(column, extra="$column")
    in_cells = column in TOLD["tallies"]
    rows = selected.sql("{tallies}" if in_cells else "(select v.* from votes v where {filter})")
    values = store.rows(
        f"""select u.x::varchar as value from
              (select distinct {value} as x from {rows} w {" ".join(joins)}) u
            where u.x is not null group by 1 order by {"min(u.x)" if is_numeric(column) else "1"}
            {f"limit {int(limit)}" if limit else ""}""",
        selected.params | ({} if column in COLUMN_NAMES else {"column": column}),
    )
    return tuple(name for (name,) in values)


@at_one_moment
def filter_columns(store: Snapshot, datasets: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Columns to filter by: those with 2 to 200 distinct values in these data sets, extra columns
    last.
    """
    selection = Selection(datasets=datasets)
    selected = scope(store, selection)
    offered = [*FILTERS, *extra_columns(store, condition=selected.pool)]
    counted = {
        column: len(_values(store, selection, column, MOST_VALUES + 1)) for column in offered
    }
    return tuple(column for column, n in counted.items() if 2 <= n <= MOST_VALUES)


@at_one_moment
def comparison_names(store: Snapshot, selection: Selection) -> pa.Table:
    """Data set, item and models of every comparison with a usable vote; row k has code k in the
    counts.

    Columns dataset, item_id, model_a, model_b. Raises NoUsableVotes if there is none.
    """
    selected = scope(store, selection)
    names = store.query(
        selected.sql(
            """select d.name as dataset, i.name as item_id, a.name as model_a, b.name as model_b
            from comparisons c join datasets d on d.id = c.dataset join items i on i.id = c.item
            join models a on a.id = c.model_a join models b on b.id = c.model_b
            where c.id in (select v.comparison from {tallies} v where v.n > 0)
            order by c.id"""
        ),
        selected.params,
    )
    if names.num_rows == 0:
        raise nothing(store, selection)
    return names


SAID: dict[Kind, str] = {"votes": "verdict", "scores": "score", "rankings": "ranking"}
"""What a judgement of a kind lacks when its call failed or its cell is empty."""

_ITEM = re.compile(r"item (?:'[^']*'|\"[^\"]*\")")
_ROW = re.compile(r"\brow [\d,]+")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stored:
    """What is in a data set: `sentence` says how much, `figures` of how much of it what is known,
    `gaps` what it lacks and which answers that costs.
    """

    sentence: str
    gaps: tuple[str, ...]
    figures: str = ""


def stored(summary: Summary) -> Stored:
    """Say how much a selection holds, and what cannot be answered with it.

    Shares are of usable votes, as the verdict has them; 100 % means all of them.
    """
    kinds: tuple[tuple[Kind, tuple[RaterCount, ...]], ...] = (
        ("scores", summary.scores),
        ("rankings", summary.rankings),
    )
    others = [(kind, raters) for kind, raters in kinds if raters]
    if others and not summary.votes and not summary.unparsed:
        return Stored(
            sentence=" ".join(_other_judgements(*each) for each in others),
            gaps=(),
            figures="pages about votes on pairs of responses stay empty",
        )
    n = summary.votes
    labelled = sum(judge.labelled for judge in summary.judges)
    confident = sum(judge.with_confidence for judge in summary.judges)
    placed = sum(judge.with_position for judge in summary.judges)
    figures = (
        f"gold for {_share(labelled, n)} of the votes, order shown for {_share(placed, n)}, "
        f"confidence for {_share(confident, n)}",
        _left_out(summary.unparsed, "votes"),
        *(counted(sum(r.n for r in raters), FORMS[kind].unit) for kind, raters in others),
    )
    people = any(judge.rater_type == "human" for judge in summary.judges)
    gaps = []
    if not labelled:
        gaps.append(
            "No vote has gold: accuracy, calibration, confusion and aggregation cannot be judged. "
            "Add a file of gold labels (item_id, model_a, model_b, gold)"
            + (", or choose humans as gold in the sidebar." if people else ".")
        )
    if not confident:
        gaps.append("No vote has a confidence: there is no calibration to judge.")
    if not placed:
        gaps.append("No vote says which response was shown first: position bias cannot be tested.")
    return Stored(
        sentence=(
            f"{counted(n, 'vote')} of {counted(len(summary.judges), 'rater')} on "
            f"{counted(summary.comparisons, 'comparison')} of {counted(summary.items, 'item')} "
            f"{'is' if n == 1 else 'are'} in."
        ),
        gaps=tuple(gaps),
        figures=" · ".join(filter(None, figures)),
    )


def _other_judgements(kind: Kind, raters: tuple[RaterCount, ...]) -> str:
    n, failed = sum(rater.n for rater in raters), sum(rater.failed for rater in raters)
    are = "is" if n == 1 else "are"
    left_out = f"; {_left_out(failed, kind)}" if failed else ""
    judgements = f"{counted(n, FORMS[kind].unit)} of {counted(len(raters), 'rater')}"
    return f"{judgements} {are} in{left_out}: see the page {PAGES[kind]}."


def _left_out(n: int, kind: Kind) -> str:
    return f"{n:,} more without a {SAID[kind]}" if n else ""


def describe_import(reading: ImportResult) -> str:
    """Say what a file gave, before it is loaded."""
    n = reading.votes.num_rows
    left, unread = reading.n_rejected, reading.n_unread
    if reading.gold_only:
        sentence = f"{counted(n, 'gold label')} read from {counted(reading.rows, 'row')}"
    else:
        n = reading.units
        raters = len(reading.votes["judge"].unique())
        items = len(reading.votes["item_id"].unique())
        failed = without_result(reading)
        sentence = (
            f"{counted(n, FORMS[reading.kind].unit)} of {counted(raters, 'rater')} on "
            f"{counted(items, 'item')} read from {counted(reading.rows, 'row')}"
        )
        sentence += f", {failed:,} of them without a {SAID[reading.kind]}" if failed else ""
    sentence += f"; {left:,} rejected" if left else "; nothing was rejected"
    return (
        sentence
        + (f"; {counted(unread, 'confidence')} that could not be read left out" if unread else "")
        + (f"; {counted(reading.duplicates, 'duplicate')} left out" if reading.duplicates else "")
        + "."
    )


def without_result(reading: ImportResult) -> int:
    """How many votes, scores or rankings of a reading say nothing: failed calls and empty cells."""
    import pyarrow.compute as pc

    if reading.kind == "votes":
        return int(reading.votes["vote"].null_count)
    rows = reading.votes.filter(pc.not_equal(reading.votes["status"], "ok"))
    return int(rows.group_by(list(FORMS[reading.kind].key)).aggregate([]).num_rows)


def reject_reasons(reading: ImportResult) -> pd.DataFrame:
    """Rejects by column and reason, most frequent first, and whether their rows were kept; names of
    items and rows in a reason become `…`.
    """
    frame = reading.rejects.to_pandas()
    frame["reason"] = [_ROW.sub("row …", _ITEM.sub("item …", reason)) for reason in frame["reason"]]
    by = ["column", "reason", "kept"]
    counted = frame.groupby(by, as_index=False, sort=False).agg(
        n=("row", "size"), first_row=("row", "min")
    )
    ordered: pd.DataFrame = counted.sort_values(
        ["n", "first_row"], ascending=[False, True], ignore_index=True
    )
    return ordered[["n", "reason", "column", "first_row", "kept"]]


def counted(n: int, what: str) -> str:
    """A number of things in words: `1 vote`, `2,000 votes`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _share(part: int, n: int) -> str:
    return percent(part / n) if n else "none"


def without_verdict(
    store: Database, dataset: str, judges: Sequence[str], *, limit: int = 100
) -> pa.Table:
    """Replies of these judges that gave nothing usable: `status`, `n`, and the words, the commonest
    first.

    A failed call (`error`) has the provider's words, any other reply its own.
    """
    return store.query(
        """select status, count(*)::bigint as n, raw as words from replies
           where dataset = $dataset and judge in (select unnest($judges::varchar[])) and status
           <> 'ok'
           group by status, raw order by n desc, status, words limit $limit""",
        {"dataset": dataset, "judges": list(judges), "limit": limit},
    )
