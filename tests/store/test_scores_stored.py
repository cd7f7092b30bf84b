"""Scores of single answers in a store: their key, gold and scale, and answers of no named model."""

import io

import pandas as pd
import pytest

from core.errors import NoUsableVotes, UnknownName
from core.importers import read
from core.schema import SCORES, Selection
from core.store import Store
from core.store import vote_queries as queries
from core.store.export import read_store, write_file

HEAD = "dataset,item_id,model,judge,metric,run,score,gold,scale_low,scale_high,cluster,length"
ROWS = f"""{HEAD},lower_is_better,confidence,note
d,q1,,j,help,0,4,5,1,5,talk 1,120,,.9,a
d,q1,,j,help,1,3,5,1,5,talk 1,120,,,
d,q1,,j,noise,0,.2,.1,0,1,talk 1,120,1,,
d,q2,m,j,help,0,2,,1,5,,,,,
d,q2,,ann,help,0,1,,1,5,,,,,
e,q1,,j,help,0,,,1,5,,,,,
"""


def reading(text=ROWS, name="d.csv"):
    (result,) = read([(name, text.encode())])
    return result


def rows_of(store, **selection):
    return store.export(Selection(**selection), kind="scores").to_pandas()


def test_every_column_is_kept_and_a_missing_model_stays_missing(tmp_path):
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        assert store.load(reading()).loaded == 6
        kept = rows_of(store)
        store.check("scores")
    given = pd.read_csv(io.StringIO(ROWS))
    for name in (*HEAD.split(","), "lower_is_better", "confidence", "note"):
        a, b = (frame[name].astype(object) for frame in (given, kept))
        assert list(a.where(a.notna(), None)) == list(b.where(b.notna(), None)), name
    assert kept["status"].tolist() == ["ok"] * 5 + ["unparsed"]
    again = {set_.dataset: set_.reading for set_ in read_store(path)}
    with Store.open() as other:
        for one in again.values():
            other.load(one)
        pd.testing.assert_frame_equal(rows_of(other), kept)


def test_an_export_is_read_as_it_was_written(tmp_path):
    for name in ("s.csv.gz", "s.parquet"):
        with Store.open() as store, Store.open() as other:
            store.load(reading())
            table = store.export(kind="scores")
            assert tuple(table.column_names[: len(SCORES.names)]) == SCORES.names
            write_file(table, tmp_path / name)
            (back,) = read([(name, tmp_path / name)])
            assert (back.kind, back.n_rejected) == ("scores", 0)
            other.load(back)
            pd.testing.assert_frame_equal(rows_of(other), rows_of(store))


def test_a_score_is_one_of_its_answer_judge_metric_and_run():
    other = ROWS.replace("q1,,j,noise,0,.2", "q1,,j,noise,0,.3").replace("a\n", "a\n", 1)
    with Store.open() as store:
        store.load(reading())
        again = store.load(reading(other, "e.csv"))
        assert (again.loaded, again.duplicates, again.conflicts) == (0, 5, 1)
        noise = rows_of(store, where=(("metric", "noise"),))
        assert noise["score"].tolist() == [0.2]
        (other_reading,) = read([("f.csv", other.encode())])
        assert store.load(other_reading, on_conflict="replace").replaced == 1
        assert rows_of(store, where=(("metric", "noise"),))["score"].tolist() == [0.3]
        # A named model is another answer.
        named = reading(f"{HEAD}\nd,q1,m,j,help,0,4,5,1,5,,\n", "g.csv")
        assert store.load(named).loaded == 1


def test_what_is_selected_is_what_pandas_selects():
    with Store.open() as store:
        store.load(reading())
        frame = pd.read_csv(io.StringIO(ROWS))
        for selection, mask in (
            ({"datasets": ("d",)}, frame.dataset == "d"),
            ({"judges": ("ann",)}, frame.judge == "ann"),
            ({"where": (("metric", "help"), ("cluster", "talk 1"))},
             (frame.metric == "help") & (frame.cluster == "talk 1")),
            ({"where": (("gold", "5"),)}, frame.gold == 5),
            ({"where": (("model", ""),)}, frame.model.isna()),
        ):  # fmt: skip
            wanted = frame[mask]
            got = rows_of(store, **selection)
            assert got["item_id"].tolist() == wanted["item_id"].tolist(), selection
            assert got["metric"].tolist() == wanted["metric"].tolist()


def test_the_leaderboard_takes_one_metric_and_named_models_only():
    text = "item_id,model,judge,metric,score,lower_is_better\n" + "".join(
        f"{i},{model},j,{metric},{score},{int(metric == 'cost')}\n"
        for i in range(4)
        for model, score in (("x", 3), ("y", 4))
        for metric in ("help", "cost", "tone")
        if (metric, model, i) != ("tone", "x", 0)
    )
    with Store.open() as store:
        store.load(reading(text))
        store.load(reading("item_id,model,judge,score\n9,,j,1\n", "none.csv"))
        scores = queries.direct_scores(store, Selection())["j"]
        assert (len(scores), scores.models) == (8, ("x", "y"))
        assert len(queries.direct_scores(store, Selection(), metric="tone")["j"]) == 7
        with pytest.raises(UnknownName, match="No metric named 'cost'"):
            queries.direct_scores(store, Selection(), metric="cost")
        with pytest.raises(NoUsableVotes):
            queries.direct_scores(store, Selection(datasets=("none",)))


def test_a_deleted_data_set_takes_its_metrics_with_it():
    with Store.open() as store:
        store.load(reading())
        store.delete_dataset("d")
        assert store.rows("select name from metrics") == [("help",)]
        assert store.rows("select count(*) from texts") == [(0,)]
