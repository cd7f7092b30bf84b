"""The Leaderboard page: its sentence against simulated truth, its figures, core's numbers in the
real app.
"""

from itertools import combinations

import numpy as np
import pyarrow as pa
import streamlit as st
from apps import new_app, opened, texts
from places import REPOSITORY
from test_leaderboard_shown import judged, scored

import core
from core.__main__ import main
from core.finding.figure import rater_styles
from core.finding.wording import signed_elo
from core.questions.boards.anchored import board
from core.questions.boards.figure import board_figure, judge_key, swap_figure
from core.questions.boards.words import leader_sentence, mid_region
from core.store import Store

MAIN = REPOSITORY / "pages" / "main.py"
HOSTILE = "<img src=x onerror=alert(1)>"
CYCLE = {"sim-hazel", "sim-birch", "sim-elm"}


def test_hostile_names_are_escaped_everywhere():
    pairs = scored(
        {(HOSTILE, "z<b>"): np.ones(5), ("b", "z<b>"): np.tile([0.0, 1.0], 3)}
        | {(HOSTILE, "y"): np.ones(5), ("b", "y"): np.zeros(5), ("y", "z<b>"): np.ones(5)}
    )
    one, two = board(pairs, "z<b>"), board(pairs, "y")
    judges = {HOSTILE: one}
    figs = [
        board_figure(one, judged=judges, styles=rater_styles(judges)),
        board_figure(one, judge=HOSTILE, styles=rater_styles(judges)),
        swap_figure(one, two, (HOSTILE, "b")),
    ]
    for fig in figs:
        drawn = [fig.layout.xaxis.title.text, *fig.layout.yaxis.ticktext]
        drawn += [trace.name for trace in fig.data]
        drawn += [text for trace in fig.data for text in (trace.hovertext or ())]
        assert not any("<img" in text or "z<b>" in text for text in drawn)


# ---- the page


def drawn(app):
    """The first table as it is read."""
    styled = app.dataframe[0].proto.arrow_data.styler
    return pa.ipc.open_stream(styled.display_values).read_all().to_pydict()


def test_page_shows_cores_numbers(app, demo_pairs):
    opened(app, "leaderboard")
    found, told, _ = judged(demo_pairs[None], "sim-anchor-one")
    assert leader_sentence(found, told) in texts(app)
    frame = app.dataframe[0].value
    rows = found.board.rows
    assert frame["model"].tolist() == [row.model for row in rows]
    assert frame["Elo"].tolist() == [round(row.elo.value) for row in rows]
    assert frame["low"].tolist() == [round(row.elo.low) for row in rows]
    # The interval is read in the value's cell; its ends are columns that are not shown.
    elo = rows[0].elo
    assert f"{elo.value:+.0f} ({elo.low:+.0f} to {elo.high:+.0f})" in drawn(app)["Elo"][0]
    assert frame["wins %"].tolist() == [100 * row.p.value for row in rows]
    assert frame["n"].tolist() == [row.n for row in rows]
    assert mid_region(found.board) in texts(app)


def test_page_takes_anchor_judge_prior_interval_and_pool_from_the_url(app, demo_pairs):
    opened(
        app,
        "leaderboard",
        anchor="sim-anchor-two",
        voter="sim-judge-careful",
        prior="laplace",
        interval="corrected",
        pool="140",
    )
    pairs = demo_pairs["sim-judge-careful"]
    found = board(pairs, "sim-anchor-two", prior="laplace", pool=140)
    assert app.dataframe[0].value["low"].tolist() == [
        round(row.elo_corrected.low) for row in found.rows
    ]
    row = found.rows[0]
    low, high = (signed_elo(end) for end in (row.elo_corrected.low, row.elo_corrected.high))
    (figures,) = (text for text in texts(app) if text.startswith(f"{row.model} ") and "·" in text)
    assert f" Elo ({low} to {high})" in figures
    code = next(element.value for element in app.code)
    assert "['sim-judge-careful']" in code
    assert "board(pairs, 'sim-anchor-two', prior='laplace', pool=140)" in code


def test_page_warns_of_kappa(app):
    opened(app, "leaderboard")
    assert not any("backwards" in said for said in texts(app))
    before = app.dataframe[0].value
    app.toggle(key="kappa").set_value(True).run()
    assert not app.exception
    assert any("which is backwards" in said for said in texts(app))
    after = app.dataframe[0].value
    assert (after["high"] - after["low"] < before["high"] - before["low"]).all()


def test_page_leads_from_a_row_and_from_a_judges_mark_to_the_votes(app, demo_pairs):
    opened(app, "leaderboard", model=judge_key("sim-judge-careful", "sim-elm"))
    votes = app.dataframe[1].value
    assert set(votes["judge"]) == {"sim-judge-careful"}
    assert set(votes["model_a"]) | set(votes["model_b"]) == {"sim-elm", "sim-anchor-one"}
    app.selectbox(key="model").set_value("sim-hazel").run()
    votes = app.dataframe[1].value
    assert set(votes["model_a"]) | set(votes["model_b"]) == {"sim-hazel", "sim-anchor-one"}


def test_page_names_the_triangle_and_shows_its_votes(app, demo_pairs):
    opened(app, "leaderboard", tab="Another anchor")
    _, told, _ = judged(demo_pairs[None], "sim-anchor-one")
    tables = [frame.value for frame in app.dataframe]
    place = next(k for k, frame in enumerate(tables) if "triangle" in frame.columns)
    table = tables[place]
    assert table["triangle"].tolist() == [one.words for one in told]
    assert table["verdict"][0] == "intransitive"
    app.selectbox(key="triangle").set_value(told[0].words).run()
    assert not app.exception
    shown = [
        set(frame.value["model_a"]) | set(frame.value["model_b"])
        for frame in app.dataframe[place + 1 :]
    ]
    assert len(shown) == 3
    assert all(len(pair) == 2 and pair < CYCLE for pair in shown)


def test_other_anchors_of_people_and_judges_are_those_of_the_audit(tmp_path, monkeypatch):
    """The pooled scores of the first anchor's judges took the place of all: "no other anchor"."""
    strength = {"m1": 3, "m2": 2, "m3": 1, "m4": 0}
    met = {
        "judge": list(combinations(strength, 2)),
        "person 1": [("m1", "m2"), ("m1", "m3"), ("m1", "m4")],
        "person 2": [("m1", "m2"), ("m3", "m4")],
    }
    rows = ["item_id,model_a,model_b,judge,rater_type,vote"]
    for judge, pairs in met.items():
        kind = "llm" if judge == "judge" else "human"
        for a, b in pairs:
            for item in range(16):
                vote = 1 if item < 8 + 2 * (strength[a] - strength[b]) else -1
                rows.append(f"p{item},{a},{b},{judge},{kind},{vote}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    store = tmp_path / "votes.duckdb"
    assert main(["import", str(file), "--store", str(store)]) == 0
    monkeypatch.setenv("APPELLATE_STORE", str(store))
    audited = core.audit(file, splits=0).anchor_swap
    assert len(audited.rows) == 6
    app = opened(new_app(), "leaderboard", anchor="m1")
    said = " ".join(texts(app))
    assert "no other model met enough" not in said
    of_m1 = [row for row in audited.rows if "m1" in (row.anchor_1, row.anchor_2)]
    least = min(row.kendall_tau for row in of_m1 if row.kendall_tau is not None)
    assert f"{least:.2f}" in said, said
    st.cache_resource.clear()


def test_page_without_an_anchor_says_why(tmp_path, monkeypatch, native):
    """In JudgeBench a model's two responses meet, so that each has met one other."""
    from core.importers import read

    path = next(native.glob("judgebench/*judge-1*"))
    one = path.read_text(encoding="utf-8")
    both = one + one.replace("model-x", "model-y").replace("made-up-", "another-")
    with Store.open(tmp_path / "votes.duckdb") as store:
        for reading in read([(path.name, both.encode())]):
            store.load(reading)
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    app = opened(new_app(), "leaderboard")
    assert any("no model met two others" in said for said in texts(app))
    st.cache_resource.clear()


def test_copied_code_gives_the_pages_numbers(app, capsys, demo_pairs):
    opened(app, "leaderboard")
    code = next(element.value for element in app.code)
    st.cache_resource.clear()
    exec(code, {})  # noqa: S102 the page's own lines
    printed = capsys.readouterr().out
    row = board(demo_pairs[None], "sim-anchor-one").rows[0]
    assert f"{row.p.value:.6f}" in printed
    assert f"{row.elo.value:.6f}" in printed
