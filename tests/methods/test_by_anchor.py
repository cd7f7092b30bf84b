"""Model × anchor and the choice of an anchor, against plain sums over the boards."""

import json

import numpy as np
import pytest
from apps import opened
from places import REPOSITORY

from core.__main__ import main
from core.finding.answer import MOST_WORDS, words
from core.questions.agreement.reliability import Repeatability
from core.questions.boards.anchors import anchor_swap
from core.questions.boards.by_anchor import anchor_summary
from core.questions.boards.panels import judged_boards, panels
from core.questions.boards.words import anchor_answer, which_anchor
from core.records import PairScores
from core.stats.estimate import Estimate

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
FUSER = REPOSITORY / "data" / "demo_fuser.csv.gz"


def scores(strength, rng, *, prompts=60):
    """Every pair of models on every prompt; S is 1 or 0 with the Bradley–Terry chance."""
    models = tuple(strength)
    rows = [
        (i, j, prompt, float(rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))))
        for i, a in enumerate(models)
        for j, b in enumerate(models)
        if i < j
        for prompt in range(prompts)
    ]
    first, second, item, score = (np.array(column) for column in zip(*rows, strict=True))
    return PairScores(
        models=models,
        model_1=first,
        model_2=second,
        item=item,
        score=score,
        n_votes=np.ones(len(rows), dtype=np.int64),
    )


STRENGTH = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0, "e": 4.0}


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    return {name: scores(STRENGTH, rng, prompts=400) for name in ("one", "two", "three")}


def repeated_as(value):
    """How well a judge repeats itself: ICC(3,k) alone matters here."""
    return Repeatability(
        **dict.fromkeys(
            ("icc_3_1", "icc_3_1_f", "icc_3_k_f", "unanimous_share", "msr", "msc", "mse", "reason")
        ),
        k=2,
        n_items=9,
        n_comparisons=9,
        orders="both",
        oriented=True,
        icc_3_k=Estimate(value),
        level=0.95,
    )


def summary(judged, *, strong=()):
    """All votes of the first judge stand for those of all."""
    first = judged["one"]
    pairs = {None: first, **judged}
    boards = judged_boards(pairs, panels(judged, first.models), {})
    swap = anchor_swap(
        first, anchors=first.models, boards={name: each[0].board for name, each in boards.items()}
    )
    repeated = {judge: repeated_as(0.95 if judge in strong else 0.8) for judge in judged}
    own = {
        anchor: {each.judge: each.board for each in of if each.judge}
        for anchor, of in boards.items()
    }
    return anchor_summary(boards, swap, repeatability=repeated), own


def test_spread_and_strong_judges_are_plain_sums(judged):
    found, own = summary(judged, strong={"one", "three"})
    row = next(row for row in found.rows if (row.anchor, row.model) == ("b", "c"))
    of_judges = {
        judge: next(each for each in of.rows if each.model == "c") for judge, of in own["b"].items()
    }
    p = [each.p.value for each in of_judges.values()]
    assert row.cv == pytest.approx(np.std(p, ddof=1) / np.mean(p))
    assert row.sd_elo == pytest.approx(np.std([e.elo.value for e in of_judges.values()], ddof=1))
    strong = [of_judges[judge].elo.value for judge in ("one", "three")]
    assert (row.strong_judges, row.elo_strong) == (2, pytest.approx(np.mean(strong)))
    assert len(found.rows) == 5 * 4


def test_the_anchor_that_measures_most_models_is_taken_if_all_rank_alike(judged):
    found, _ = summary(judged)
    assert all(each.tau == 1 for each in found.anchors)
    coverage = {each.anchor: each.coverage for each in found.anchors}
    assert coverage[found.recommended] == max(coverage.values()) > coverage["e"]
    assert found.recommended in ("b", "c", "d")
    assert which_anchor(found).startswith(f"Take {found.recommended} as the anchor: ")
    said = anchor_answer(found)
    assert said.headline.startswith(f"Take {found.recommended} as the anchor: ")
    assert words(said.headline) <= MOST_WORDS
    assert f"least τ with another anchor {found.anchors[0].tau:.2f}" in said.figures


def test_anchors_that_met_every_model_are_compared_among_themselves():
    """Three models in a circle met few others: as anchors they say nothing of the two that met all."""
    rng = np.random.default_rng(2)
    strength = {"a": 0.0, "b": 0.5, "low": -1.0, "lower": -2.0, "x": 1.0, "y": 2.0, "z": 3.0}
    every = scores(strength, rng, prompts=400)
    first, second = (np.array(every.models)[code] for code in (every.model_1, every.model_2))
    circle = np.isin(first, list("xyz")) & np.isin(second, list("xyz"))
    kept = np.isin(first, ["a", "b"]) | np.isin(second, ["a", "b"]) | circle
    round_it = np.where((first == "x") & (second == "z"), 1.0, 0.0)
    sparse = PairScores(
        models=every.models,
        model_1=every.model_1[kept],
        model_2=every.model_2[kept],
        item=every.item[kept],
        score=np.where(circle, round_it, every.score)[kept],
        n_votes=every.n_votes[kept],
    )
    found, _ = summary({"one": sparse})
    by_name = {each.anchor: each for each in found.anchors}
    assert {name for name, each in by_name.items() if each.serves} == {"a", "b"}
    assert [by_name[name].missed for name in ("a", "b", "x", "low")] == [0, 0, 2, 4]
    assert found.recommended in ("a", "b")
    assert "that met every model" in which_anchor(found)
    assert words(anchor_answer(found).headline) <= MOST_WORDS


def test_a_circle_leaves_no_anchor_that_will_do():
    rng = np.random.default_rng(1)
    alike = scores(dict.fromkeys("abcd", 0.0), rng, prompts=30)
    found, _ = summary({"one": alike})
    assert found.recommended is None
    assert which_anchor(found).startswith("None will do: ")
    said = anchor_answer(found)
    assert said.headline.startswith("No anchor ranks models as all others do; ")
    assert not said.good


@pytest.mark.thorough
def test_the_command_and_the_page_have_it(tmp_path, app):
    out = tmp_path / "audit.json"
    assert main(["audit", str(DEMO), str(FUSER), "--splits", "0", "--json", str(out)]) == 0
    found = json.loads(out.read_text())["anchors"]
    assert {row["anchor"] for row in found["rows"]} == {each["anchor"] for each in found["choices"]}
    assert found["recommended"] == "sim-anchor-one"
    page = opened(app, "leaderboard", tab="Another anchor")
    assert not page.exception
    assert any(text.value.startswith("Take sim-anchor-one as the anchor") for text in page.text)
    shown = next(f.value for f in page.dataframe if "Elo, strong judges" in f.value.columns)
    of_audit = {(row["anchor"], row["model"]): row for row in found["rows"]}
    assert {*zip(shown["anchor"], shown["model"], strict=True)} == {*of_audit}
    for anchor, model, elo, strong in shown[
        ["anchor", "model", "Elo", "Elo, strong judges"]
    ].itertuples(index=False):
        row = of_audit[anchor, model]
        assert elo == pytest.approx(row["elo"]["value"])
        assert strong == pytest.approx(row["elo_strong"])
