"""The further tabs of the Leaderboard page: their sentences, figures, and core's numbers in the
real app.
"""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from apps import OPENED, opened, texts
from draws import seeded
from levels import first_of

from core.questions.agreement.reliability import icc
from core.questions.boards import check_words as said
from core.questions.boards.anchored import board, subsample_errors
from core.questions.boards.ask import pair_doubts
from core.questions.boards.figure import task_key
from core.questions.boards.judge_dispersion import rating_spread
from core.questions.boards.judges import mean_of_judges, pooling
from core.questions.boards.robustness import abstention, between_tasks, changes
from core.questions.boards.standings import compare_outside, read_outside
from core.records import PairScores
from core.schema import Selection
from core.store.vote_queries import pair_scores, ratings

ANCHOR = "sim-anchor-one"
TABS = ("Other ratings", "Judges", "Abstention", "Categories", "Outside board")


# ---- the page


def judged(demo_pairs) -> dict[str, PairScores]:
    return {name: pairs for name, pairs in demo_pairs.items() if name is not None}


@pytest.mark.thorough
def test_other_ratings_on_the_page(app, demo_pairs):
    opened(app, "leaderboard", tab="Other ratings")
    found = rating_spread(judged(demo_pairs), ANCHOR, rng=seeded(), pooled=demo_pairs[None])
    assert said.other_ratings(found) in texts(app)
    assert app.dataframe[0].value["SD of judges"].tolist() == [
        row.sd.value for row in found.methods
    ]
    shown = app.dataframe[1].value.set_index("model")
    terry = found.pooled["bradley_terry"]
    for name, elo in zip(terry.models, terry.elo.value, strict=True):
        if name != ANCHOR:
            assert shown.loc[name, "Bradley–Terry"] == round(elo) + 0.0
    app.selectbox(key="rated").set_value("sim-elm").run()
    votes = app.dataframe[2].value
    assert set(votes["model_a"]) | set(votes["model_b"]) == {"sim-elm", ANCHOR}


def test_judges_on_the_page(app, demo_votes, demo_pairs):
    opened(app, "leaderboard", tab="Judges", screen="0.95")
    by_judge = judged(demo_pairs)
    pooled = mean_of_judges(by_judge, ANCHOR)
    repeats = {
        name: icc(t) for name, t in ratings(demo_votes, Selection(), anchors=(ANCHOR,)).items()
    }
    found = pooling(
        by_judge,
        ANCHOR,
        rng=seeded(),
        icc={name: one.icc_3_1.value for name, one in repeats.items()},
    )
    assert said.judges(pooled, found) in texts(app)
    sizes, means, cuts = (app.dataframe[k].value for k in range(3))
    assert sizes["SE"].tolist() == pytest.approx(
        [np.sqrt(size.observed.value) for size in found.sizes]
    )
    assert means["mean Elo"].tolist() == [round(row.elo.value) + 0.0 for row in pooled.rows]
    assert means["SD of judges"].tolist() == [row.sd_judges for row in pooled.rows]
    assert cuts["left"].iloc[-1] == "sim-judge-careful; sim-judge-decisive; sim-judge-first-slot"
    assert any(told.endswith("Dropped: sim-judge-boaster.") for told in texts(app))


def test_abstention_on_the_page(app, demo_votes, demo_pairs):
    opened(app, "leaderboard", tab="Abstention")
    doubts = pair_doubts(demo_votes, Selection())
    found = abstention(doubts, ANCHOR)
    row = next(row for row in found.rows if row.threshold == 0.2)
    assert said.abstained(found, row, changes(doubts, ANCHOR, threshold=0.2)) in texts(app)
    short = said.abstained_answer(found, row, changes(doubts, ANCHOR, threshold=0.2))
    assert {short.headline, short.figures} <= set(texts(app))
    assert app.dataframe[0].value["n"].tolist() == [row.n for row in found.rows]
    errors = subsample_errors(demo_pairs[None], ANCHOR, sizes=(18, 35, 52), rng=seeded())
    assert said.subsampled(errors) in texts(app)
    changed = changes(doubts, ANCHOR, threshold=0.2)
    assert app.dataframe[1].value["change of p"].tolist() == [one.delta.value for one in changed]
    assert app.dataframe[2].value["subsamples"].tolist() == errors.se_empirical.tolist()
    app.segmented_control(key="abstain_by").set_value("confidence").run()
    assert not app.exception
    assert any("less than 70 % confident" in told for told in texts(app))


@pytest.mark.parametrize(
    ("by", "why"), [("repeats", "by repeats needs"), ("confidence", "by confidence needs")]
)
def test_a_judge_without_doubts_gets_the_reason(app, by, why):
    opened(app, "leaderboard", tab="Abstention", voter="sim-person-1", abstain_by=by)
    assert any(f"Not applicable: abstention {why}" in told for told in texts(app))
    assert any("On subsamples of the prompts" in told for told in texts(app))


def test_categories_on_the_page(app, demo_votes):
    opened(app, "leaderboard", tab="Categories")
    names = ("Factuality", "Focus", "Math", "Precise IF", "Safety")
    by_task = {
        name: pair_scores(demo_votes, Selection(where=(("category", name),)), pooled=True)[None]
        for name in names
    }
    found = between_tasks(by_task, ANCHOR)
    assert said.tasks(found) in texts(app)
    assert app.dataframe[0].value["SD"].tolist() == [row.tau.value for row in found.rows]
    app.selectbox(key="task").set_value(task_key("Math", "sim-elm")).run()
    votes = app.dataframe[1].value
    assert set(votes["category"]) == {"Math"}
    assert set(votes["model_a"]) | set(votes["model_b"]) == {"sim-elm", ANCHOR}
    app.selectbox(key="category").set_value("Math").run()
    assert any("no second category" in told for told in texts(app))


def test_an_outside_file_on_the_page(app, demo_pairs):
    opened(app, "leaderboard", tab="Outside board")
    assert any(told.startswith("Drop a published leaderboard") for told in texts(app))
    here = board(demo_pairs[None], ANCHOR)
    content = (
        "model,score\n" + "".join(f"{row.model},{1000 + row.elo.value}\n" for row in here.rows)
    ).encode()
    app.file_uploader(key="outside_file").upload("x.csv", content, "text/csv").run()
    assert not app.exception
    found = compare_outside(here, read_outside(content, name="x.csv"), rng=seeded())
    assert said.outside(found) in texts(app)
    assert app.dataframe[0].value["value"][0] == pytest.approx(1)
    assert app.dataframe[1].value["model"].tolist() == list(found.models)
    assert f"Only here (1): {ANCHOR}" in texts(app)
    app.segmented_control(key="outside_scale").set_value("percent").run()
    assert any("are no win rates" in told for told in texts(app))


def test_a_file_that_is_no_leaderboard_is_named(app):
    opened(app, "leaderboard", tab="Outside board")
    app.file_uploader(key="outside_file").upload("x.csv", b"name,elo\na,1\n", "text/csv").run()
    assert not app.exception
    assert any("x.csv: the first line must name one column 'model'" in told for told in texts(app))


@pytest.mark.parametrize("tab", TABS)
def test_one_judge_alone_gets_numbers_or_a_reason(app, tab):
    opened(app, "leaderboard", tab=tab, judges="sim-judge-careful")
    if tab == "Judges":
        assert any("pooling needs two" in told for told in texts(app))


@pytest.mark.parametrize("tab", first_of(*TABS[:4]))
def test_copied_python_runs_and_says_the_pages_numbers(app, demo_votes, tab):
    opened(app, "leaderboard", tab=tab)
    codes = [element.value for element in app.main.code]
    assert codes
    for code in codes:
        out = io.StringIO()
        runnable = code.replace(OPENED, "STORE")
        with redirect_stdout(out):
            exec(runnable, {"STORE": demo_votes})  # noqa: S102
        assert out.getvalue().strip()
    if tab == "Judges":
        assert f"{app.dataframe[1].value['SD of judges'][0]:.4f}"[:6] in out.getvalue()
