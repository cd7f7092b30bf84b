"""Dates in the forms that people and tools write, and periods that fit them."""

import pytest

from core.stats.periods import periods


@pytest.mark.parametrize(
    ("dates", "names"),
    [
        (["2026-01-31 12:00", "2026-02-01T09:30Z", None], ("2026-01-31", "2026-02-01")),
        (["2026/01/31", "20260201"], ("2026-01-31", "2026-02-01")),
        (["31.12.2025", "1.1.2026"], ("2025-12-31", "2026-01-01")),
        (["1/31/2026 10:00", "2/1/2026"], ("2026-01-31", "2026-02-01")),
        (["31/1/26", "1/2/26"], ("2026-01-31", "2026-02-01")),
        (["3/4/2026", "3/5/2026"], ("2026-03-04", "2026-03-05")),
        (["3.4.2026", "3.5.2026"], ("2026-04-03", "2026-05-03")),
        (["Jan 31, 2026", "Feb 3rd, 2026"], ("2026-01-31", "2026-02-03")),
        (["31 Jan 2026", "Sun, 1 Feb 2026 10:00:00 GMT"], ("2026-01-31", "2026-02-01")),
        (["1769817600", "1769904000123"], ("2026-01-31", "2026-02-01")),
    ],
)
def test_dates_in_any_usual_form(dates, names):
    assert periods(dates)[1] == names


def test_what_is_no_date_has_no_period():
    assert periods(["morning", "evening"]) is None
    assert periods(["2026-13-40", "2026-02-31"]) is None
    assert periods(["2026-01-31"] * 5) is None
    assert periods(["2026-01-31", "2026-02-01", *["later"] * 3]) is None


def test_periods_fit_what_there_is():
    month = [f"2026-03-{day:02}" for day in range(1, 31)]
    codes, names = periods(month * 30)
    assert len(names) == 6
    assert names[1] == "week of 2026-03-02"
    assert codes[1] == 1
    years = [f"{year}-{month:02}-01" for year in (2024, 2025) for month in range(1, 13)]
    assert periods(years)[1][:2] == ("2024-Q1", "2024-Q2")
    # Forty answers in two months are two months, and not nine weeks of four.
    few = [f"2026-{month:02}-{day:02}" for month in (1, 3) for day in range(1, 21)] * 2
    assert periods(few)[1] == ("2026-01", "2026-03")
    assert periods(["2026-01-01", "2026-01-02"], rows=[40, 40])[1] == ("2026-01-01", "2026-01-02")
