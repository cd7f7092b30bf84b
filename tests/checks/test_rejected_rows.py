"""Rows that could not be read are part of what the check data says, from a file and from a store."""

import pytest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import read
from core.schema import Selection
from core.store import Store


def data_check(tmp_path, rejected: int, rows: int = 100):
    """The check data of one judge, of whose rows some have a label that nobody explains."""
    lines = ["item_id,model_a,model_b,judge,vote,gold"]
    lines += [f"{i},x,y,j,{'7' if i < rejected else 'A'},A" for i in range(rows)]
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (reading,) = read([(file.name, file)])
    assert reading.n_rejected == rejected
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.load(reading)
    # What was rejected is known without the file.
    with Store.open(tmp_path / "votes.duckdb") as store:
        audited = audit(store, Selection(), AuditOptions(splits=0))
    return next(result for result in audited.checks if result.check == "data")


@pytest.mark.parametrize(
    ("rejected", "grade"), [(0, "ok"), (2, "ok"), (3, "warn"), (10, "warn"), (11, "fail")]
)
def test_caution_from_two_in_a_hundred_and_failure_from_ten(tmp_path, rejected, grade):
    result = data_check(tmp_path, rejected)
    assert result.grade == grade
    assert (f"{rejected}.0 % of 100 rows" in result.sentence) == (rejected > 0)
