"""Gold that cannot tell how often a judge is right: what is said in place of a share.

Votes are made by hand here, with the answer known.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evidence_of import result, votes_of

import core
from core.questions.accuracy.method import only_differing, wrong_category


def audited(folder: Path, rows: list[str], header: str) -> core.Audit:
    file = folder / "votes.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    return core.audit(file)


def said(audit: core.Audit, check: str) -> str:
    return next(each.sentence for each in audit.checks if each.check == check)


def headline(audit: core.Audit) -> str:
    return core.to_text(audit).splitlines()[0]


PLACED = "item_id,model_a,model_b,judge,vote,position,gold"


def test_a_judge_that_says_the_one_label_of_gold_may_never_read(tmp_path: Path) -> None:
    rows = [f"i{k},j,{1 if k % 50 else -1},1" for k in range(200)]
    audit = audited(tmp_path, rows, "item_id,judge,vote,gold")
    assert "always shown first" in said(audit, "accuracy")
    assert audit.overall["j"].verdict == "cannot_say"
    assert "may say one label without reading" in headline(audit)


def test_the_same_judge_in_both_orders_is_right(tmp_path: Path) -> None:
    rows = [f"i{k},a,b,j,1,{order},1" for k in range(200) for order in ("ab", "ba")]
    audit = audited(tmp_path, rows, PLACED)
    assert audit.overall["j"].verdict == "trust"


def test_more_reversals_than_noise_can_make_are_votes_in_other_terms(tmp_path: Path) -> None:
    """98 of 100 reverse, and no place gains: the votes name places."""
    rng = np.random.default_rng(0)
    rows = []
    for k, label in enumerate(rng.choice([-1, 1], 100)):
        other = label if k < 2 else -label
        gold = -label if k % 10 == 0 else label
        rows += [f"i{k},a,b,j,{label},ab,{gold}", f"i{k},a,b,j,{other},ba,{gold}"]
    audit = audited(tmp_path, rows, PLACED)
    assert "--label-refers slot" in said(audit, "stability")
    assert "may be noise" not in said(audit, "stability")
    assert audit.overall["j"].verdict == "cannot_say"
    assert "reverses with the order more than noise can" in headline(audit)


@pytest.mark.parametrize("first", [0.5, 0.8, 1.0])
def test_noise_and_a_favoured_place_are_no_other_terms(tmp_path: Path, first: float) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for k in range(200):
        ab, ba = np.where(rng.random(2) < first, (1, -1), (-1, 1))
        rows += [f"i{k},a,b,j,{ab},ab,1", f"i{k},a,b,j,{ba},ba,1"]
    audit = audited(tmp_path, rows, PLACED)
    assert "--label-refers" not in said(audit, "stability")


def test_gold_that_is_all_ties_is_named(tmp_path: Path) -> None:
    rows = [f"i{k},a,b,j,1,{order},0" for k in range(100) for order in ("ab", "ba")]
    audit = audited(tmp_path, rows, PLACED)
    assert said(audit, "accuracy") == "Accuracy is unknown: every gold label is a tie."
    assert "j was compared with gold that is all ties" in headline(audit)


def test_a_place_that_matters_only_where_gold_ties_is_no_failure(tmp_path: Path) -> None:
    rows = []
    for k in range(120):
        gold = 0 if k % 3 == 0 else 1
        ba = -1 if gold == 0 else 1
        rows += [f"i{k},a,b,j,1,ab,{gold}", f"i{k},a,b,j,{ba},ba,{gold}"]
    audit = audited(tmp_path, rows, PLACED)
    assert "Where gold decides: the response shown first gains 0.0" in said(audit, "position")
    assert audit.overall["j"].verdict == "trust_with_limits"
    assert "may be noise" not in said(audit, "stability")


def test_a_small_category_that_is_always_wrong_is_named() -> None:
    gold = np.ones(12, dtype=np.int64)
    others = np.where(np.arange(108) % 20 == 0, -1, 1)
    categories = {"safety": votes_of(-gold, gold), "chat": votes_of(others, np.ones(108))}
    found = result("category", votes_of(np.r_[-gold, others], np.ones(120)), categories=categories)
    assert found.grade == "fail"
    assert found.sentence.startswith("In safety it is right on 0 of 12 items")
    assert found.fault == "is wrong on safety"


def test_a_judge_at_the_limit_is_seldom_called_wrong_on_a_category() -> None:
    """Right on .60 in each of eight categories: one is named in at most 5 % of the draws."""
    rng, gold = np.random.default_rng(2), np.ones(15, dtype=np.int64)
    named = 0
    for _ in range(300):
        drawn = np.where(rng.random((8, 15)) < 0.60, 1, -1)
        categories = {str(k): votes_of(each, gold) for k, each in enumerate(drawn)}
        named += wrong_category(categories, below=0.60) is not None
    assert named / 300 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def test_gold_only_where_judges_differ_says_nothing_of_either(tmp_path: Path) -> None:
    rows = []
    for k in range(300):
        differ = k < 60
        gold = ("1" if k % 2 else "-1") if differ else ""
        rows += [f"i{k},n,o,A,1,{gold}", f"i{k},n,o,B,{-1 if differ else 1},{gold}"]
    audit = audited(tmp_path, rows, "item_id,model_a,model_b,judge,vote,gold")
    sentence = said(audit, "accuracy")
    assert "only where judges differ (60 comparisons; they differ on 20 %" in sentence
    assert "0.0 points more often than the other" in sentence
    assert {each.verdict for each in audit.overall.values()} == {"cannot_say"}


def test_gold_drawn_at_random_is_not_taken_for_gold_of_disagreements() -> None:
    rng, wrongly = np.random.default_rng(3), 0
    for _ in range(200):
        gold = np.where(rng.random(300) < 0.1, 1, -9)
        judges = [votes_of(np.where(rng.random(300) < 0.8, 1, -1), gold) for _ in range(2)]
        wrongly += only_differing(judges) is not None
    assert wrongly == 0


def test_gates_ask_for_a_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Right on 75 of 100: fit to measure, not to decide."""
    from core.__main__ import main
    from core.use.testing import assert_judges

    rows = [
        f"i{k},{'ab'[k % 2]},{'ba'[k % 2]},j,{gold if k % 4 else -gold},{order},{gold}"
        for k in range(200)
        for gold in [1 if k % 3 else -1]
        for order in ("ab", "ba")
    ]
    file = tmp_path / "votes.csv"
    file.write_text("\n".join([PLACED, *rows]) + "\n")
    assert core.audit(file).overall["j"].word == "May measure, not decide"
    for flags, code in (
        (["--strict", "--use", "measure"], 0),
        (["--strict", "--use", "sort"], 0),
        (["--strict", "--use", "decide"], 1),
        (["--strict"], 0),
        (["--fail-if", "use.measure!=yes"], 0),
        (["--fail-if", "use.decide!=yes"], 1),
        (["--strict", "--use", "decide", "--fail-if", "ece>1"], 1),
        (["--use", "decide"], 2),
        (["--fail-if", "use.rank!=yes"], 2),
    ):
        assert main(["audit", str(file), *flags]) == code, flags
    assert "use.rank" in capsys.readouterr().err
    assert_judges(file, use="measure")
    with pytest.raises(AssertionError, match=r"use[.]decide!=yes: j to decide: no"):
        assert_judges(file, use="decide")
