"""Direct scores on the Leaderboard page: core's numbers beside votes, alone, and for one model
only.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from apps import OPENED, new_app, opened, texts
from places import REPOSITORY

from core.importers import read
from core.questions.boards import score_words as score_sentences
from core.questions.boards.anchored import board
from core.questions.boards.judge_dispersion import dispersion
from core.questions.boards.score_board import score_boards
from core.questions.boards.score_spread import score_abstention
from core.questions.boards.scores import direct_statistics
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

HOSTILE = "<img src=x onerror=alert(1)>"
DEMO = "demo (simulated)"


# ---- the page


def test_the_tab_says_what_core_says(app, store_path):
    page = opened(app, "leaderboard", tab="Direct scores", dataset=DEMO)
    anchor = page.selectbox(key="anchor").value
    with Store.open(store_path) as store:
        selection = Selection(datasets=(DEMO,))
        judged = queries.direct_scores(store, selection)
        pairs = queries.pair_scores(store, selection)
    boards = score_boards(judged, anchor)
    votes = {name: board(known, anchor) for name, known in pairs.items()}
    beside = dispersion(boards, votes, anchor, rng=np.random.default_rng(0))
    expected = f"{score_sentences.leader(boards.mean)} {score_sentences.beside_votes(beside)}"
    assert expected in texts(page)
    short = score_sentences.scores_answer(boards, direct_statistics(judged), beside)
    assert {short.headline, short.figures} <= set(texts(page))
    left = score_sentences.scores_abstained_answer(score_abstention(judged))
    assert {left.headline, left.figures} <= set(texts(page))
    assert expected.startswith("By direct scores sim-hazel leads")
    table = next(frame.value for frame in page.dataframe if "beats %" in frame.value)
    assert list(table["beats %"]) == pytest.approx([100 * row.p.value for row in boards.mean.rows])
    page.selectbox(key="voter").set_value("sim-person-1").run()
    assert not page.exception
    lone = score_boards({"sim-person-1": judged["sim-person-1"]}, anchor)
    assert any(said.startswith(score_sentences.leader(lone.mean)) for said in texts(page))


def loaded(store_path: Path, name: str, text: bytes) -> None:
    with Store.open(store_path) as store:
        for reading in read([(name, text)]):
            store.load(reading)


@pytest.fixture
def own_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import streamlit as st

    st.cache_resource.clear()
    path = tmp_path / "votes.duckdb"
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    yield path
    st.cache_resource.clear()


def test_scores_alone_have_a_board_with_an_anchor_of_their_own(own_path):
    rng = np.random.default_rng(6)
    lines = ["item_id,model,judge,score"]
    for item in range(40):
        for model, shift in (("ours", 1.5), ("theirs", 0.0), ("old", -1.5)):
            lines += [
                f"i{item},{model},{judge},{int(np.clip(round(6 + shift + 2 * rng.normal()), 1, 10))}"
                for judge in ("gpt", HOSTILE)
            ]
    loaded(own_path, "grades.csv", "\n".join(lines).encode())
    with Store.open(own_path) as store:
        judged = queries.direct_scores(store, Selection())
    app = new_app()
    page = opened(app, "leaderboard", dataset="grades", scores_anchor="theirs")
    assert page.selectbox(key="scores_anchor").value == "theirs"
    said = score_sentences.leader(score_boards(judged, "theirs").mean)
    assert said.startswith("By direct scores ours leads")
    assert any(text.startswith(said) for text in texts(page))
    code = next(block.value for block in page.code if "score_boards" in block.value)
    lines = code.replace(OPENED, f"Store.open(__import__('pathlib').Path({str(own_path)!r}))")
    import streamlit as st

    st.cache_resource.clear()
    exec(lines, {})  # noqa: S102 the copied lines run as they are, on the same store


def test_mt_bench_grades_of_one_model_are_told_plainly(own_path, native):
    """Eight grades, of which two are none: 41.5 points on six items."""
    path = native / "mtbench" / "judge-1_single.jsonl"
    loaded(own_path, path.name, path.read_bytes())
    app = new_app()
    page = opened(app, "leaderboard", dataset="MT-Bench")
    said = next(
        text for text in texts(page) if text.startswith("judge-1 gave model-x a mean of 6.92")
    )
    assert "on 6 items; 17 % " in said
    assert said.endswith("A single model cannot be compared: score another one on the same items.")


@pytest.mark.thorough
def test_a_mark_of_the_changes_leads_to_the_dropped_responses(app):
    """Own calculation from the file: responses whose runs differ by over a tenth of the scale."""
    model = "sim-elm"
    given = pd.read_csv(REPOSITORY / "data" / "demo_scores.csv.gz")
    given = given[given["status"] == "ok"] if "status" in given else given
    scale = given["score"].max() - given["score"].min()
    apart = given.groupby(["judge", "model", "item_id"])["score"].std().reset_index()
    unsure = apart[(apart["score"] > 0.1 * scale + 1e-9) & (apart["model"] == model)]
    page = opened(
        app, "leaderboard", tab="Direct scores", scores_abstain="0.1", **{"scores-abstained": model}
    )
    frames = [each.value for each in page.dataframe if "item_id" in each.value]
    (shown,) = [frame for frame in frames if "score" in frame]
    assert set(shown["model"]) == {model}
    assert set(shown["item_id"]) <= set(unsure["item_id"])
    assert len(shown) > 10
    n = unsure["item_id"].nunique()
    assert n > 0
    said = [each.value for each in page.caption]
    assert any(text.startswith(f"{n:,} responses of this model") for text in said)


def test_a_mark_of_the_board_leads_to_the_scores_of_its_model(app):
    given = pd.read_csv(REPOSITORY / "data" / "demo_scores.csv.gz")
    given = given[given["model"] == "sim-elm"]
    page = opened(app, "leaderboard", tab="Direct scores", dataset=DEMO, scored="sim-elm")
    (shown,) = [each.value for each in page.dataframe if "item_id" in each.value]
    assert set(shown["model"]) == {"sim-elm"}
    assert shown["item_id"].nunique() == min(given["item_id"].nunique(), 500)
    assert shown["score"].sum() == pytest.approx(given["score"].sum())
    said = f"{given['item_id'].nunique():,} responses of this model"
    assert said in [each.value for each in page.caption]
