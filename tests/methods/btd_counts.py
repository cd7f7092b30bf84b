"""Counts of votes with gold drawn from the BTD model, for tests of what fits it."""

from __future__ import annotations

import numpy as np

from core.records import VoteCounts


def simulate_counts(
    *,
    beta: float,
    nu: float,
    gamma: float,
    comparisons: int,
    votes: int = 12,
    comparisons_per_item: int = 1,
    concentration: float = 0.7,
    alpha: float = 1.0,
    kappa: float = 1.0,
    rng: np.random.Generator,
) -> VoteCounts:
    """Draw counts of one judge, and gold from the BTD model given the counts.

    (c⁺, c⁰, c⁻) is Dirichlet-multinomial with equal `concentration` (ours); s = ½·ln((c⁺ + α)/(c⁻ +
    α)), t = ln((c⁰ + κ)/(n + κ)); p(±1) ∝ exp(±β·s), p(0) ∝ ν·exp(γ·t). Given the counts, gold is
    independent, within an item too.

    Source: [BTD] §4.
    """
    share = rng.dirichlet([concentration] * 3, comparisons)
    plus, tie, minus = rng.multinomial(votes, share).T.astype(np.int64)
    s = 0.5 * np.log((plus + alpha) / (minus + alpha))
    t = np.log((tie + kappa) / (votes + kappa))
    weight = np.stack([np.exp(-beta * s), nu * np.exp(gamma * t), np.exp(beta * s)], axis=1)
    cumulative = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    gold = (rng.random(comparisons)[:, None] > cumulative[:, :2]).sum(axis=1).astype(np.int64) - 1
    code = np.arange(comparisons, dtype=np.int64)
    return VoteCounts(
        comparison=code,
        item=code // comparisons_per_item,
        plus=plus,
        tie=tie,
        minus=minus,
        gold=gold,
    )
