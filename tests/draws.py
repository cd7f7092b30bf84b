"""Random numbers of tests."""

import numpy as np


def seeded() -> np.random.Generator:
    """The generator that pages and commands start from: the same numbers each time."""
    return np.random.default_rng(0)
