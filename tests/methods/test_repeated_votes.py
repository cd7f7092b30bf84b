"""Confidence by the share of repeated votes: against an own calculation, on the audit and the page."""

import json

import numpy as np
import pytest
from apps import opened
from places import REPOSITORY

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.errors import InvalidOption
from core.questions.confidence.figure import bin_key
from core.records import VoteCounts
from core.stats.repeated_votes import outcomes_by_share

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"


def by_hand(path, judge):
    """Majority, its share of votes and whether it is gold, of each comparison that was repeated."""
    import pandas as pd

    votes = pd.read_csv(path)
    votes = votes[(votes.judge == judge) & votes.vote.notna() & votes.gold.notna()]
    rows = []
    for _, one in votes.groupby(["item_id", "model_a", "model_b"]):
        counts = one.vote.value_counts()
        if counts.sum() < 2:
            continue
        first = counts[counts == counts.max()]
        label = first.index[0] if len(first) == 1 else 0
        rows.append((counts.get(label, 0) / counts.sum(), float(label == one.gold.iloc[0])))
    return np.array(rows).T


def test_ece_and_th_equal_an_own_calculation(tmp_path):
    out = tmp_path / "audit.json"
    how = ["--confidence-by", "share", "--splits", "0", "--judge", "sim-judge-boaster"]
    assert main(["audit", str(DEMO), "--json", str(out), *how]) == 0
    judge = json.loads(out.read_text())["judges"]["sim-judge-boaster"]
    share, right = by_hand(DEMO, "sim-judge-boaster")
    place = np.minimum(np.ceil(share * 10 - 1e-9).astype(int), 10)
    ece = sum(
        abs(share[place == k].mean() - right[place == k].mean()) * (place == k).mean()
        for k in np.unique(place)
    )
    assert judge["calibration"]["ece"] == pytest.approx(ece, abs=1e-12)
    assert judge["calibration"]["n"] == len(share)
    for score in judge["calibration"]["th"]:
        sure = (share > 1 - score["epsilon"] + 1e-9) | (share < score["epsilon"] - 1e-9)
        expected = (np.exp(right[sure].mean() - 0.5) - 1) * 100 * sure.mean()
        assert score["th"] == pytest.approx(expected, abs=1e-9)
    kinds = {(kind["by"], kind["kind"]): kind for kind in judge["confidences"]}
    assert kinds["share", "multi"]["ece"] == judge["calibration"]["ece"]
    assert len(kinds) == 2
    stated = next(kind for (by, _), kind in kinds.items() if by == "stated")
    assert stated["ece"] != kinds["share", "multi"]["ece"]


def test_one_vote_has_no_share_and_a_split_vote_is_a_tie_as_sure_as_either_side():
    counts = VoteCounts(
        comparison=np.arange(3),
        item=np.array([0, 0, 1]),
        plus=np.array([1, 2, 0]),
        tie=np.array([0, 0, 0]),
        minus=np.array([0, 2, 3]),
        gold=np.array([1, 1, -1]),
    )
    found = outcomes_by_share(counts)
    assert found.confidence.tolist() == [0.5, 1.0]
    assert found.correct.tolist() == [0, 1]
    assert found.ties.tolist() == [1, 0]
    assert outcomes_by_share(counts.rows(np.array([True, False, False]))) is None


def test_a_share_already_takes_both_orders_together():
    with pytest.raises(InvalidOption, match="both orders together already"):
        AuditOptions(confidence_by="share", correctness="both_orders")


def test_the_page_has_the_diagram_of_repeated_votes(app):
    page = opened(app, "calibration")
    page.button_group(key="rule").set_value("share of votes").run()
    assert not page.exception
    assert any("share of its votes" in str(frame.value.values) for frame in page.dataframe)


@pytest.mark.thorough
def test_marks_of_the_page_by_share_are_those_of_its_bins(app):
    """The votes behind a bin and behind "wrong" are all votes on the comparisons it counts."""
    import pandas as pd

    judge = "sim-judge-boaster"
    votes = pd.read_csv(DEMO)
    votes = votes[(votes.judge == judge) & votes.vote.notna() & votes.gold.notna()]
    behind, wrong = 0, 0
    for _, one in votes.groupby(["item_id", "model_a", "model_b"]):
        counts = one.vote.value_counts()
        if counts.sum() < 2:
            continue
        first = counts[counts == counts.max()]
        label = first.index[0] if len(first) == 1 else 0
        if 0.7 < counts.get(label, 0) / counts.sum() <= 0.8:
            behind += counts.sum()
        if label != one.gold.iloc[0]:
            wrong += counts.sum()
    page = opened(app, "calibration", rule="share of votes", judge=judge)
    key = bin_key(judge, 0.7, 0.8)
    page.selectbox(key="bin").set_value(key)
    page.selectbox(key="wrong").set_value(judge).run()
    assert not page.exception
    said = "\n".join(text.value for text in (*page.text, *page.caption, *page.markdown))
    assert behind
    assert wrong
    for n in (behind, wrong):
        assert f"{n:,} votes" in said, said[:3000]
