"""Small files that misled verdicts: the first screen says of each what the audit of the file says."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, new_app, opened

import core
from core.importers import read
from core.reporting.text import to_text
from core.store import Store

SHARED = Path(__file__).resolve().parents[3] / "shared" / "cases" / "verdicts"
FILES = sorted(SHARED.glob("*.csv"))


@pytest.mark.thorough
@pytest.mark.skipif(not FILES, reason="../shared/cases is not in this checkout")
def test_the_first_screen_says_what_the_audit_of_the_file_says(tmp_path, monkeypatch):
    for path in FILES:
        st.cache_resource.clear()
        place = tmp_path / f"{path.stem}.duckdb"
        monkeypatch.setenv("APPELLATE_STORE", str(place))
        with Store.open(place) as store:
            for reading in read([(path.name, path)]):
                store.load(reading)
        audit = core.audit(path, splits=0)
        word, _, finding = to_text(audit).splitlines()[0].partition(": ")
        page = all_text(opened(new_app(), "verdict"))
        assert word in page, path.name
        # Of a judge of single answers its name stands before the finding.
        assert finding.removeprefix(f"{audit.scores[0].judge}. " if audit.scores else "") in page, (
            path.name
        )
    st.cache_resource.clear()
