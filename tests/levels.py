"""What `make test` tries of several cases, and what `make test-all` does."""

from typing import Any

import pytest


def first_of(*cases: Any, n: int = 1) -> list[Any]:
    """Cases for `parametrize`: the first n always, the others with the thorough tests."""
    return [
        *cases[:n],
        *(
            pytest.param(
                *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.thorough
            )
            for case in cases[n:]
        ),
    ]
