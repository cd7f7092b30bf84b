"""Answers of a known quality, scored by people and a judge: what tests of scores share."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np


def levels(quality: np.ndarray, rng: np.random.Generator, noise: float) -> np.ndarray:
    """Scores of 1 to 5 of answers of a quality with mean 0 and SD 1."""
    seen = quality + noise * rng.normal(size=quality.shape)
    return np.clip(np.round(3 + 1.1 * seen), 1.0, 5.0)


def panel(
    rng: np.random.Generator, n: int, *, people: int = 1, noise: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quality, a fair judge's scores and those of people, (n, people)."""
    quality = rng.normal(size=n)
    judge = levels(quality, rng, noise)
    return quality, judge, np.stack([levels(quality, rng, noise) for _ in range(people)], axis=1)


def score_rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Rows of a file of `scores/`."""
    with gzip.open(folder / "scores" / name, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
