"""The page Label: one card at a time, blind, and what the labels show afterwards."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from apps import all_text, new_app, opened
from patience import LONG
from streamlit.testing.v1 import AppTest

from core.importers import read
from core.labelling.desk import LABELS_BEFORE_RESULTS, Desk, open_desk
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

JUDGES = ("careful-judge", "coin-judge")


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory):
    rng = np.random.default_rng(3)
    lines = ["item_id,model_a,model_b,judge,position,vote,prompt,response_a,response_b"]
    for item in range(60):
        better = rng.choice([1, -1])
        texts = ("fine <i>words</i>", "poor words")[:: int(better)]
        for judge, right in zip(JUDGES, (0.9, 0.5), strict=True):
            vote = better if rng.random() < right else -better
            lines.append(f"q{item:02d},alpha,beta,{judge},ab,{vote},Ask {item},{','.join(texts)}")
    path = tmp_path_factory.mktemp("label") / "unlabelled.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def unlabelled(votes_file, tmp_path, monkeypatch):
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        for reading in read([("unlabelled.csv", votes_file)]):
            store.load(reading)
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    return path


def better(app: AppTest) -> str:
    """The key of the better side, as one reads it."""
    left = next(html.proto.body for html in app.get("html") if "words" in html.proto.body)
    return "1" if "fine" in left else "2"


def press(app: AppTest, key: str) -> None:
    next(b for b in app.button if b.key.startswith(f"label-{key}-")).click()
    app.run()


def test_labels_decide_and_are_gold_everywhere(unlabelled, monkeypatch):
    app = opened(new_app(), "label", person="ann")
    assert not any(judge in all_text(app) for judge in JUDGES)
    assert {box.label for box in app.sidebar.selectbox} == {"Data set"}
    assert not app.sidebar.multiselect
    bodies = [html.proto.body for html in app.get("html") if "fine" in html.proto.body]
    assert bodies
    assert all("<i>" not in body for body in bodies)
    for _ in range(3):
        before = {b.key for b in app.button if b.key.startswith("label-")}
        press(app, better(app))
        # A press carries the card that it is for.
        after = {b.key for b in app.button if b.key.startswith("label-")}
        assert before.isdisjoint(after)
    assert "3 of 60 labels" in all_text(app)
    press(app, "u")
    assert "2 of 60 labels" in all_text(app)
    press(app, "s")
    press(app, "x")
    press(app, "b")
    assert "4 of 60 labels" in all_text(app)
    assert "place" in app.query_params
    from pages.shared import cached

    store = cached.get_store()
    desk = open_desk(store, "unlabelled")
    said = [desk.session.answer_of("ann", place) for place in range(60)]
    assert sorted(line.answer for line in said if line)[-2:] == ["b", "x"]
    while desk.session.count("ann") < LABELS_BEFORE_RESULTS + 5:
        card = desk.cards("ann")[0]
        desk.answer("ann", card, "1" if "fine" in card.texts[0] else "2")
    seen = []
    shown = Desk.shown

    def watched(self, **options):
        seen.append(threading.current_thread().name)
        return shown(self, **options)

    monkeypatch.setattr(Desk, "shown", watched)
    patience = time.monotonic() + LONG
    while JUDGES[0] not in all_text(app.run()) and time.monotonic() < patience:
        time.sleep(0.1)
    assert JUDGES[0] in all_text(app)
    # No card waits for it, and it is looked at once for all who label.
    assert len(seen) == 1
    assert seen[0].startswith("beside")
    summary = queries.summary(store, Selection())
    labelled = {judge.name: judge.labelled for judge in summary.judges}
    assert labelled[JUDGES[0]] == desk.session.count("ann") - 1
    assert [j.rater_type for j in summary.judges if j.name == "ann"] == ["human"]


def test_a_press_on_a_card_of_a_labelling_that_is_no_more_is_refused_in_words(
    unlabelled, votes_file
):
    """The data set was deleted, loaded again and is labelled anew, by somebody else."""
    from pages.shared import cached

    app = opened(new_app(), "label", person="ann")
    store = cached.get_store()
    store.delete_dataset("unlabelled")
    for reading in read([("unlabelled.csv", votes_file)]):
        store.load(reading)
    desk = open_desk(store, "unlabelled", seed=99)
    before = store.export().to_pylist()
    press(app, "1")
    assert not app.exception
    assert "Not kept: the card was of an earlier labelling" in all_text(app)
    assert store.export().to_pylist() == before
    # The card that is shown now is of the labelling that there is.
    assert desk.cards("ann")[0].prompt in all_text(app)
    press(app, "1")
    assert "Not kept" not in all_text(app)
    assert [row["judge"] for row in store.export().to_pylist()].count("ann") == 1
