"""What is left out where more is selected than one view holds, and that a sentence says so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.bounds import (
    MOST_COMPARED,
    MOST_JUDGES,
    MOST_MODELS,
    models_with_most_votes,
    of_models,
    some_of,
    within_judges,
    within_models,
)
from core.errors import InvalidOption
from core.importers import ReadOptions, read
from core.questions.agreement.kappa import agreement_matrix
from core.records import PairScores, VoteCounts
from core.schema import Selection
from core.store import Store


def test_of_too_many_judges_those_with_most_votes_stay_and_people_go_first() -> None:
    votes = [("few", False, 1), ("person", True, 9), ("b", False, 5), ("a", False, 5)]
    assert within_judges(Selection(), votes, most=4) == (Selection(), None)
    kept, said = within_judges(Selection(gold="humans"), votes, most=3, remedy="Choose others.")
    assert kept == Selection(judges=("a", "b", "few"), gold="humans")
    assert said is not None
    assert said.startswith("3 of 4 judges are audited")
    assert said.endswith("Choose others.")
    # Names decide between equals, whatever the order given.
    assert within_judges(Selection(), reversed(votes), most=1)[0].judges == ("a",)


def test_raters_of_scores_and_rankings_stay_beside_the_judges() -> None:
    votes = [(f"j{k}", False, k) for k in range(4)]
    others = [("scorer", 2), ("j0", 7), ("scorer", 1), ("ranker", 1), ("third", 0)]
    kept, _ = within_judges(Selection(), votes, others=others, most=2)
    assert kept.judges == ("j2", "j3", "ranker", "scorer")


def scores(rows: list[tuple[str, str, int]], models: tuple[str, ...]) -> PairScores:
    one, two, votes = zip(*rows, strict=True)
    return PairScores(
        models=models,
        model_1=np.array([models.index(name) for name in one], dtype=np.int64),
        model_2=np.array([models.index(name) for name in two], dtype=np.int64),
        item=np.arange(len(rows), dtype=np.int64),
        score=np.linspace(0, 1, len(rows)),
        n_votes=np.array(votes, dtype=np.int64),
    )


def as_rows(found: PairScores) -> list[tuple[str, str, int, float, int]]:
    return [
        (found.models[a], found.models[b], int(item), float(score), int(n))
        for a, b, item, score, n in zip(
            found.model_1, found.model_2, found.item, found.score, found.n_votes, strict=True
        )
    ]


def test_of_too_many_models_those_with_most_votes_stay_with_all_their_pairs() -> None:
    draw = np.random.default_rng(5)
    models = tuple(f"m{k:02d}" for k in range(20))
    rows = []
    for _ in range(300):
        low, high = sorted(draw.choice(20, 2, replace=False).tolist())
        rows.append((models[low], models[high], int(draw.integers(1, 9))))
    pooled = scores(rows, models)
    # Counted again by name.
    total: Counter[str] = Counter()
    for one, two, n in rows:
        total[one] += n
        total[two] += n
    rarest = min(models, key=lambda name: (total[name], name))
    for anchors in ((), (rarest,)):
        ranked = sorted(models, key=lambda name: (name not in anchors, -total[name], name))
        expected = set(ranked[:7])
        assert set(models_with_most_votes(pooled, anchors, most=7)) == expected
        within, said = within_models({None: pooled, "j": pooled}, anchors, most=7)
        assert said is not None
        assert said.startswith("Leaderboards hold 7 of 20 models")
        kept = [row for row in as_rows(pooled) if {row[0], row[1]} <= expected]
        assert as_rows(within[None]) == as_rows(within["j"]) == kept
        assert set(within[None].models) == expected
    assert within_models({None: pooled}, most=20) == ({None: pooled}, None)
    assert of_models(pooled, (*models, "elsewhere")) is pooled


def test_a_judge_without_any_of_the_models_has_no_scores() -> None:
    models = ("a", "b", "c", "d")
    pooled = scores([("a", "b", 9), ("c", "d", 1)], models)
    within, _ = within_models(
        {None: pooled, "one": pooled, "two": scores([("c", "d", 1)], models)}, most=2
    )
    assert set(within) == {None, "one"}


@pytest.mark.thorough
def test_an_audit_says_what_it_leaves_out() -> None:
    lines = ["item_id,judge,vote,model_a,model_b"]
    for k in range(MOST_JUDGES + 1):
        lines += [f"{i},j{k:03d},1,m0,m1" for i in range(1 if k == 7 else 2)]
    lines += [f"x{k},j000,1,m0,n{k:04d}" for k in range(MOST_MODELS)]
    (reading,) = read([("wide.csv", "\n".join(lines).encode())], ReadOptions())
    with Store.open() as store:
        store.load(reading)
        found = audit(store, Selection(), AuditOptions(splits=0, anchors=("m0",)))
        named = audit(store, Selection(judges=("j007",)), AuditOptions(splits=0))
    names = {judge.judge for judge in found.judges}
    assert len(names) == MOST_JUDGES
    assert "j007" not in names
    assert len(found.agreement.pairs) == MOST_JUDGES * (MOST_JUDGES - 1) // 2
    assert any(note.startswith("500 of 501 judges are audited") for note in found.notes)
    assert any(note.startswith("Leaderboards hold 1,000 of 1,002 models") for note in found.notes)
    pooled = found.boards["m0"][0].board
    assert len(pooled.rows) == MOST_MODELS - 1
    assert [judge.judge for judge in named.judges] == ["j007"]
    assert not any("are audited" in note for note in named.notes)


def test_more_pairs_of_judges_than_can_be_reckoned_are_refused() -> None:
    votes = VoteCounts(
        **{name: np.zeros(1, dtype=np.int64) for name in ("comparison", "item", "tie", "minus")},
        plus=np.ones(1, dtype=np.int64),
        gold=np.ones(1, dtype=np.int64),
    )
    with pytest.raises(InvalidOption, match="1,001 judges have 500,500 pairs"):
        agreement_matrix({f"j{k}": votes for k in range(MOST_COMPARED + 1)})


def test_many_names_in_a_line_are_counted() -> None:
    assert some_of(["a", "b"], 2) == "a, b"
    assert some_of([str(k) for k in range(2_000)], 2) == "0, 1 and 1,998 more"
