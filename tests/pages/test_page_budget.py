"""The tab Vote budget of the Experiments page: core's numbers in the real app."""

import numpy as np
import pytest
from apps import opened, texts
from streamlit.testing.v1 import AppTest

from core.questions.planning.budget import learn, plan, trial
from core.questions.planning.words import budget_answer, outlook
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import vote_queries as queries
from pages.sections.planning.budget import CURVE, STOPS

JUDGE = "sim-judge-careful"


def test_the_tab_says_what_core_computes(app: AppTest) -> None:
    opened(app, "planning", tab="Vote budget", judge=JUDGE)
    from pages.shared.cached import get_store

    counts = queries.vote_counts(get_store(), Selection(datasets=(DEMO_DATASET,)))[JUDGE]
    # The demo's judges are asked in both orders, so votes are asked for two at a time.
    found = trial(counts, rng=np.random.default_rng(0), tolerances=CURVE, step=2)
    budget = plan(learn(counts.cells()[0], step=2))
    assert budget_answer(JUDGE, found, 0.002)[0] in texts(app)
    assert outlook(budget, 1_000, found=found) in texts(app)
    stops, rules = (frame.value for frame in app.dataframe)
    assert list(stops) == list(STOPS.values())
    assert stops["stops here"].sum() == pytest.approx(1, abs=1e-6)
    assert (stops[["A", "tie", "B"]].sum(axis=1) % 2 == 0).all()
    assert rules["votes"].tolist() == [row.votes for row in found.rows.values()]
    assert rules["MAE"].tolist() == [row.mae for row in found.rows.values()]

    app.slider(key="added").set_value(0.01)
    app.number_input(key="to_come").set_value(500)
    app.number_input(key="vote_cost").set_value(0.02).run()
    assert budget_answer(JUDGE, found, 0.01)[0] in texts(app)
    dearer = plan(learn(counts.cells()[0], step=2), tolerance=0.01)
    assert outlook(dearer, 500, call=0.02, found=found) in texts(app)


@pytest.mark.thorough
def test_one_vote_at_a_time_and_one_vote_in_all(app: AppTest) -> None:
    opened(app, "planning", tab="Vote budget", judge=JUDGE, at_a_time="1")
    from pages.shared.cached import get_store

    counts = queries.vote_counts(get_store(), Selection(datasets=(DEMO_DATASET,)))[JUDGE]
    ahead = outlook(plan(learn(counts.cells()[0])), 1_000)
    assert any(text.startswith(f"{ahead} So a plan learned from all ") for text in texts(app))
    app.selectbox(key="judge").select("sim-person-1").run()
    assert any("has no comparison with more than one vote" in text for text in texts(app))
