"""From a `Selection` to SQL: which rows, which gold, and what to say where nothing is left.

No computed column has the name of an input column of its select: `fetch` reads `gold_` as `gold`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from ..errors import NoUsableVotes, UnknownName
from ..records import NO_GOLD, NO_SIDE
from ..schema import FORMS, Kind, Selection, perturbed
from . import parts
from .cells import CELLS, Cell
from .schema import CODES, LAYOUTS, decode

if TYPE_CHECKING:
    from .connection import Database, Snapshot


P = ParamSpec("P")
R = TypeVar("R")

PAGES: dict[Kind, str] = {"votes": "Verdict", "scores": "Scores", "rankings": "Listwise consensus"}
"""Where each kind of judgement is shown."""

SIDES = """(
    select d.vote as id, sign(coalesce(d.length_a - d.length_b, length(a.text) - length(b.text)))
    as side
    from details d left join texts a on a.id = d.response_a left join texts b on b.id =
    d.response_b)"""
"""Longer response of each vote with details: 1 is A, -1 B, 0 neither; null where a length is
unknown.
"""
BOTH_ORDERS = """(
    select v.judge, v.comparison, v.run, max(v.vote) - min(v.vote) as apart, sign(sum(v.vote)) as
    verdict,
           case when count({stated}) = 2 then sum({stated}) / 2 end as stated
    from {usable} v where v.position <> 0 group by v.judge, v.comparison, v.run having count(*) =
    2)"""
"""One row per run of a comparison voted in both orders: its verdict and mean confidence (see
`outcomes`).
"""


def at_one_moment(
    query: Callable[Concatenate[Snapshot, P], R],
) -> Callable[Concatenate[Database | Snapshot, P], R]:
    """Let a query of several statements see one state of the store, whatever is loaded
    meanwhile.
    """

    @wraps(query)
    def answer(store: Database | Snapshot, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with store.snapshot() as moment:
            return query(moment, *args, **kwargs)

    return answer


NAMED = {"dataset": ("datasets", "ds"), "judge": ("judges", "jd"), "category": ("categories", "ct")}
"""Columns that hold a number of a dictionary: the dictionary, and what `column_sql` calls it."""
COMPARED = frozenset(("item_id", "model_a", "model_b", "gold"))
"""Columns of a vote that its comparison has."""
TOLD: dict[Cell, frozenset[str]] = {
    "tallies": COMPARED | {"dataset", "judge", "category", "rater_type"},
    "runs": COMPARED | {"dataset", "judge"},
}
"""Columns by which the votes behind a cell can be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """SQL pieces of a checked selection of one kind: conditions on a row `v`, and values for
    `params`.

    filter : all conditions.  pool : only that on the data sets.  open : that nothing is sealed.
    cells : cells that can tell all conditions: what they have counted need not be counted again.
    gold : subquery (comparison, item, dataset, model_a, model_b, gold) of the selected data sets;
        votes only.
    judges : number of a judge → name.
    as_one : SQL behind `v.*` by which runs of several data sets on one comparison are counted
        together.
    stated : SQL of the confidence of a row `v`; of one kind for each judge after `of_one_kind`.
    kinds : number of a judge → kinds of its confidences, the one that `stated` keeps first, None
        for confidences whose kind is not named; empty before `of_one_kind`.
    """

    kind: Kind
    filter: str
    pool: str
    cells: frozenset[Cell]
    gold: str
    params: dict[str, str]
    judges: dict[int, str]
    open: str = "true"
    stated: str = "v.confidence"
    as_one: str = ""
    kinds: Mapping[int, tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def key(self) -> Hashable:
        """Equal for two scopes of one state of the store that select the same rows."""
        return self.kind, self.filter, tuple(sorted(self.params.items()))

    def sql(self, template: str, **parts: str) -> str:
        """A statement about this scope.

        template : SQL with `{usable}` for the selected rows with status ok, `{tallies}` and
            `{runs}` for the cells of the selected votes, `{everyone}` for the tallies of the data
            sets, `{gold}`, `{filter}`, `{stated}`, `{sides}` (`SIDES`), `{NO_GOLD}`, `{NO_SIDE}`,
            and the parts.
        """
        cells = {name: self._cell(name) for name in CELLS} if self.kind == "votes" else {}
        usable = f"(select v.* from {self.kind} v where v.status = 0 and {self.filter})"
        return template.format(
            usable=usable,
            everyone=f"(select v.* from tallies v where {self.pool})",
            gold=self.gold,
            filter=self.filter,
            stated=self.stated,
            sides=SIDES,
            NO_GOLD=NO_GOLD,
            NO_SIDE=NO_SIDE,
            **cells,
            **parts,
        )

    def _cell(self, name: Cell) -> str:
        if name in self.cells:
            return f"(select v.* from {name} v where {self.filter})"
        votes = f"(select v.* {self.as_one} from votes v where {self.filter})"
        return f"({CELLS[name].format(votes=votes)})"


def scope(
    store: Snapshot,
    selection: Selection,
    kind: Kind = "votes",
    *,
    with_perturbed: bool = False,
    listed: bool = False,
) -> Scope:
    """Check a selection against the store and write its SQL.

    A ranking is selected whole, if any of its rows meets each condition.

    with_perturbed : also votes on perturbed items, whether or not the selection names them.
    listed : judgements one by one, so that nothing sealed may be among them.

    Raises UnknownName: a data set, judge, rater type or kind of gold that does not exist, or a
    column that this kind of judgement does not have.
    """
    judges = _numbers(store, "judges")
    pool = _pool(store, selection)
    if not with_perturbed and (apart := _perturbed(judges, selection)):
        pool = f"{'' if pool == 'true' else f'{pool} and '}not {_one_of('v.judge', apart)}"
    filters = [pool, *_raters(selection, judges)]
    sealed = None if selection.sealed else parts.condition(store, kind, judges, listed=listed)
    filters += [sealed] if sealed is not None else []
    conditioned = {column for column, _ in selection.where} | (
        {"rater_type"} if selection.rater_types else set()
    )
    params: dict[str, str] = {}
    for place, (column, value) in enumerate(selection.where):
        if column not in FORMS[kind].names:
            check_column(store, column, kind)
            params[f"extra{place}"] = column
        params[f"value{place}"] = value
        filters.append(_condition(column, kind, place))
    as_one = shares_items(store)
    counted = TOLD.items() - ({("runs", TOLD["runs"])} if as_one else set())
    return Scope(
        kind=kind,
        filter=" and ".join(part for part in filters if part != "true") or "true",
        pool=pool,
        open=sealed or "true",
        cells=frozenset(name for name, columns in counted if conditioned <= columns),
        as_one="replace (0 as dataset)" if as_one else "",
        gold=_gold(store, selection, judges) if kind == "votes" else "",
        params=params,
        judges={number: name for name, number in judges.items()},
    )


def of_one_kind(store: Snapshot, selected: Scope) -> Scope:
    """The scope with confidences of one kind for each judge: that with most items, others as if not
    stated.

    What a judge says of itself, how often its votes agree and what its tokens weigh are different
    quantities: an ECE over two of them together belongs to neither. Most items are those with gold,
    then all, then the first in the order of `CONFIDENCE_KINDS`. Filter `confidence_kind` for
    another.
    """
    kinds = store.once(
        "kinds", (selected.key, selected.gold), lambda: _kinds_by_judge(store, selected)
    )
    number = "coalesce(v.confidence_kind, -1)"
    several = [judge for judge, of in kinds.items() if len(of) > 1]
    others = " or ".join(
        f"(v.judge = {judge} and {number} <> {kinds[judge][0]})" for judge in several
    )
    names = CODES["confidence_kind"]
    return replace(
        selected,
        stated=f"case when not ({others}) then v.confidence end" if others else selected.stated,
        kinds={judge: tuple(names.get(kind) for kind in of) for judge, of in kinds.items()},
    )


def _kinds_by_judge(store: Snapshot, selected: Scope) -> dict[int, list[int]]:
    """Number of a judge → kinds of its confidences, that with most items first."""
    number = "coalesce(v.confidence_kind, -1)"
    spans = store.rows(
        selected.sql(
            """select v.judge, min({number}) as lowest, max({number}) as highest
               from {usable} v where v.confidence is not null group by v.judge order by v.judge""",
            number=number,
        ),
        selected.params,
    )
    kinds = {judge: [lowest] for judge, lowest, _ in spans}
    several = [judge for judge, lowest, highest in spans if lowest < highest]
    if several:
        counted = store.rows(
            selected.sql(
                """select v.judge, {number} as number,
                          count(distinct case when g.gold is not null then g.item end) as n_graded,
                          count(distinct g.item) as n_items
                   from {usable} v join {gold} g using (comparison)
                   where v.confidence is not null and {those} group by v.judge, {number}""",
                number=number,
                those=_one_of("v.judge", several),
            ),
            selected.params,
        )
        kinds |= {judge: [] for judge in several}
        for judge, kind, *_ in sorted(counted, key=lambda row: (-row[2], -row[3], row[1])):
            kinds[judge].append(kind)
    return kinds


def column_sql(
    column: str, kind: Kind = "votes", extra: str = "$extra"
) -> tuple[str, tuple[str, ...]]:
    """Value of a canonical or extra column for a row `w`, and the joins it needs.

    The name of an extra column is read from the parameter `extra`: it never becomes part of the
    statement.
    """
    layout, details = LAYOUTS[kind], LAYOUTS[kind].details
    about, compared = (
        ("co", ("join comparisons co on co.id = w.comparison",)) if details else ("w", ())
    )
    home, detailed = ("de", ("left join details de on de.vote = w.id",)) if details else ("w", ())
    if column not in FORMS[kind].names:
        return f"{home}.extra[{extra}]", detailed
    if column in CODES:
        return decode(f"w.{column}", CODES[column]), ()
    if column in layout.judged:
        # Of a score the model may be missing.
        outer = "left join" if kind == "scores" else "join"
        return f"m_{column}.name", (
            *compared,
            f"{outer} models m_{column} on m_{column}.id = {about}.{column}",
        )
    if column in layout.texts:
        return f"t_{column}.text", (
            *detailed,
            f"left join texts t_{column} on t_{column}.id = {home}.{column}",
        )
    if column in details:
        return f"{home}.{column}", detailed
    return {
        "dataset": ("ds.name", ("join datasets ds on ds.id = w.dataset",)),
        "judge": ("jd.name", ("join judges jd on jd.id = w.judge",)),
        "category": ("ct.name", ("left join categories ct on ct.id = w.category",)),
        "metric": ("mt.name", ("join metrics mt on mt.id = w.metric",)),
        "item_id": ("it.name", (*compared, f"join items it on it.id = {about}.item")),
        "gold": (f"{about}.gold", compared),
        "rater_type": ("(case when w.human then 'human' else 'llm' end)", ()),
    }.get(column, (f"w.{column}", ()))


def is_numeric(column: str, kind: Kind = "votes") -> bool:
    """Whether a column is a canonical one of numbers."""
    return any(each.name == column and each.kind != "text" for each in FORMS[kind].columns)


DATED = re.compile(r"date|time|day|month|year|created|updated|(?:^|_)(?:at|when)$", re.IGNORECASE)
"""What a further column is called that may have dates."""


def extra_columns(
    store: Snapshot,
    kind: Kind = "votes",
    condition: str = "true",
    params: dict[str, str] | None = None,
) -> list[str]:
    """Names, in order, of the columns outside the canonical form that rows `v` under a condition
    have.
    """
    where = "details d join votes v on v.id = d.vote" if kind == "votes" else f"{kind} v"
    extra = "d.extra" if kind == "votes" else "v.extra"
    rows = store.query(
        f"select distinct map_keys({extra}) as names from {where} where {extra} is not null and "
        f"{condition}",
        params,
    )
    return sorted({name for names in rows["names"].to_pylist() for name in names})


def check_column(store: Snapshot, column: str, kind: Kind = "votes") -> None:
    """Raise UnknownName unless judgements of a kind have this column, canonical or extra."""
    if column not in FORMS[kind].names and column not in (extras := extra_columns(store, kind)):
        raise UnknownName(unknown("column", column, [*FORMS[kind].names, *extras]))


def _numbers(store: Snapshot, table: str) -> dict[str, int]:
    """Name → number of a dictionary of the store."""
    return dict(store.rows(f"select name, id from {table} order by name"))


def pick(kind: str, wanted: tuple[str, ...], ids: dict[str, int]) -> list[int]:
    """Numbers of names; raises UnknownName for one that is not there."""
    for name in wanted:
        if name not in ids:
            raise UnknownName(unknown(kind, name, list(ids)))
    return [ids[name] for name in wanted]


def unknown(kind: str, name: str, names: list[str]) -> str:
    """Sentence that names what does not exist and what is near it."""
    inside = [each for each in names if name.casefold() in each.casefold()] if name else []
    near = list(
        dict.fromkeys([*inside[:5], *difflib.get_close_matches(name, names, n=5, cutoff=0.5)])
    )[:5]
    if near:
        return f"No {kind} named {name!r}; did you mean {' or '.join(repr(each) for each in near)}?"
    shown = ", ".join(repr(each) for each in names[:20]) + (", …" if len(names) > 20 else "")
    return (
        f"No {kind} named {name!r}; there {'is' if len(names) == 1 else 'are'}: {shown or 'none'}"
    )


def _one_of(column: str, numbers: list[int]) -> str:
    return f"{column} in ({', '.join(map(str, numbers))})" if numbers else "false"


def _pool(store: Snapshot, selection: Selection) -> str:
    """SQL that keeps the selected data sets of a table `v`; raises UnknownName for one that is not
    there.
    """
    if selection.datasets is None:
        return "true"
    return _one_of("v.dataset", pick("data set", selection.datasets, _numbers(store, "datasets")))


def _raters(selection: Selection, judges: dict[str, int]) -> Iterator[str]:
    """SQL conditions on judge and rater type of a table `v`; raises UnknownName."""
    if selection.judges is not None:
        yield _one_of("v.judge", pick("judge", selection.judges, judges))
    if selection.rater_types is not None:
        pick("rater type", selection.rater_types, {"llm": 0, "human": 1})
        kinds = set(selection.rater_types)
        if len(kinds) < 2:
            yield {"llm": "not v.human", "human": "v.human"}[kinds.pop()] if kinds else "false"


def _condition(column: str, kind: Kind, place: int) -> str:
    """`column = value` for a row `v`; an empty value means that the cell is missing."""
    value, joins = column_sql(column, kind, f"$extra{place}")
    test = f"coalesce({value}::varchar, '') = $value{place}"
    if is_numeric(column, kind):
        # 0.70 and +1 are what people type for 0.7 and 1.
        test = f"({test} or {value} = try_cast($value{place} as double))"
    if not joins and not LAYOUTS[kind].part:
        return test.replace("w.", "v.")
    if kind == "votes" and column in COMPARED:
        return (
            f"v.comparison in (select co.id from comparisons co {' '.join(joins[1:])} where {test})"
        )
    if kind == "votes" and column in NAMED:
        table, alias = NAMED[column]
        named = f"v.{column} in (select {alias}.id from {table} {alias} where {test})"
        return f"({named} or (v.{column} is null and $value{place} = ''))"
    return f"v.id in (select w.id from {kind} w {' '.join(joins)} where {test})"


def _perturbed(judges: Mapping[str, int], selection: Selection) -> list[int]:
    """Numbers of the names under which votes on perturbed items are, but for those that are
    selected.
    """
    named = selection.judges or ()
    return [number for name, number in judges.items() if name not in named and perturbed(name)]


def shares_items(store: Snapshot) -> bool:
    """Whether a data set is about items of another one (see `load.name_spaces`)."""
    lacking = "select count(*) from datasets where id not in (select dataset from items)"
    return bool(store.rows(lacking)[0][0])


def _gold(store: Snapshot, selection: Selection, judges: dict[str, int]) -> str:
    gold, pool = selection.gold, _pool(store, selection)
    compared = pool.replace("v.", "c.")
    if pool != "true" and shares_items(store):
        compared = f"c.id in (select v.comparison from tallies v where {pool})"
    columns = "c.id as comparison, c.item, c.dataset, c.model_a, c.model_b"
    if gold is None or gold == "given":
        return f"(select {columns}, c.gold from comparisons c where {compared})"
    if gold == "humans":
        who = "t.human"
    elif gold in judges:
        who = f"t.judge = {judges[gold]}"
    else:
        raise UnknownName(
            unknown("gold", gold, ["given", "humans", *judges])
            + " (gold is 'given', 'humans' or the name of a judge)"
        )
    # No unique mode is 0 (docs/methods.md §0 and §2).
    rated = f"t.n > 0 and {who} and {pool.replace('v.', 't.')}"
    return f"""(select {columns}, m.mode as gold from comparisons c left join (
        select s.comparison,
               (case when s.n_plus > s.n_tie and s.n_plus > s.n_minus then 1
                     when s.n_minus > s.n_plus and s.n_minus > s.n_tie then -1 else 0
                     end)::tinyint as mode
        from (select t.comparison, sum(t.plus) as n_plus, sum(t.tie) as n_tie, sum(t.minus) as
        n_minus
              from tallies t where {rated} group by t.comparison) s) m
        on m.comparison = c.id where {compared})"""


def nothing(store: Snapshot, selection: Selection, kind: Kind = "votes") -> NoUsableVotes:
    """The error for a selection without a usable judgement of a kind: its filters, and what else is
    there.
    """
    parts = []
    for named, values in (
        ("data set", selection.datasets),
        ("judge", selection.judges),
        ("rater", selection.rater_types),
    ):
        if values is not None:
            parts.append(f"{named} {' or '.join(values) or '(none)'}")
    parts += [f"{column} = {value}" for column, value in selection.where]
    missing = (
        f"No usable {FORMS[kind].unit}{' with ' + ', '.join(parts) if parts else ' in the store'}"
    )
    count = f"select count(distinct v.id) from {{}} v where {_pool(store, selection)}"
    others = [
        on_page(form.kind, n)
        for form in FORMS.values()
        if form.kind != kind and (n := store.rows(count.format(form.kind))[0][0])
    ]
    return NoUsableVotes(". ".join([missing, " ".join(others)]) if others else missing)


def on_page(kind: Kind, n: int) -> str:
    """How many judgements of a kind there are, and the page about them."""
    form = FORMS[kind]
    return (
        f"There {'is' if n == 1 else 'are'} {n:,} {form.unit if n == 1 else form.units}, "
        f"which the page {PAGES[kind]} shows."
    )
