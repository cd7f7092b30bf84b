"""Comparisons on which a judge tosses a coin are named, and a judge that merely errs is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_of import evidence_of, overall, result, shown, votes_of

from core.questions.agreement.steadiness import coin_share
from core.records import NO_GOLD


def planted(
    rng: np.random.Generator, items: int, votes: int, *, coins: float = 0.0, flips: float = 0.03
) -> Any:
    """(items, votes) votes: a coin on a share of the items, elsewhere `flips` go the other way."""
    side = rng.choice([-1, 1], (items, 1))
    cast = np.where(rng.random((items, votes)) < flips, -side, side)
    tossed = rng.permutation(items) < round(coins * items)
    return np.where(tossed[:, None], rng.choice([-1, 1], (items, votes)), cast)


def warned(rng: np.random.Generator, draws: int, items: int, votes: Any, **how: float) -> float:
    """Share of draws in which the check warns; votes (2, 2) are two in each order."""
    named = 0
    for _ in range(draws):
        if isinstance(votes, tuple):
            cast = planted(rng, items, sum(votes), **how)
            given = shown(cast[:, : votes[0]], cast[:, votes[0] :])
        else:
            given = {"votes": votes_of(planted(rng, items, votes, **how), NO_GOLD)}
        named += result("coin_share", **given).grade == "warn"
    return named / draws


def test_the_share_is_that_of_the_coins() -> None:
    """4 votes on each of 40,000 comparisons, coins on .20, the rest steady at (2·.97 − 1)."""
    rng = np.random.default_rng(0)
    found = coin_share(votes_of(planted(rng, 40_000, 4, coins=0.2), NO_GOLD))
    assert found is not None
    assert found.value == pytest.approx(0.2, abs=0.01)
    assert found.low <= 0.2 <= found.high
    even = coin_share(votes_of(planted(rng, 40_000, 4, flips=0.1), NO_GOLD))
    assert even is not None
    assert even.value == pytest.approx(0.0, abs=0.01)


def test_products_of_votes_by_hand() -> None:
    """20 items of + + + + and 20 of + + + −: mean ŝ is (1 + 0)/2, and q̂ is 1 and −1."""
    cast = np.ones((40, 4), dtype=np.int64)
    cast[:20, 3] = -1
    # Σ of products of four: 20·1 − 20·1 = 0, so nothing can be said.
    assert coin_share(votes_of(cast, NO_GOLD)) is None
    cast = np.ones((40, 4), dtype=np.int64)
    cast[:8, 3] = -1
    found = coin_share(votes_of(cast, NO_GOLD))
    assert found is not None
    assert found.value == pytest.approx(max(1 - 0.8**2 / 0.6, 0.0))


@pytest.mark.parametrize("unsteady", range(20))
def test_a_share_is_between_none_and_all(unsteady: int) -> None:
    """Where little of q̂ is left, the interval reached 3,564 %."""
    cast = np.ones((40, 4), dtype=np.int64)
    cast[:unsteady, 3] = -1
    found = coin_share(votes_of(cast, NO_GOLD))
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_steady_preference_for_a_slot_is_no_coin() -> None:
    """On a fifth of the items it takes the first slot, twice in each order."""
    ab = np.ones((300, 2), dtype=np.int64)
    ba = np.where(np.arange(300)[:, None] < 60, -1, 1) * np.ones((300, 2), dtype=np.int64)
    found = coin_share(**{key: shown(ab, ba)[key] for key in ("votes", "orders")})
    assert found is not None
    assert found.low <= 0.05


def test_it_never_fails_and_never_distrusts() -> None:
    cast = planted(np.random.default_rng(1), 300, 4, coins=0.5)
    evidence = evidence_of(votes_of(cast, np.sign(cast.sum(axis=1) + 0.5)))
    assert result("coin_share", evidence.votes).grade == "warn"
    assert overall(evidence).verdict != "do_not_trust"
    assert "As unsteady as a coin on " in result("coin_share", evidence.votes).sentence


def test_with_few_items_or_votes_it_is_unknown_and_says_what_to_add() -> None:
    rng = np.random.default_rng(2)
    for items, votes in ((39, 4), (300, 3)):
        found = result("coin_share", votes_of(planted(rng, items, votes, coins=0.2), NO_GOLD))
        assert found.grade == "unknown"
        assert found.applicable
        assert "four votes" in found.sentence


@pytest.mark.thorough
def test_planted_coins_are_named_and_errors_are_not() -> None:
    rng = np.random.default_rng(3)
    assert warned(rng, 200, 300, 4, coins=0.2) >= 0.85
    assert warned(rng, 200, 300, (2, 2), coins=0.2) >= 0.65
    assert warned(rng, 200, 60, 6, coins=0.2) >= 0.60
    for flips in (0.03, 0.10, 0.20):
        for items, votes in ((300, 4), (300, (2, 2)), (60, 6)):
            assert warned(rng, 300, items, votes, flips=flips) <= 0.05, (flips, items, votes)
