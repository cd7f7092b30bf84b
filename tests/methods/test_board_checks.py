"""What is asked for beyond a board: abstention of direct scores, distributions over judges, juries by
share of votes with fusers beside the same model alone; on the command line and on the pages.
"""

import csv
import gzip
import json

import numpy as np
import pytest
from apps import opened
from places import REPOSITORY

from core.__main__ import main
from core.errors import InvalidOption, NoUsableVotes
from core.questions.boards.anchored import board
from core.questions.boards.board_checks import over_judges
from core.questions.boards.score_spread import score_abstention
from core.questions.boards.score_words import scores_abstained
from core.questions.juries.jury import judge_jury, model_of_fuser
from core.questions.juries.words import fusers_alone
from core.records import NO_GOLD, ConfidenceCounts, DirectScores, PairScores, VoteCounts

DATA = REPOSITORY / "data"
DEMO, SCORES = DATA / "demo_votes.csv.gz", DATA / "demo_scores.csv.gz"


def direct(rows):
    """Direct scores of (item, model, run, score)."""
    item, model, run, score = (np.array(column) for column in zip(*rows, strict=True))
    return DirectScores(
        models=("a", "b"),
        categories=("",),
        item=item,
        category=np.zeros(len(item), dtype=np.int64),
        model=model,
        run=run,
        score=score.astype(float),
    )


def test_abstention_of_direct_scores_by_hand():
    """Items 0 to 5 of `a` are scored 4 and 4, item 6 1 and 9: its SD is 5.66 of a scale of 8."""
    steady = [(item, 0, run, 4) for item in range(6) for run in (0, 1)]
    wild = [(6, 0, 0, 1), (6, 0, 1, 9), (0, 1, 0, 2)]
    found = score_abstention({"j": direct(steady + wild)}, threshold=0.5, thresholds=(0.5, 0.8))
    assert (found.scale, found.n, found.n_unknown) == (8, 7, 1)
    every, wide, narrow = found.rows
    assert (every.threshold, every.coverage, every.delta) == (None, 1, 0)
    assert (wide.threshold, wide.coverage) == (0.8, 1)
    assert (narrow.coverage, narrow.n) == (6 / 7, 6)
    (a,) = found.changed
    assert (a.model, a.n, a.kept) == ("a", 7, 6)
    assert a.mean == pytest.approx((6 * 4 + 5) / 7)
    assert a.delta.value == pytest.approx(4 - a.mean)
    assert narrow.delta == pytest.approx(abs(a.delta.value))
    assert a.delta.low < a.delta.value < a.delta.high
    assert scores_abstained(found).startswith("Without responses on which a judge's scores differ")
    whole = score_abstention({"j": direct(steady + wild)}, threshold=1.0)
    assert [(one.delta.value, one.delta.low, one.delta.high) for one in whole.changed] == [
        (0, 0, 0)
    ]


def test_abstention_needs_repeats_and_a_threshold_that_is_a_share():
    once = {"j": direct([(0, 0, 0, 3), (1, 0, 0, 4)])}
    with pytest.raises(NoUsableVotes, match="scored a response twice"):
        score_abstention(once)
    with pytest.raises(InvalidOption, match="from 0 to 1"):
        score_abstention(once, threshold=2)


def test_the_interval_of_a_change_holds_what_all_items_would_show():
    """Noise grows with quality in some items, so dropping noisy ones moves the mean by a known sum."""
    rng = np.random.default_rng(0)
    inside, draws = 0, 120
    # Half of the items are worth 3 and steady, half are worth 6 and noisy: kept alone, 3 − 4.5.
    for _ in range(draws):
        noisy = rng.random(80) < 0.5
        quality = np.where(noisy, 6.0, 3.0) + rng.normal(0, 0.5, 80)
        rows = [
            (item, 0, run, quality[item] + (side if noisy[item] else 0.0))
            for item in range(80)
            for run, side in ((0, 1.5), (1, -1.5))
        ]
        (a,) = score_abstention({"j": direct(rows)}, threshold=0.1).changed
        inside += a.delta.low <= -1.5 <= a.delta.high
    assert inside / draws >= 0.9


def pairs(strength):
    """Model m beats the anchor on a share of 40 prompts."""
    won = [
        (0, m, i, float(i >= share * 40)) for m, share in enumerate(strength, 1) for i in range(40)
    ]
    first, second, item, score = (np.array(column) for column in zip(*won, strict=True))
    return PairScores(
        models=("anchor", "x", "y"),
        model_1=first,
        model_2=second,
        item=item,
        score=score,
        n_votes=np.ones(len(item), dtype=np.int64),
    )


def test_distribution_over_judges_is_of_their_boards():
    judged = {
        name: board(pairs(strength), "anchor")
        for name, strength in (("j", (0.5, 0.2)), ("k", (0.7, 0.3)), ("l", (0.9, 0.1)))
    }
    first, second = over_judges("anchor", judged)
    elo = sorted(row.elo.value for one in judged.values() for row in one.rows if row.model == "x")
    assert (first.model, first.judges, second.model) == ("x", 3, "y")
    assert (first.least, first.median, first.most) == pytest.approx(tuple(elo))
    assert first.q1 == pytest.approx((elo[0] + elo[1]) / 2)


def voted(labels, gold, *, comparison=None, votes=1):
    labels = np.asarray(labels)
    comparison = np.arange(len(labels)) if comparison is None else np.asarray(comparison)
    counts = VoteCounts(
        comparison=comparison,
        item=comparison,
        plus=(labels == 1) * votes,
        tie=(labels == 0) * votes,
        minus=(labels == -1) * votes,
        gold=np.asarray(gold),
    )
    stated = ConfidenceCounts(
        comparison=comparison,
        vote=labels,
        confidence=np.full(len(labels), 0.9),
        n=np.full(len(labels), votes),
    )
    return counts, stated


def jury_of(judges, **options):
    counts = {name: one for name, (one, _) in judges.items()}
    votes = {name: one for name, (_, one) in judges.items()}
    return judge_jury(counts, votes, rng=np.random.default_rng(0), **options)


def test_a_fuser_is_compared_with_the_same_model_alone():
    """Right on 45 of 60 where the model alone is right on 30, of which the fuser has 30."""
    gold = np.ones(60, dtype=np.int64)
    model = np.where(np.arange(60) < 30, 1, -1)
    fuser = np.where(np.arange(60) < 45, 1, -1)
    judges = {
        "m": voted(model, gold),
        "n": voted(-model, gold),
        "o": voted(np.ones(60, dtype=np.int64), gold),
        "fuser(m)": voted(fuser, gold),
        "fuser(gone)": voted(fuser, gold),
    }
    found = jury_of(judges).table
    assert model_of_fuser("fuser(m)") == "m"
    assert model_of_fuser("m") is None
    score = found.scores["fuser(m)"]
    assert (score.alone, score.against_alone.value) == ("m", pytest.approx(15 / 60))
    assert score.against_alone.low > 0
    assert found.scores["fuser(gone)"].against_alone is None
    assert found.scores["majority"].alone is None
    (said,) = fusers_alone(found)
    assert said.startswith("fuser(m) against m alone: +25.0 points (")
    assert said.endswith("reading the others helps.")
    row = found.to_frame().set_index("key").loc["fuser(m)"]
    assert (row["alone"], row["against_alone_value"]) == ("m", pytest.approx(0.25))


def test_a_jury_by_share_takes_no_stated_confidence():
    gold = np.array([1, 1, -1, -1] * 10)
    judges = {name: voted(gold, gold, votes=3) for name in "mno"}
    assert jury_of(judges).members.kind == "stated"
    by_share = jury_of(judges, by="share").members
    assert by_share.kind == "share"
    assert by_share.confidence.tolist() == np.ones((3, 40)).tolist()
    once = {name: voted(gold, gold) for name in "mno"}
    assert jury_of(once, by="share").members.kind == "none"
    assert NO_GOLD not in gold


def test_the_command_writes_juries_checks_and_an_outside_board(tmp_path, capsys):
    outside, out = tmp_path / "published.csv", tmp_path / "audit.json"
    outside.write_text("model,score\nsim-hazel,70\nsim-birch,65\nsim-elm,50\nsim-alder,40\n")
    asked = ["--jury", "--board-checks", "--outside", str(outside), "--confidence-by", "share"]
    how = ["--splits", "0", "--anchor", "sim-anchor-one", "--all", "--json", str(out)]
    assert main(["audit", str(DEMO), *asked, *how]) == 0
    found = json.loads(out.read_text())
    assert found["options"]["outside"] == "published.csv"
    assert found["jury"]["confidence"] == "share"
    kinds = {row["kind"] for row in found["jury"]["rows"]}
    assert kinds == {"member", "rule", "member by BTD"}
    checks = found["board_checks"]
    assert {row["rule"] for row in checks["abstention"]} == {"run_sd", "confidence"}
    boards = found["leaderboards"]["sim-anchor-one"]
    own = {each["judge"]: each["rows"] for each in boards if each["judge"]}
    for row in checks["over_judges"]:
        elos = [one["elo"] for rows in own.values() for one in rows if one["model"] == row["model"]]
        assert (row["judges"], row["median"]) == (len(elos), pytest.approx(np.median(elos)))
    assert all(0 <= row["p_holm"] <= 1 for row in checks["triangles"] if row["p_holm"] is not None)
    assert [row["model"] for row in found["outside"]["models"]] == [
        row["model"] for row in boards[0]["rows"] if row["model"] in outside.read_text()
    ]
    said = capsys.readouterr().out
    for line in ("Juries: ", "Leaderboards, checked", "Outside board published.csv: "):
        assert line in said
    missing = tmp_path / "gone.csv"
    assert main(["audit", str(DEMO), "--outside", str(missing)]) == 2
    assert "gone.csv: cannot be read" in capsys.readouterr().err


def test_direct_scores_alone_have_their_checks(tmp_path):
    out = tmp_path / "audit.json"
    assert main(["audit", str(SCORES), "--board-checks", "--json", str(out)]) == 0
    checks = json.loads(out.read_text())["board_checks"]
    judge, model = "sim-judge-careful", "sim-hazel"
    with gzip.open(SCORES, "rt") as file:
        given = [
            float(row["score"])
            for row in csv.DictReader(file)
            if (row["judge"], row["model"]) == (judge, model)
        ]
    row = next(
        row for row in checks["direct_scores"] if (row["judge"], row["model"]) == (judge, model)
    )
    assert row["mean"]["value"] == pytest.approx(np.mean(given))
    assert row["sd"] == pytest.approx(np.std(given, ddof=1))
    from scipy.stats import kurtosis

    assert row["kurtosis"] == pytest.approx(kurtosis(given))
    assert checks["score_abstention"]["models"]


@pytest.mark.thorough
def test_the_pages_have_them_too(app):
    page = opened(app, "leaderboard")
    shown = next(f.value for f in page.dataframe if "median" in f.value.columns)
    assert {"Q1", "Q3", "judges"} <= {*shown.columns}
    page.query_params["tab"] = "Abstention"
    page.run()
    assert not page.exception
    assert any("change of p" in f.value.columns for f in page.dataframe)
    page.query_params["tab"] = "Direct scores"
    page.run()
    assert not page.exception
    assert any("|change| of mean score" in f.value.columns for f in page.dataframe)
