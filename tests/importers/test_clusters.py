"""Intervals count what is independent: conversations and source questions, not their items."""

import random

import pytest

import core
from core.errors import UnknownName
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

QUESTIONS, PARAPHRASES = 15, 20


def paraphrased(column="source_question", items=PARAPHRASES, seed=5):
    """Judged pairs in both orders, alike within a question: 12 or 13 of 15 questions are right."""
    draw = random.Random(seed)
    rows = []
    for question in range(QUESTIONS):
        right = question % 7 != 3
        for item in range(items):
            gold = draw.choice((1, -1))
            for position in ("ab", "ba"):
                rows.append(
                    {
                        "item_id": f"q{question}_{item}",
                        "model_a": "m1",
                        "model_b": "m2",
                        "judge": "j",
                        "vote": gold if right else -gold,
                        "position": position,
                        "gold": gold,
                        column: f"question {question}",
                    }
                )
    return rows


def right_of(audit):
    (accuracy,) = (r for r in audit.judges[0].checks if r.check == "accuracy")
    return accuracy.interval


@pytest.mark.parametrize("column", ["source_question", "conversation_id", "Thread", "cluster"])
def test_intervals_of_votes_count_clusters(column):
    audit = core.audit(paraphrased(column), splits=0)
    right = right_of(audit)
    assert right.n == QUESTIONS
    assert right.high - right.low > 0.3
    assert "intervals count 15 clusters (300 items)" in str(audit)


def test_clusters_can_be_named_and_undone():
    by_name = core.audit(paraphrased("family"), cluster="family", splits=0)
    assert right_of(by_name).n == QUESTIONS
    assert right_of(core.audit(paraphrased("family"), splits=0)).n == 300
    undone = core.audit(paraphrased(), cluster="none", splits=0)
    assert right_of(undone).n == 300
    assert "clusters" not in str(undone)
    with pytest.raises(UnknownName, match="no such column"):
        core.audit(paraphrased(), cluster="famliy", splits=0)


def test_a_column_that_names_items_is_no_cluster():
    """One item a value, or few values."""
    assert right_of(core.audit(paraphrased(items=1), splits=0)).n == QUESTIONS
    rows = [row | {"session": "one"} for row in paraphrased("family")]
    assert right_of(core.audit(rows, splits=0)).n == 300


def test_the_value_is_that_of_units_and_labels_of_clusters_are_kept(tmp_path):
    rows = paraphrased("cluster")
    with Store.open(tmp_path / "store.duckdb") as store:
        for reading in core.importers.read([("votes.csv", as_csv(rows))]):
            store.load(reading)
        exported = store.export()
        assert exported["cluster"].to_pylist() == [row["cluster"] for row in rows]
        (votes,) = queries.vote_counts(store, Selection()).values()
        assert len({*votes.item.tolist()}) == QUESTIONS
        (outputs,) = queries.outputs(store, Selection()).values()
        assert len({*outputs.item.tolist()}) == QUESTIONS


def as_csv(rows):
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode()


def test_equal_texts_under_several_ids_are_one_unit():
    draw = random.Random(1)
    rows = []
    for question in range(60):
        for copy in range(5):
            good = draw.random() < 0.7
            rows.append(
                {
                    "item_id": f"i{question}_{copy}",
                    "judge": "j",
                    "score": "pass" if good == (draw.random() < 0.85) else "fail",
                    "human_score": "pass" if good else "fail",
                    "prompt": f"Question {question}?" if copy else f" question  {question}?",
                    "response": f"Answer {question}",
                }
            )
    audit = core.audit(rows)
    assert "300 items have 60 different texts" in " ".join(audit.readings[0].notes)
    assert "60 clusters (300 scored items)" in str(audit)
    assert core.audit(rows, cluster="none").summary.score_units == 300
