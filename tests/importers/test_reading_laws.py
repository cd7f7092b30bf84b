"""What may not change how a file is read: order, columns beside, and how a table is written."""

from benchmarks.reading_laws import DRESSES, EQUAL, LAWS, SILENT, made, measured

_JSON = {f"as {name}" for name in DRESSES if name.startswith("JSON ")}
_NAMES = {law for law in LAWS if law.startswith("names in German") or "say nothing" in law}


def test_order_bookkeeping_and_dress_change_no_reading():
    outcomes, lines = measured(
        {name: table for name, table in made().items() if "metric" not in name}
    )
    for law in LAWS.keys() - _JSON - _NAMES - {"as JSON", "as Parquet"}:
        assert set(outcomes[law]) == {EQUAL}, lines
    for law in _NAMES:
        assert not outcomes[law][SILENT], lines
