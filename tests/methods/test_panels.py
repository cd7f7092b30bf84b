"""Models that different judges judged are not ranked together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import LONG
from places import REPOSITORY
from readings import reading

from core.auditing.options import AuditOptions
from core.auditing.results import Audit
from core.auditing.run import audit
from core.questions.boards.anchored import board
from core.questions.boards.judges import mean_of_judges
from core.questions.boards.panels import panels
from core.questions.boards.words import ALL_POOLED, judged_unequally
from core.records import PairScores, Panel
from core.reporting.document import to_json
from core.reporting.text import to_text
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import pair_scores, panel_scores

Judged = dict[tuple[str, str], float]
"""(judge, model) → share of prompts that the model wins against the anchor."""


def rows(judged: Judged, *, prompts: int = 40, anchor: str = "z") -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    return [
        {
            "dataset": "d",
            "item_id": f"i{k}",
            "model_a": model,
            "model_b": anchor,
            "judge": judge,
            "run": 0,
            "position": "ab" if k % 2 else "ba",
            "vote": 1 if won else -1,
            "rater_type": "llm",
        }
        for (judge, model), share in judged.items()
        for k, won in enumerate(rng.random(prompts) < share)
    ]


def audited(judged: Judged, **options: Any) -> Audit:
    with Store.open() as store:
        store.load(reading(rows(judged)))
        return audit(store, Selection(), AuditOptions(splits=0, anchors=("z",), **options))


# `bad` is worse than `good`, and its judge mild.
STRICT_AND_MILD: Judged = {
    ("strict", "good"): 0.4,
    ("strict", "fine"): 0.35,
    ("mild", "bad"): 0.95,
    ("mild", "worse"): 0.9,
}


def scores_of_judges(store: Store) -> dict[str, PairScores]:
    return {
        judge: scores
        for judge, scores in pair_scores(store, Selection()).items()
        if judge is not None
    }


def document(found: Audit) -> list[dict[str, Any]]:
    boards: list[dict[str, Any]] = json.loads(to_json(found))["leaderboards"]["z"]
    return boards


def test_judges_of_different_models_give_no_common_board() -> None:
    """A mild judge's `bad` led, alone in the top tier, over the models of a strict judge; no note
    said so.
    """
    found = audited(STRICT_AND_MILD)
    boards = document(found)
    assert [
        (
            one["judge"],
            one["pooled_judges"],
            one["left_out_judges"],
            sorted(row["model"] for row in one["rows"]),
        )
        for one in boards
    ] == [
        (None, ["mild"], ["strict"], ["bad", "worse"]),
        (None, ["strict"], ["mild"], ["fine", "good"]),
        ("mild", ["mild"], [], ["bad", "worse"]),
        ("strict", ["strict"], [], ["fine", "good"]),
    ]
    (note,) = [
        note for note in found.notes if "Not all models were judged by the same judges" in note
    ]
    assert "2 pooled boards" in note
    said = to_text(found)
    assert "Leaderboard against z, mild alone, 40 prompts" in said
    assert "1 pooled board of other judges, not comparable" in said


def test_the_report_names_the_judges_of_its_first_board() -> None:
    from core.reporting.html import report

    page = report(audited(STRICT_AND_MILD))
    assert "mild alone, 40 prompts" in page
    assert "Pooled boards of other judges" in page
    assert "All judges pooled" not in page


def test_equal_judges_give_the_pooled_board() -> None:
    judged = {(judge, model): 0.5 for judge in ("j1", "j2") for model in ("a", "b", "c")}
    found = audited(judged)
    with Store.open() as store:
        store.load(reading(rows(judged)))
        expected = board(pair_scores(store, Selection(), pooled=True)[None], "z")
        together = Panel(anchor="z", judges=("j1", "j2"), models=("a", "b", "c"), left_out=())
        (scores,) = panel_scores(store, Selection(), [together])
    pooled, *own = found.boards["z"]
    assert pooled.board.to_frame().equals(expected.to_frame())
    assert (pooled.judge, pooled.pooled_judges, pooled.left_out_judges) == (None, ("j1", "j2"), ())
    assert [(one.judge, one.pooled_judges, one.left_out_judges) for one in own] == [
        ("j1", ("j1",), ()),
        ("j2", ("j2",), ()),
    ]
    assert not any("same judges" in note for note in found.notes)
    assert "Leaderboard against z, all judges pooled" in to_text(found)
    # Pooling judge by judge gives what the store pools.
    assert board(scores, "z").to_frame().equals(expected.to_frame())


def test_a_judge_of_some_models_is_left_out_of_the_board_of_all() -> None:
    """Without the judge that saw one model only, the board is that of the judges of every model."""
    judged = {(judge, model): 0.5 for judge in ("j1", "j2") for model in ("a", "b", "c")}
    found = audited(judged | {("mild", "c"): 1.0})
    pooled = [one for one in found.boards["z"] if one.judge is None]
    assert [(one.pooled_judges, one.left_out_judges) for one in pooled] == [
        (("j1", "j2"), ("mild",))
    ]
    assert pooled[0].board.to_frame().equals(audited(judged).boards["z"][0].board.to_frame())
    (note,) = [note for note in found.notes if "same judges" in note]
    assert "The board ranks all 3 models by j1, j2; left out of it: mild." in note


@pytest.mark.parametrize("seed", range(5))
def test_every_model_has_a_board_and_every_board_its_judges_votes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    judged: Judged = {
        (f"j{j}", f"m{m}"): 0.5 for j in range(4) for m in range(6) if rng.random() < 0.6 or j == m
    }
    judged |= {("j0", "m4"): 0.5, ("j1", "m5"): 0.5}
    with Store.open() as store:
        store.load(reading(rows(judged, prompts=8)))
        scores = scores_of_judges(store)
        found = panels(scores, ["z", "nobody"])
        assert found["nobody"] == ()
        pooled = panel_scores(store, Selection(), found["z"])
        assert {model for panel in found["z"] for model in panel.models} == {
            model for _, model in judged
        }
        for panel, of_panel in zip(found["z"], pooled, strict=True):
            assert all((judge, model) in judged for judge in panel.judges for model in panel.models)
            expected = pair_scores(store, Selection(judges=panel.judges), pooled=True)[None]
            rates = {row.model: row.p.value for row in board(expected, "z").rows}
            shown = {row.model: row.p.value for row in board(of_panel, "z").rows}
            assert tuple(sorted(shown)) == panel.models
            assert shown == {model: rates[model] for model in panel.models}


def test_a_model_that_shares_its_judges_with_none_is_named() -> None:
    judged = {("j1", "a"): 0.5, ("j1", "b"): 0.5, ("j2", "c"): 0.5}
    with Store.open() as store:
        store.load(reading(rows(judged)))
        found = panels(scores_of_judges(store), ["z"])["z"]
    assert [(panel.judges, panel.models) for panel in found] == [
        (("j1",), ("a", "b")),
        (("j2",), ("c",)),
    ]
    said = judged_unequally(found)
    assert said is not None
    assert said.endswith("Ranked with no other model, as none had the same judges: c.")
    assert judged_unequally(found[:0]) is None


@pytest.mark.thorough
def test_the_page_pools_only_what_the_same_judges_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    st.cache_resource.clear()
    store_path = tmp_path / "votes.duckdb"
    with Store.open(store_path) as store:
        store.load(reading(rows(STRICT_AND_MILD)))
    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    main = REPOSITORY / "pages" / "main.py"
    app = AppTest.from_file(str(main), default_timeout=LONG)
    app.query_params["anchor"] = "z"
    app.run()
    app.switch_page("leaderboard.py").run()
    assert not app.exception
    said = " ".join(
        element.value for element in (*app.markdown, *app.text, *app.warning, *app.info)
    )
    assert "Not all models were judged by the same judges against z" in said
    assert "Without a number" not in said
    assert {"good", "fine"}.isdisjoint(app.dataframe[0].value["model"])
    assert ALL_POOLED not in [element.value for element in app.text]
    app.query_params["tab"] = "Other ratings"
    app.run()
    assert ALL_POOLED in [element.value for element in app.text]
    st.cache_resource.clear()


def test_a_fuser_is_not_pooled_with_the_judges_that_it_read() -> None:
    """It says what they said once more: the pooled boards are those without it, and its own stands."""
    judges: Judged = {
        (judge, model): share
        for judge in ("first", "second")
        for model, share in (("good", 0.7), ("fine", 0.5), ("bad", 0.3))
    }
    fuser: Judged = {("fuser(first)", model): 0.9 for model in ("good", "fine", "bad")}
    alone, beside, fusers = audited(judges), audited(judges | fuser), audited(fuser)
    pooled, of_fuser = (
        next(each for each in beside.boards["z"] if each.judge == judge)
        for judge in (None, "fuser(first)")
    )
    assert pooled.board.to_frame().equals(alone.boards["z"][0].board.to_frame())
    assert pooled.pooled_judges == ("first", "second")
    assert pooled.left_out_judges == ("fuser(first)",)
    assert not of_fuser.board.to_frame().equals(pooled.board.to_frame())
    assert any("Left out of the pool" in note and "fuser(first)" in note for note in beside.notes)
    assert not any("Left out of the pool" in note for note in alone.notes + fusers.notes)
    assert "against z, first, second pooled" in to_text(beside)
    # Alone it has nobody to be pooled with.
    assert fusers.boards["z"][0].pooled_judges == ("fuser(first)",)


def test_the_mean_of_judges_leaves_a_fuser_out() -> None:
    judges: Judged = {
        (judge, model): share
        for judge in ("first", "second", "fuser(first)")
        for model, share in (("good", 0.7), ("bad", 0.3))
    }
    with Store.open() as store:
        store.load(reading(rows(judges)))
        pairs = pair_scores(store, Selection())
    found = mean_of_judges(pairs, "z")
    del pairs["fuser(first)"]
    assert found.to_frame().equals(mean_of_judges(pairs, "z").to_frame())
