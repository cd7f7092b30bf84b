"""Shrinkage on the Aggregation page: what can be leant on, what it gains, words and figures that
follow.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from apps import OPENED, new_app, opened, texts
from draws import seeded
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.labels.btd import Bounds, fit
from core.questions.labels.evaluation import FEWEST, shrinkage_gain
from core.questions.labels.rules import label_table
from core.questions.labels.shrinkage import (
    NAMES,
    CandidatePrior,
    Kind,
    candidate_priors,
    shrunken_fit,
)
from core.questions.labels.words import bound, shrinkage_answer
from core.records import VoteCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store import vote_queries as queries
from core.store.vote_queries import vote_counts_by
from pages.shared.cached import get_store

pytestmark = pytest.mark.usefixtures("one_blas_thread")

MAIN = REPOSITORY / "pages" / "main.py"
JUDGE = "sim-judge-decisive"
HOSTILE = "<img src=x onerror=alert(1)> $x$ :red[r]"
DEMO = Selection(datasets=(DEMO_DATASET,))


def table(page: AppTest, first: str) -> object:
    return next(frame.value for frame in page.dataframe if frame.value.columns[0] == first)


def demo_offers(category: str | None) -> tuple[dict[Kind, CandidatePrior], VoteCounts]:
    by_category = vote_counts_by(get_store(), DEMO, "category")
    task = by_category[category] if category else queries.vote_counts(get_store(), DEMO)
    return candidate_priors(JUDGE, task, category=category, by_category=by_category), task[JUDGE]


@pytest.mark.thorough
def test_page_shows_what_core_computes(app: AppTest, capsys: pytest.CaptureFixture[str]) -> None:
    page = opened(
        app, "votes_to_labels", tab="Shrinkage", lean_task="Math", lean_on=NAMES["own"], judge=JUDGE
    )
    found, counts = demo_offers("Math")
    gain = shrinkage_gain(counts, found["own"].prior, rng=seeded())
    few = shrinkage_gain(counts, found["own"].prior, rng=seeded(), share=FEWEST)
    distinct = few if few.evaluation.calibration < gain.evaluation.calibration else None
    assert shrinkage_answer(JUDGE, found["own"], gain, distinct) in texts(page)
    assert bound(few, Bounds(), fit(counts.labelled().cells()[0])) in texts(page)
    rules = table(page, "rule").set_index("rule").iloc[:4]
    for score in gain.evaluation.scores.values():
        row = rules.loc[score.name]
        assert (row["MAE"], row["low"], row["high"]) == (
            score.mae,
            score.mae_item_low,
            score.mae_item_high,
        )
        assert (row["PA"], row["regret"], row["n"]) == (score.pa, score.regret, gain.evaluation.n)
    changes = next(f.value for f in page.dataframe if "MAE change" in f.value)
    assert changes["MAE change"].iloc[0] == gain.beside_btd.mae.value
    assert (changes["low"].iloc[0], changes["high"].iloc[0]) == (
        *(gain.beside_btd.mae.low, gain.beside_btd.mae.high),
    )
    theta = table(page, "parameter")
    own = fit(counts.labelled().cells()[0])
    leaning = shrunken_fit(counts, found["own"].whole, rng=seeded())
    assert theta["own, all labels"].to_list() == [own.beta, own.nu, own.gamma]
    assert theta["shrunken, all labels"].to_list() == [leaning.beta, leaning.nu, leaning.gamma]
    assert theta["prior θ₀"].to_list() == pytest.approx(
        [
            found["own"].whole.theta0[0],
            np.exp(found["own"].whole.theta0[1]),
            found["own"].whole.theta0[2],
        ]
    )
    assert f"Not available, {NAMES['datasets']}: {found['datasets'].reason}." in texts(page)
    (code,) = (block.value for block in page.code if "shrinkage_gain" in block.value)
    exec(code.replace(OPENED, "STORE"), {"STORE": get_store()})  # noqa: S102
    printed = capsys.readouterr().out
    assert gain.evaluation.to_frame().to_string() in printed
    assert gain.to_frame().to_string() in printed


@pytest.mark.thorough
def test_without_a_category_other_judges_lend_and_the_rest_says_why(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", tab="Shrinkage", judge=JUDGE)
    assert page.selectbox(key="lean_on").value == NAMES["judges"]
    assert any("choose one category as the task" in text for text in texts(page))
    page.selectbox(key="lean_task").set_value("Math").run()
    assert not page.exception
    assert page.selectbox(key="lean_on").options == [
        NAMES[kind] for kind in ("all", "own", "judges", "weak")
    ]


@pytest.mark.thorough
def test_sidebar_category_is_the_task(app: AppTest) -> None:
    page = opened(
        app, "votes_to_labels", tab="Shrinkage", judge=JUDGE, category="Math", lean_on=NAMES["weak"]
    )
    assert not [box for box in page.selectbox if box.key == "lean_task"]
    _, counts = demo_offers("Math")
    assert table(page, "rule")["n"].iloc[0] == len(counts.labelled())
    assert any("shrinking towards a fixed weak prior" in text for text in texts(page))


@pytest.mark.thorough
def test_hostile_names_lend_without_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_path: Path
) -> None:
    path = tmp_path / "hostile.duckdb"
    rng = np.random.default_rng(1)
    with Store.open(path) as store:
        for name in ("one", "two"):
            store.load(
                reading(
                    [
                        {
                            "dataset": f"{HOSTILE} {name}",
                            "item_id": f"{name} {category} {k}",
                            "category": f"{HOSTILE} {category}",
                            "judge": f"{HOSTILE} {judge}",
                            "run": run,
                            "vote": int(rng.choice([k % 3 - 1, 0, 1])),
                            "gold": k % 3 - 1,
                        }
                        for category in "ab"
                        for k in range(40)
                        for judge in "xy"
                        for run in range(3)
                    ]
                )
            )
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    app = new_app()
    page = opened(
        app,
        "votes_to_labels",
        tab="Shrinkage",
        lean_task=f"{HOSTILE} a",
        dataset=f"{HOSTILE} one",
        lean_on=NAMES["datasets"],
    )
    assert page.selectbox(key="lean_on").value == NAMES["datasets"]
    assert any(
        HOSTILE in text and "two" in text for text in texts(page) if text.startswith("The prior")
    )
    assert not any(HOSTILE in element.value for element in (*page.markdown, *page.caption))


def test_downloaded_labels_are_those_of_the_shrunken_fit(app: AppTest) -> None:
    opened(
        app, "votes_to_labels", tab="Shrinkage", judge=JUDGE, lean_task="Math", lean_on=NAMES["own"]
    )
    from pages.sections.votes_to_labels.shrinkage import labels_frame

    found, counts = demo_offers("Math")
    leaning = shrunken_fit(counts, found["own"].whole, rng=seeded())
    frame = labels_frame(counts, leaning, DEMO)
    assert frame["shrunken"].to_list() == label_table(counts, leaning).calibrated.tolist()
    names = queries.comparison_names(get_store(), DEMO).to_pandas()
    assert frame["item_id"].to_list() == names["item_id"].iloc[counts.comparison].to_list()
