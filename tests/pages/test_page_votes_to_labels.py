"""The Aggregation page: core's numbers in the real app, its figures, its sentence, and labels
handed out.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from apps import OPENED, judge_of, new_app, opened, texts
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.questions.labels.btd import Bounds, BTDOptions, apply, fit
from core.questions.labels.evaluation import evaluate
from core.questions.labels.figure import pattern_key, share_key
from core.questions.labels.rules import given_labels, label_table
from core.questions.labels.words import recommend
from core.records import NO_GOLD, VoteCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store.vote_queries import comparison_names, vote_counts, weighed_votes
from pages.shared.cached import get_store

MAIN = REPOSITORY / "pages" / "main.py"
JUDGE = "sim-judge-decisive"
HOSTILE = "<img src=x onerror=alert(1)>"


DEMO = Selection(datasets=(DEMO_DATASET,))


def demo_labelled(judge: str = JUDGE) -> tuple[VoteCounts, dict[str, np.ndarray]]:
    labelled = vote_counts(get_store(), DEMO)[judge].labelled()
    return labelled, given_labels(labelled, weighed_votes(get_store(), DEMO)[judge])[0]


def tables(page: AppTest) -> dict[str, object]:
    return {frame.value.columns[0]: frame.value for frame in page.dataframe}


@pytest.mark.thorough
def test_page_shows_what_core_computes(app: AppTest) -> None:
    page = opened(app, "votes_to_labels")
    assert judge_of(page) == JUDGE
    labelled, given = demo_labelled()
    found = evaluate(labelled, rng=np.random.default_rng(0), given=given)
    shown = tables(page)
    rules = shown["rule"].set_index("rule")
    assert list(rules.index) == [score.name for score in found.scores.values()]
    for score in found.scores.values():
        row = rules.loc[score.name]
        assert (row["MAE"], row["low"], row["high"]) == (
            score.mae,
            score.mae_item_low,
            score.mae_item_high,
        )
        assert (row["split low"], row["split high"]) == (score.mae_low, score.mae_high)
        assert (row["PA"], row["regret"], row["top cluster"]) == (
            score.pa,
            score.regret,
            score.top_cluster,
        )
        assert row["n"] == found.n
    fitted = fit(labelled.cells()[0])
    parameters = shown["parameter"].set_index("parameter")
    assert parameters["all labels"].to_list() == [fitted.beta, fitted.nu, fitted.gamma]
    assert found.parameters is not None
    assert parameters["mean of splits"].to_list() == found.parameters.mean.tolist()
    assert parameters["on its bound"].to_list() == ["no", "yes", "no"]
    assert f"{JUDGE}: {recommend(JUDGE, found, most_votes=12).sentence}" in texts(page)


def test_page_and_audit_agree_to_the_last_digit(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", share="10", seed="3", alpha="2.0", kappa_ties="0.5")
    options = AuditOptions(alpha=2.0, kappa=0.5, calibration_share=0.1, seed=3)
    judges = {one.judge: one for one in audit(get_store(), DEMO, options).judges}
    one = judges[JUDGE]
    assert one.splits is not None
    assert one.btd is not None
    rules = tables(page)["rule"].set_index("rule")
    for key in ("btd", "majority", "threshold", "constant"):
        score = one.splits.scores[key]
        row = rules.loc[score.name]
        assert (row["MAE"], row["split low"], row["split high"], row["PA"]) == (
            *(score.mae, score.mae_low, score.mae_high, score.pa),
        )
    parameters = tables(page)["parameter"]
    assert parameters["all labels"].to_list() == [one.btd.beta, one.btd.nu, one.btd.gamma]


def test_bounds_and_loss_reach_the_fit(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", nu_to="50", loss="log")
    labelled, _ = demo_labelled()
    fitted = fit(labelled.cells()[0], BTDOptions(bounds=Bounds(nu=(1e-4, 50.0)), loss="log"))
    assert fitted.nu <= 50
    assert tables(page)["parameter"]["all labels"].to_list() == [
        fitted.beta,
        fitted.nu,
        fitted.gamma,
    ]
    page.number_input(key="nu_from").set_value(100.0).run()
    assert not page.exception
    assert any("the first must be below the second" in text for text in texts(page))


def test_a_square_leads_to_its_votes(app: AppTest) -> None:
    counts = vote_counts(get_store(), DEMO)[JUDGE]
    page = opened(app, "votes_to_labels", cell=pattern_key(6, 1, 5))
    behind = page.dataframe[0].value
    wanted = (counts.plus == 6) & (counts.tie == 1) & (counts.minus == 5)
    assert len(behind) == min(200, 12 * int(wanted.sum()))
    assert set(behind["judge"]) == {JUDGE}


def test_a_rule_leads_to_what_it_labels_wrongly(app: AppTest) -> None:
    page = opened(app, "votes_to_labels", wrong="Majority (SC)")
    votes = tables(page)["dataset"]
    assert set(votes["judge"]) == {JUDGE}
    per = votes.groupby(["item_id", "model_a", "model_b"]).agg(
        total=("vote", "sum"), gold=("gold", "first")
    )
    complete = per.iloc[:-1]  # the last comparison may be cut
    assert (np.sign(complete["total"]) != complete["gold"]).mean() > 0.9


def test_bars_and_cells_lead_to_votes(app: AppTest) -> None:
    page = opened(
        app,
        "votes_to_labels",
        share_of=share_key("gold", 0),
        cell_majority="gold says a tie, judge says A better",
    )
    frames = [frame.value for frame in page.dataframe if "vote" in frame.value.columns]
    assert len(frames) == 2
    assert all(set(frame["gold"]) == {0} for frame in frames)


def test_copied_code_gives_the_numbers_shown(
    app: AppTest, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(app, "votes_to_labels")
    (code,) = (block.value for block in page.code if "evaluate" in block.value)
    # The app holds the store's file, so the copy uses the open one.
    exec(code.replace(OPENED, "STORE"), {"STORE": get_store()})  # noqa: S102
    printed = capsys.readouterr().out
    for _, row in tables(page)["rule"].iterrows():
        line = f"{row['rule']} {row['MAE']} {row['low']} {row['high']} {row['top cluster']}"
        assert line in printed


@pytest.mark.parametrize("labels", [0, 4, 20])
def test_too_few_labels_say_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_path: Path, labels: int
) -> None:
    path = tmp_path / "few.duckdb"
    rows = [
        {
            "dataset": "few",
            "item_id": f"i{k}",
            "judge": HOSTILE,
            "vote": k % 3 - 1,
            "gold": 1 if k < labels else None,
        }
        for k in range(40)
    ]
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    page = opened(new_app(), "votes_to_labels")
    if not labels:
        assert any("judged no comparison with a gold label" in text for text in texts(page))
        assert not page.get("plotly_chart")
    elif labels < 20:
        assert any(
            "at least 20 labelled comparisons to fit; there are 4" in text for text in texts(page)
        )
        assert not page.get("plotly_chart")
    else:
        # Enough for a fit and its map, but nothing is left to judge it by.
        assert any("another item to evaluate on; there are 20" in text for text in texts(page))
        assert any("labelled comparisons to fit; there are 1" in text for text in texts(page))
        assert len(page.get("plotly_chart")) == 2
    assert not any(HOSTILE in element.value for element in page.markdown)


def test_downloaded_labels_name_every_comparison(app: AppTest) -> None:
    store = get_store()
    counts = vote_counts(store, DEMO)[JUDGE]
    names = comparison_names(store, DEMO).to_pandas()
    from core.store.vote_queries import Mark, votes_behind

    for code in (0, 17, len(names) - 1):
        votes = votes_behind(store, DEMO, mark=Mark(comparisons=(code,))).to_pandas()
        for column in ("dataset", "item_id", "model_a", "model_b"):
            assert set(votes[column]) == {names[column][code]}
    unlabelled = replace(counts, gold=np.where(np.arange(len(counts)) < 30, counts.gold, NO_GOLD))
    fitted = fit(unlabelled.cells()[0])
    frame = label_table(unlabelled, fitted).to_frame()
    assert frame["gold"].isna().sum() == len(counts) - 30
    assert frame["calibrated"].to_list() == apply(fitted, counts).tolist()
    assert frame["majority"].to_list() == counts.label.tolist()
    p = frame[["p(-1)", "p(0)", "p(+1)"]].to_numpy()
    assert np.allclose(p.sum(axis=1), 1)
    assert (np.where(p[:, 2] > 0.5, 1, np.where(p[:, 0] > 0.5, -1, 0)) == frame["calibrated"]).all()
