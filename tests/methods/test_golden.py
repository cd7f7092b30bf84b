"""Published tables that no single module owns, and that none of the others is forgotten."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from places import REPOSITORY

from core.questions.order.method import sign_test

HERE = REPOSITORY / "tests"

REFERENCE_LINES = {"th_calibration_published.csv"}
"""Facts to draw beside a user's own results; there is no formula to check them with."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_sign_tests_of_the_permutation_consensus(golden: Path) -> None:
    """[PCF] Tables 1 and 2, with the p-values that the golden README gives."""
    published = [row for row in rows(golden / "pcf_published.csv") if row["improved"]]
    counts = [(int(row["improved"]), int(row["regressed"])) for row in published]
    assert counts == [(30, 14), (39, 15)]
    assert sign_test(*counts[0]) == pytest.approx(0.0226, abs=5e-5)
    assert sign_test(*counts[1]) == pytest.approx(0.0015, abs=5e-5)
    pooled = tuple(map(sum, zip(*counts, strict=True)))
    assert sign_test(*pooled) == pytest.approx(6.6e-5, abs=5e-7)


def test_published_calibrated_aggregation_has_the_sign_found_on_real_votes(golden: Path) -> None:
    """[BTD] Table 3: below majority in every row, as in the README's own table
    (tests/packaging/test_docs.py).
    """
    published = rows(golden / "btd_mae_published.csv")
    assert len(published) == 16
    assert all(float(row["btd"]) < float(row["sc"]) for row in published)


def test_every_published_table_is_used(golden: Path) -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("test_*.py"))
    unused = {path.name for path in golden.glob("*.csv") if f'"{path.name}"' not in tests}
    assert unused <= REFERENCE_LINES
