"""What may not change how a file is read: order, columns beside, and how a table is written."""

from benchmarks.reading_laws import EQUAL, LAWS, SHORT, SILENT, made, measured

_NAMES = {SHORT[law] for law in ("german", "french", "spanish", "nonsense")}


def test_order_bookkeeping_and_dress_change_no_reading():
    outcomes, lines = measured(made())
    for law in LAWS.keys() - _NAMES:
        assert set(outcomes[law]) == {EQUAL}, lines
    for law in _NAMES:
        assert not outcomes[law][SILENT], lines
