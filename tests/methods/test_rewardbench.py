"""The tables of docs/results.md and benchmarks/printed are what the script prints, and shrunken BTD
is what they say it is.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from places import REPOSITORY

from benchmarks import rewardbench2
from core.questions.labels.evaluation import Evaluation, MethodScore

RESULTS = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
PRINTED = (REPOSITORY / "benchmarks" / "printed" / "rewardbench2.md").read_text(encoding="utf-8")

Cell = tuple[str, str]
Found = dict[Cell, Evaluation]
Others = dict[str, dict[Cell, MethodScore]]


def block(name: str) -> str:
    found = re.search(
        rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", RESULTS + PRINTED, flags=re.DOTALL
    )
    assert found, name
    return found[1]


def maes(found: Found, key: str) -> np.ndarray:
    return np.array([result.scores[key].mae for result in found.values()])


def check_the_tables_are_what_the_script_prints(found: Found, others: Others) -> None:
    assert len(found) == 15
    assert rewardbench2.table(found, others["weak"]) == block("rewardbench2-cells")
    shown = block("rewardbench2")
    assert rewardbench2.summary(found, others) in shown
    for key in ("btd", "btd_shrunk"):
        assert rewardbench2.threshold_beats(found, key) in shown
    assert rewardbench2.not_applicable(found) in " ".join(RESULTS.split())


def check_shrunken_btd_reaches_what_was_wanted(found: Found) -> None:
    """Regret at most half of BTD's, no cell worse by more than .005, in the top cluster in at least
    13.
    """
    shrunk, btd = (
        [result.scores[key] for result in found.values()] for key in ("btd_shrunk", "btd")
    )
    assert np.mean([one.regret for one in shrunk]) <= 0.5 * np.mean([one.regret for one in btd])
    assert (maes(found, "btd_shrunk") - maes(found, "btd")).max() <= 0.005
    assert sum(bool(one.top_cluster) for one in shrunk) >= 13
    assert maes(found, "btd_shrunk").mean() < maes(found, "threshold").mean()
    assert (maes(found, "btd") < maes(found, "majority")).all()


def check_means_are_near_an_independent_implementation(found: Found, others: Others) -> None:
    for key in ("majority", "btd"):
        assert maes(found, key).mean() == pytest.approx(rewardbench2.REFERENCE[key], abs=0.002)
    everything = np.mean([result.mae_all_labels for result in found.values()])
    assert everything == pytest.approx(rewardbench2.REFERENCE["all"], abs=0.002)
    weak = np.mean([score.mae for score in others["weak"].values()])
    assert weak == pytest.approx(rewardbench2.REFERENCE["weak"], abs=0.002)


def check_a_prior_has_not_seen_its_own_category() -> None:
    counts = rewardbench2.cells(rewardbench2.VOTES)
    cell = ("gpt-5.4 [base]", "Safety")
    before = rewardbench2.priors(counts)[cell]
    unlabelled = {
        name: votes if name[1] != "Safety" else counts["gpt-5.4 [base]", "Math"]
        for name, votes in counts.items()
    }
    after = rewardbench2.priors(unlabelled)[cell]
    np.testing.assert_array_equal(before.theta0, after.theta0)
    np.testing.assert_array_equal(before.precision, after.precision)
    assert rewardbench2.priors(counts, own=True)[cell].theta0 != pytest.approx(before.theta0)


@pytest.mark.thorough
def test_real_votes(shared_data: Path, subtests: pytest.Subtests) -> None:
    assert shared_data.exists()
    found = rewardbench2.evaluations(rewardbench2.VOTES)
    others = rewardbench2.other_priors(rewardbench2.VOTES)
    with subtests.test("tables"):
        check_the_tables_are_what_the_script_prints(found, others)
    with subtests.test("shrunken BTD"):
        check_shrunken_btd_reaches_what_was_wanted(found)
    with subtests.test("means"):
        check_means_are_near_an_independent_implementation(found, others)
    with subtests.test("priors"):
        check_a_prior_has_not_seen_its_own_category()


@pytest.mark.thorough
def test_the_rows_by_temperature_are_what_the_script_prints(shared_data: Path) -> None:
    """One category of five: all three temperatures, with the prior of the other four."""
    assert shared_data.exists()
    rows = rewardbench2.temperature_rows(
        rewardbench2.evaluations(rewardbench2.TEMPERATURES, category="Math")
    )
    assert len(rows) == 3
    shown = block("rewardbench2-temperature").splitlines()
    assert [row for row in shown if "| Math |" in row] == rows
    parts = [[cell.strip() for cell in row.split("|")] for row in shown]
    for mean in (row for row in parts if row[2] == "mean"):
        of_temperature = [row for row in parts if row[1] == mean[1] and row[3]]
        assert len(of_temperature) == 5
        for column in range(4, 8):
            values = [float(row[column].split()[0]) for row in of_temperature]
            assert float(mean[column]) == pytest.approx(np.mean(values), abs=1e-3)


def test_a_judge_without_temperature_is_refused() -> None:
    with pytest.raises(ValueError, match="gpt"):
        rewardbench2._temperature("gpt [base]")
