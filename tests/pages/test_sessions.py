"""Twenty visitors of one server, while data sets come and go: no error, and no figure of another
data set.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import VISITORS, growth, run

SECONDS = 16.0


@pytest.mark.thorough
def test_twenty_visitors_see_what_one_alone_sees(tmp_path: Path) -> None:
    seen = run(tmp_path, SECONDS)
    assert not seen.errors, seen.errors[:3]
    assert seen.runs > VISITORS
    assert int(seen.changes) > 0, seen.changes
    assert growth(seen.memory) < 0.1
