"""Agreement in figures and sentences: kappas, forests, odd raters, and what they are said to mean."""

from dataclasses import replace

import numpy as np
import pytest
from evidence_of import result
from raters import rater

from core.finding.check import CheckResult
from core.finding.figure import rater_styles
from core.questions.agreement import words as sentences
from core.questions.agreement.figure import (
    BEST,
    MOST_RATERS,
    WORST,
    inter_rater_figure,
    judge_vs_human_figure,
    kappa_matrix,
    pair_key,
    repeatability_figure,
    shown_pairs,
    shown_raters,
)
from core.questions.agreement.judge_vs_human import JudgeVsHuman, leave_one_out
from core.questions.agreement.kappa import agreement_matrix
from core.questions.agreement.reliability import icc, inter_rater_reliability
from core.questions.agreement.results import closest_partner
from core.records import VoteCounts
from core.stats.estimate import Estimate

HOSTILE = "<img src=x onerror=alert(1)>"


def noisy(count: int, n: int = 60) -> dict[str, VoteCounts]:
    rng = np.random.default_rng(3)
    truth = rng.choice([-1, 0, 1], n)
    return {
        f"r{k:02d}": rater(np.where(rng.random(n) < 0.4, rng.choice([-1, 0, 1], n), truth).tolist())
        for k in range(count)
    }


def test_matrix_shows_kappas_and_escapes_names() -> None:
    counts = noisy(3)
    counts[HOSTILE] = counts.pop("r01")
    matrix = agreement_matrix(counts)
    fig = kappa_matrix(matrix, chosen=pair_key(matrix.pairs[0]))
    cells = fig.data[0]
    assert len(cells.x) == 3
    for key, text, hover, x, y in zip(
        cells.customdata, cells.text, cells.hovertext, cells.x, cells.y, strict=True
    ):
        pair = next(one for one in matrix.pairs if pair_key(one) == key[0])
        assert (pair.judge_1, pair.judge_2) == (matrix.judges[x], matrix.judges[y])
        assert float(text) == pytest.approx(pair.kappa.value, abs=0.005)
        assert f"κ {pair.kappa.value:.3f} ({pair.kappa.low:.3f} to {pair.kappa.high:.3f})" in hover
        assert f"{pair.n:,} comparisons" in hover
    assert [shape.line.width for shape in fig.layout.shapes] == [1, 1, 3]
    drawn = " ".join([*cells.hovertext, *(note.text for note in fig.layout.annotations)])
    assert "<img" not in drawn
    assert "&lt;img" in drawn


def test_an_odd_rater_does_not_speak_for_all() -> None:
    """Equal numbers of comparisons: the middle pair by κ, not the first by name."""
    counts = noisy(4)
    counts = {"a guesser": rater(np.random.default_rng(9).choice([-1, 0, 1], 60).tolist())} | counts
    matrix = agreement_matrix(counts)
    partner = closest_partner("r00", matrix, frozenset())
    kappas = sorted(
        pair.kappa.value for pair in matrix.pairs if "r00" in (pair.judge_1, pair.judge_2)
    )
    assert partner.kappa.value == kappas[1]
    assert "a guesser" not in (partner.judge_1, partner.judge_2)
    assert closest_partner("r00", matrix, frozenset({"a guesser"})).judge_1 == "a guesser"
    assert closest_partner("alone", matrix, frozenset()) is None


def test_matrix_with_many_raters_keeps_the_best_and_the_worst() -> None:
    rng = np.random.default_rng(5)
    truth = rng.choice([-1, 0, 1], 300)
    many = MOST_RATERS + 4
    # From the best to the worst, an ever larger share of guesses; listed the other way round.
    shares = {f"r{place:02}": place / many for place in range(many)}
    counts = {
        name: rater(np.where(rng.random(300) < share, rng.choice([-1, 0, 1], 300), truth).tolist())
        for name, share in reversed(shares.items())
    }
    matrix = agreement_matrix(counts)
    shown = shown_raters(matrix)
    assert len(shown) == BEST + WORST == MOST_RATERS
    assert {*shown[:BEST]} <= {*list(shares)[: BEST + 3]}
    assert {*shown[-WORST:]} <= {*list(shares)[-WORST - 2 :]}
    assert len(shown_pairs(matrix)) == MOST_RATERS * (MOST_RATERS - 1) // 2


def test_gold_row_leaves_out_whose_votes_make_it() -> None:
    counts = {
        name: VoteCounts(
            **{f: getattr(one, f) for f in ("comparison", "item", "plus", "tie", "minus")},
            gold=np.ones(len(one), dtype=np.int64),
        )
        for name, one in noisy(3).items()
    }
    keys = [pair_key(pair) for pair in shown_pairs(agreement_matrix(counts), without_gold=["r00"])]
    assert [key for key in keys if "gold" in key] == ["r01 – gold", "r02 – gold"]
    assert {note.text for note in kappa_matrix(agreement_matrix(counts)).layout.annotations} >= {
        "gold"
    }


def test_forests_show_results() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(80, 1))
    repeats = {
        name: icc(truth + rng.normal(0, s, (80, 3))) for name, s in ((HOSTILE, 0.2), ("b", 1.0))
    }
    fig = repeatability_figure(repeats, mark=0.9, styles=rater_styles(list(repeats)))
    means, singles = fig.data[0], fig.data[2]
    assert list(means.x) == [one.icc_3_k.value for one in repeats.values()]
    assert list(singles.x) == [one.icc_3_1.value for one in repeats.values()]
    assert means.x[0] + means.error_x.array[0] == pytest.approx(repeats[HOSTILE].icc_3_k.high)
    assert "<img" not in str(fig.layout.yaxis.ticktext) + str(means.hovertext)

    # One comparison: nothing is known, and nothing is drawn.
    unknown = icc(np.ones((1, 3)))
    assert unknown.icc_3_k is None
    empty = repeatability_figure({"b": unknown}, mark=0.9, styles=rater_styles(["b"]))
    assert empty.layout.xaxis.range[1] == pytest.approx(1.03)

    found = inter_rater_reliability(noisy(4), rng=rng)
    drawn = inter_rater_figure({"all raters": found}).data
    assert [drawn[k].x[0] for k in (0, 2, 4)] == [
        found.alpha_nominal.value,
        found.alpha_ordinal.value,
        found.fleiss.value,
    ]

    contests = [
        one for one in leave_one_out(noisy(4), ["r00", "r01", "r02"], rng=rng).judges if one.n
    ]
    drawn = judge_vs_human_figure(contests, style=rater_styles(["r03"])["r03"]).data
    assert list(drawn[0].x) == [one.difference.value for one in contests if one.rule == "majority"]
    assert [key[0] for key in drawn[2].customdata] == ["r00", "r01", "r02"]


def contest(rule: str, difference: float | None, *, clearly: bool = False) -> JudgeVsHuman:
    known = difference is not None
    return JudgeVsHuman(
        human="h",
        judge="j",
        rule=rule,
        n=40,
        n_items=40,
        human_pa=None,
        judge_pa=None,
        difference=Estimate(difference) if known else None,
        wins=difference > 0 if known else None,
        clearly=clearly if known else None,
        reason=None if known else "too few",
    )


def test_sentences() -> None:
    rows = [
        contest("majority", 0.1, clearly=True),
        contest("majority", 0.01),
        contest("majority", -0.1),
    ]
    assert sentences.wins([*rows, contest("BTD", None)]) == (
        "Compared with the mode of the other people, its majority label beats 2 of 3 people (1 of "
        "them clearly)."
    )
    assert "cannot be set beside people" in sentences.wins([contest("BTD", None)])
    assert sentences.together(
        "People", inter_rater_reliability({}, rng=np.random.default_rng(0))
    ) == ("People: Krippendorff α is unknown: it needs at least 2 raters, and there are 0.")
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(80, 1))
    repeats = {name: icc(truth + rng.normal(0, s, (80, 3))) for name, s in (("a", 0.1), ("b", 1.0))}
    said = sentences.screening(repeats, 0.9)
    assert said.startswith(
        "1 of 2 reach ICC(3,k) 0.90, 1 of them with their whole interval. Below it: b (0."
    )
    assert "No ICC" in sentences.screening({}, 0.9)
    itself, others = (
        CheckResult(judge="a", check=name, grade=grade, sentence=f"On {name}.")
        for name, grade in (("repeatability", "warn"), ("agreement", "unknown"))
    )
    whole = sentences.agreement([itself], others, beside_people=rows)
    assert whole.grade == "warn"
    assert whole.sentence == f"{itself.sentence} {others.sentence} {sentences.wins(rows)}"


def test_agreement_that_is_only_described_does_not_grade_the_page() -> None:
    counts = noisy(2)
    described = result("agreement", counts["r00"], judge="r00", others={"r01": counts["r01"]})
    assert not described.applicable
    fine = CheckResult(judge="r00", check="repeatability", grade="ok", sentence="Fine.")
    assert sentences.agreement([fine], described).grade == "ok"
    assert sentences.agreement([described], described).grade == "unknown"


def test_people_grade_a_judge_only_where_it_has_no_gold() -> None:
    counts = noisy(4)
    people = {name: votes for name, votes in counts.items() if name != "r00"}
    graded = result("agreement", counts["r00"], judge="r00", people=people)
    assert graded.estimate is not None
    assert graded.applicable
    gold = np.ones(len(counts["r00"]), dtype=np.int64)
    labelled = result("agreement", replace(counts["r00"], gold=gold), judge="r00", people=people)
    assert not labelled.applicable
    assert labelled.sentence.startswith("Not graded: there is gold; it says what")
