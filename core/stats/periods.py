"""Days, months or years of dates, few enough to stand beside each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_PERIODS = 12
DIGITS_OF_PERIODS = (10, 7, 4)
"""Of days, months and years."""
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def periods(dates: Sequence[str | None]) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Days, months or years of texts that begin with a date as ISO 8601 writes it, the finest of
    which there are at most twelve: the code of each, −1 for none, and their names in order.

    None where fewer than half of the texts are such dates, or all are of one year and month and
    day.

    >>> periods(["2026-01-31 12:00", "2026-02-01T09:30Z", None])
    (array([ 0,  1, -1]), ('2026-01-31', '2026-02-01'))
    """
    matched = [_DATE.match(text or "") for text in dates]
    if 2 * sum(match is not None for match in matched) < len(matched):
        return None
    for digits in DIGITS_OF_PERIODS:
        texts = [match.group()[:digits] if match else None for match in matched]
        names = tuple(sorted({text for text in texts if text is not None}))
        if 2 <= len(names) <= MOST_PERIODS:
            place = {name: code for code, name in enumerate(names)}
            codes = [-1 if text is None else place[text] for text in texts]
            return np.array(codes, dtype=np.int64), names
    return None
