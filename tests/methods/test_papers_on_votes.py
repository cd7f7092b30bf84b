"""What docs/results.md says of the papers' methods on real votes is what the benchmark prints."""

import re

import pytest
from places import REPOSITORY

from benchmarks import papers as measured

RESULTS = REPOSITORY / "docs" / "results.md"


@pytest.mark.thorough
def test_the_table_is_what_is_printed():
    folder = measured.VOTES.parent.parent
    if not folder.is_dir():
        pytest.skip("../shared/data is not in this checkout")
    text = RESULTS.read_text(encoding="utf-8")
    shown = re.search(r"<!-- papers -->\n(.*?)\n<!-- /papers -->", text, flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == measured.report(folder)
