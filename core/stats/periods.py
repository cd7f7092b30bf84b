"""Days, weeks, months, quarters or years of dates, few enough to stand beside each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

MOST_PERIODS = 12
WANTED_ROWS = 30
"""Rows of a period in the middle; with fewer the next longer periods are taken, where there are."""
_ISO = re.compile(r"(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_PARTS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_NAMED = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?:(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?"
    r"|([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?),?[\s-]+(\d{4})",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(\d{10})(?:\d{3}|\d{6}|\d{9})?(?:\.\d*)?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
CENTURY = 2000


def _week(day: date) -> str:
    return f"week of {day - timedelta(days=day.weekday())}"


FORMS: tuple[Callable[[date], str], ...] = (
    date.isoformat,
    _week,
    lambda day: f"{day:%Y-%m}",
    lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    lambda day: f"{day.year}",
)
"""Names of days, weeks, months, quarters and years."""


def periods(
    dates: Sequence[str | None], rows: Sequence[int] | None = None
) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Days, weeks (from Monday), months, quarters or years of texts that begin with a date, the
    finest of which there are two to twelve with 30 rows in the middle, else the finest: the code of
    each text, −1 for none, and their names in order.

    rows : how many each text stands for; by default one.

    Dates are those of ISO 8601, of parts with points, slashes or hyphens, with the name of a month
    in English, or seconds since 1970 and parts of them; a time with an offset is in UTC. In
    `3/4/2026` the day stands where a number of the column is above 12; where none is, first with
    points and hyphens, second with slashes.

    None where fewer than half of the texts are dates, or all are of one day.

    >>> periods(["2026-01-31 12:00", "2026-02-01T09:30Z", None])
    (array([ 0,  1, -1]), ('2026-01-31', '2026-02-01'))
    >>> periods(["2026-02-01 00:30+01:00", "2026-02-01 08:00"])[1]
    ('2026-01-31', '2026-02-01')
    >>> periods(["31.12.2025", "1.1.2026"])[1]
    ('2025-12-31', '2026-01-01')
    """
    texts = [(text or "").strip() for text in dates]
    first = [int(found[1]) for text in texts if (found := _PARTS.match(text))]
    second = [int(found[3]) for text in texts if (found := _PARTS.match(text))]
    slashes = any(found[2] == "/" for text in texts if (found := _PARTS.match(text)))
    day_first = max(first, default=0) > 12 or (not slashes and max(second, default=0) <= 12)
    days = [_day(text, day_first) for text in texts]
    known = [day for day in days if day is not None]
    if not known or 2 * len(known) < len(days):
        return None
    weight = np.ones(len(days)) if rows is None else np.asarray(rows, dtype=np.float64)
    finest = None
    for name in FORMS:
        names = tuple(sorted({name(day) for day in known}))
        if 2 <= len(names) <= MOST_PERIODS:
            place = {each: code for code, each in enumerate(names)}
            codes = np.array([-1 if day is None else place[name(day)] for day in days])
            finest = finest or (codes, names)
            if np.median(np.bincount(codes + 1, weight)[1:]) >= WANTED_ROWS:
                return codes, names
    return finest


def _in_utc(text: str) -> date | None:
    """The day in UTC of a time with an offset, None of any other: engines keep the moment alone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.astimezone(UTC).date()


def _day(text: str, day_first: bool) -> date | None:
    """The day that a text begins with; None where it is no date."""
    try:
        if found := _EPOCH.fullmatch(text):
            return datetime.fromtimestamp(int(found[1]), UTC).date()
        if found := _ISO.match(text):
            return _in_utc(text) or date(*map(int, found.groups()))
        if found := _PARTS.match(text):
            one, other, year = int(found[1]), int(found[3]), int(found[4])
            day, month = (one, other) if day_first else (other, one)
            return date(year if year > 99 else year + CENTURY, month, day)
        if found := _NAMED.match(text):
            month = _MONTHS.index((found[2] or found[3])[:3].lower()) + 1
            return date(int(found[5]), month, int(found[1] or found[4]))
    except (ValueError, OverflowError, OSError):
        return None
    return None
