"""The page Papers: an item by its address, with its table; where a model is asked, its command."""

import pytest
from apps import all_text, opened

from core.papers.items import BY_NAME

CHOSEN = {"BTD": "Table 2", "TH": "Figure 2", "PCF": "Figure 1", "RAEE": "Figure 6"}


@pytest.mark.parametrize("paper", CHOSEN)
def test_an_item_stands_at_its_address(app, paper):
    page = opened(app, "papers", **{"paper": paper, "paper-item": CHOSEN[paper]})
    assert not page.exception
    assert any(heading.value.startswith(f"{paper} {CHOSEN[paper]}:") for heading in page.subheader)
    (table,) = page.dataframe
    assert len(table.value)
    assert set(BY_NAME[f"{paper} {CHOSEN[paper]}"].columns) <= set(table.value.columns)


def test_what_asks_a_model_is_a_command(app):
    page = opened(app, "papers", **{"paper": "TH", "paper-item": "§3.1, SC"})
    assert [code.value for code in page.code] == ["appellate collect --preset th-self"]


def test_what_the_data_lack_is_said(app):
    page = opened(app, "papers", **{"paper": "RAEE", "paper-item": "Table 15"})
    assert "It needs a published board" in all_text(page)
