"""Records, columns and frames are audited as the CSV of the same rows, wherever a file is taken."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import core
from core.importers.objects import as_file, as_json
from core.use.testing import assert_judges

RECORDS = [
    {"item_id": f"q{n // 2}", "judge": "j", "vote": "AB"[n % 3 > 0], "run": n % 2, "gold": "A"}
    for n in range(60)
]
COLUMNS = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
CSV = pd.DataFrame(RECORDS).to_csv(index=False).encode()


class _DataSet:
    """Anything that becomes a frame, as data sets of Hugging Face do."""

    def to_pandas(self):
        return pd.DataFrame(RECORDS)


FORMS = {
    "records": RECORDS,
    "columns": COLUMNS,
    "arrays": {name: np.array(cells) for name, cells in COLUMNS.items()},
    "pandas": pd.DataFrame(RECORDS),
    "polars": pl.DataFrame(RECORDS),
    "arrow": pa.table(COLUMNS),
    "data set": _DataSet(),
}


def _facts(audit):
    judge = audit.judges["j"]
    return judge.accuracy, [str(check) for check in audit.checks]


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_audited_as_the_csv_of_the_same_rows(form):
    assert _facts(core.audit(FORMS[form])) == _facts(core.audit(CSV))


@pytest.mark.parametrize("form", FORMS)
def test_objects_stand_for_files_of_the_last_audit_and_of_labels(form):
    last = core.audit(CSV, against=CSV).against
    assert core.audit(CSV, against=FORMS[form]).against.shifts == last.shifts
    bare = [{k: v for k, v in record.items() if k != "gold"} for record in RECORDS]
    labels = [{"item_id": f"q{n}", "label": "A"} for n in range(30)]
    made = {
        "records": labels,
        "columns": {name: [row[name] for row in labels] for name in labels[0]},
    }.get(form, pd.DataFrame(labels))
    assert core.audit(bare, labels_from=made).judges["j"].accuracy is not None


def test_a_gate_takes_what_an_audit_takes():
    assert assert_judges(RECORDS, "accuracy<0.01").judges
    with pytest.raises(AssertionError):
        assert_judges(pd.DataFrame(RECORDS), "accuracy<0.99")


def test_missing_values_are_missing():
    text = as_json([{"a": float("nan"), "b": pd.NaT, "c": np.float64(2), "d": pd.NA}])
    assert text == b'{"a": null, "b": null, "c": 2.0, "d": null}'


def test_a_table_as_a_file_is_parquet():
    _, data = as_file(FORMS["polars"], "votes")
    assert pd.read_parquet(io.BytesIO(data)).equals(pd.DataFrame(RECORDS))
