"""Every query of the store keeps to the SQL that other engines translate: see
`core.store.selection`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from core.errors import NoUsableVotes
from core.importers import read
from core.questions.boards import ask as model_queries
from core.questions.scores import ask as score_queries
from core.schema import Selection
from core.store import Store, browse, marks, vote_queries
from core.store.connection import Snapshot
from core.store.marks import Mark

VOTES = b"""item_id,model_a,model_b,category,judge,run,position,vote,confidence,gold,rater_type,prompt,\
temperature,lang,confidence_kind
1,a,b,x,j,0,ab,1,.9,1,llm,p,.5,en,self
1,a,b,x,j,0,ba,1,.8,1,llm,p,.5,en,multi
1,a,b,x,j,1,ab,-1,.7,1,llm,p,.7,de,self
1,a,b,x,j,1,ba,1,.7,1,llm,p,.7,de,self
1,a,b,x,k,0,ab,1,.7,1,human,p,,de,
2,b,c,y,j,0,ab,0,,0,llm,q,.5,en,
"""
SCORES = b"""item_id,model,judge,score,lang,gold,rater_type
1,a,j,3,en,,llm
1,b,j,4,de,,llm
1,b,k,4,de,,human
2,b,j,2,de,3,llm
"""
RANKINGS = b"item_id,judge,candidate,slot,rank\n1,j,a,0,1\n1,j,b,1,2\n"
UNPORTABLE = {"any_value", "arg_min", "bool_and", "bool_or", "list", "list_sort", "unnest"}


@pytest.fixture(scope="module")
def statements() -> list[str]:
    """What all queries send, under each way of selecting."""
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch, Store.open(None) as store:
        for name, text in (("votes", VOTES), ("scores", SCORES), ("rankings", RANKINGS)):
            store.load(read([(f"{name}.csv", text)])[0], dataset="d")
        for method in ("query", "rows"):
            patch.setattr(Snapshot, method, _noting(getattr(Snapshot, method), seen))
        _run(store)
        # What is read here is counted there.
        patch.setattr(Snapshot, "others", ("lang",))
        _run(store)
    return list(dict.fromkeys(seen))


def _noting(method: Any, seen: list[str]) -> Any:
    def noted(self: Snapshot, sql: str, params: Any = None) -> Any:
        seen.append(sql)
        return method(self, sql, params)

    return noted


def _run(store: Store) -> None:
    for selection in (
        Selection(),
        Selection(gold="humans", datasets=("d",), where=(("lang", "de"), ("category", "x"))),
        Selection(gold="k", judges=("j",), rater_types=("llm",), where=(("run", "0"),)),
    ):
        for query in (
            *(vote_queries.vote_counts, vote_queries.order_counts, vote_queries.length_counts),
            *(vote_queries.confidence_counts, vote_queries.weighed_votes, vote_queries.outcomes),
            *(vote_queries.first_votes, vote_queries.positions),
            *(model_queries.ratings, model_queries.pair_doubts),
            *(browse.summary, browse.costs, browse.comparison_names),
        ):
            query(store, selection)
        vote_queries.outcomes(store, selection, rule="both_orders")
        model_queries.pair_scores(store, selection, pooled=True)
        model_queries.ratings(store, selection, anchors=("a",))
        for column in ("category", "temperature", "lang", "prompt", "gold", "model_a"):
            vote_queries.vote_counts_by(store, selection, column)
        for mark in (
            Mark(judge="j", confidence=(0, 1), correct=True),
            Mark(counts=(1, 1, 0), label=1, slot="first", vote=1, gold=1),
            Mark(flip="same", rule="both_orders", models=("a", "b"), category="x", items=("1",)),
            Mark(comparisons=(0,)),
        ):
            # What is sent counts here, not whether a vote meets it.
            with suppress(NoUsableVotes):
                marks.votes_behind(store, selection, mark=mark)
        store.export(selection)
    for rows in (Selection(), Selection(where=(("lang", "de"), ("score", "4")))):
        vote_queries.direct_scores(store, rows)
        score_queries.scored_metrics(store, rows)
        for gold in ("given", "humans", "k"):
            asked = replace(rows, gold=gold)
            score_queries.score_answers(store, asked, "j", "score")
        score_queries.score_runs(store, rows, "j", "score")
        store.export(rows, kind="scores")
    vote_queries.list_rankings(store, Selection(where=(("rank", "1"),)))
    vote_queries.ranked_items(store, Selection())
    store.export(kind="rankings")
    store.datasets()
    browse.filter_columns(store)
    browse.values(store, Selection(), "lang", limit=1)


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of a parsed statement."""
    if isinstance(tree, dict):
        yield tree
    for child in (
        tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    ):
        yield from nodes(child)


def own_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """The same without those of subqueries."""
    if isinstance(tree, dict):
        if tree.get("type") in ("SELECT_NODE", "SET_OPERATION_NODE"):
            return
        yield tree
    for child in (
        tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    ):
        yield from own_nodes(child)


def parsed(sql: str) -> dict[str, Any]:
    found = json.loads(
        duckdb.execute("select json_serialize_sql($sql)", {"sql": sql}).fetchall()[0][0]
    )
    assert not found["error"], f"{found}: {sql}"
    return found


def problems(sql: str) -> Iterator[str]:
    for node in nodes(parsed(sql)):
        if node.get("function_name") in UNPORTABLE:
            yield f"{node['function_name']}()"
        if (
            node.get("type") == "SUBQUERY"
            and "subquery" in node
            and node.get("class") != "SUBQUERY"
        ):
            yield from [] if node["alias"] else ["a subquery without an alias"]
        if node.get("class") == "STAR" and (node["exclude_list"] or node["replace_list"]):
            yield "* without some columns"
        if node.get("type") == "SELECT_NODE":
            if node["qualify"]:
                yield "qualify"
            for made in node["select_list"]:
                used = {
                    n["column_names"][-1] for n in own_nodes(made) if n.get("class") == "COLUMN_REF"
                }
                if made["class"] != "COLUMN_REF" and made["alias"] in used:
                    yield f"{made['alias']} is computed from {made['alias']}"


@pytest.mark.thorough
def test_queries_keep_to_the_portable_subset(statements: list[str]) -> None:
    assert len(statements) > 100
    assert {sql: found for sql in statements if (found := list(problems(sql)))} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "select any_value(x) as y from t",
        "select y from (select 1 as y)",
        "select sum(x) as x from t",
        "select * exclude (x) from t",
        "with a as (select y from (select coalesce(u.y, 0) as y from u) b) select y from a",
    ],
)
def test_what_is_not_portable_is_found(sql: str) -> None:
    assert list(problems(sql))
