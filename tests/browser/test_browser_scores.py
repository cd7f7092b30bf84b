"""Judges of single answers in a real browser: files of three shapes come in, cells open their
answers, and the price of a wrong pass moves the cut.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from test_browser_access import OF_STREAMLIT, PHONE, faults
from test_browser_upload import drop, says
from visits import start_app, stop_app, visiting

TALL = {"width": 1440, "height": 1200}
SCORER = "/scores?scored=sim-judge-first-slot&metric="


@pytest.fixture(scope="module")
def own_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app whose store these tests may fill."""
    server, address = start_app(tmp_path_factory.mktemp("scores") / "votes.duckdb")
    yield address
    stop_app(server)


def files(rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Levels of 1 to 5 beside a person's, pass and fail, and three annotators side by side."""
    quality = rng.normal(size=80)

    def level() -> np.ndarray:
        return np.clip(np.round(3 + quality + 0.5 * rng.normal(size=80)), 1, 5).astype(int)

    def passed() -> list[str]:
        return ["pass" if one > 2 else "fail" for one in level()]

    items = [f"q{k}" for k in range(80)]
    return {
        "levels": pd.DataFrame({"item_id": items, "judge_score": level(), "human_score": level()}),
        "passes": pd.DataFrame(
            {"case_id": items, "judge_passed": passed(), "human_passed": passed()}
        ),
        "annotators": pd.DataFrame(
            {"id": items, "llm": level(), **{f"annotator_{k}": level() for k in (1, 2, 3)}}
        ),
    }


@pytest.mark.parametrize("shape", ["levels", "passes", "annotators"])
def test_browser_a_file_of_scores_is_loaded_with_two_choices_at_most(
    chromium, at_home, own_app, tmp_path, shape
):
    path = tmp_path / f"{shape}.csv"
    files(np.random.default_rng(3))[shape].to_csv(path, index=False)
    with visiting(chromium, own_app, within=at_home()) as visitor:
        visitor.open("/start")
        drop(visitor, path)
        right = visitor.page.get_by_text("These columns are right")
        choices = 0
        if not visitor.page.locator(".st-key-load").count() and right.count():
            right.click()
            visitor.settle()
            choices += 1
        visitor.page.locator(".st-key-load button").click()
        assert choices <= 2
        says(visitor, f"loaded into {shape}.")
        visitor.open("/scores")
        raters = visitor.page.locator(".st-key-pair-figure .point")
        raters.first.wait_for(state="attached")
        assert raters.count() == {"annotators": 6}.get(shape, 1)


def test_browser_a_cell_opens_its_answers_side_by_side(chromium, at_home, own_app):
    with visiting(chromium, own_app, within=at_home(viewport=TALL)) as visitor:
        visitor.open(f"{SCORER}helpfulness&dataset=demo:+levels+(simulated)")
        visitor.figures()
        assert not visitor.page.locator("[class*=st-key-pair-answers-]").count()
        cell = visitor.page.locator(".st-key-pair-figure .point").first
        cell.scroll_into_view_if_needed()
        cell.click(force=True)
        visitor.page.locator(".st-key-pair-answers-behind").wait_for()
        visitor.settle()
        box = visitor.page.locator(".st-key-pair-answers-behind")
        text = box.inner_text()
        assert "Question" in text
        assert "Reason" in text
        assert text.count("sim-person-1: ") == 2
        assert text.count("sim-judge-first-slot: ") == 2
        assert "pair=sim-judge-careful" in visitor.page.url
        box.get_by_role("button", name="Next").click()
        says(visitor, "3 to 4 of")


def test_browser_the_price_moves_the_cut_by_keyboard(chromium, at_home, own_app):
    with visiting(chromium, own_app, within=at_home()) as visitor:
        visitor.open(
            f"{SCORER}helpfulness&dataset=demo:+levels+(simulated)&tab=Pass+or+fail&pass-from=4"
        )
        cut = visitor.page.locator(".st-key-cut")
        before = cut.inner_text()
        assert "Pass from" in before
        slider = visitor.page.get_by_role("slider")
        slider.focus()
        for _ in range(4):
            visitor.page.keyboard.press("ArrowLeft")
        visitor.page.wait_for_function(
            "before => document.querySelector('.st-key-cut')?.innerText !== before", arg=before
        )
        visitor.settle()
        after = cut.inner_text()
        assert after.partition(":")[0] != before.partition(":")[0]


@pytest.mark.parametrize("tab", ["Agreement", "Pass+or+fail", "True+rate", "Steadiness"])
def test_browser_every_tab_fits_a_phone_and_has_no_serious_fault(chromium, at_home, own_app, tab):
    with visiting(chromium, own_app, within=at_home(**PHONE)) as visitor:
        visitor.open(
            f"{SCORER}helpfulness&dataset=demo:+levels+(simulated)&tab={tab}&pass-from=4"
            "&pair=sim-judge-first-slot+–+sim-person-1"
        )
        visitor.page.locator("[data-testid=stPlotlyChart]:visible").first.wait_for()
        assert visitor.fits_across()
        figures = visitor.figures()
        assert figures
        for figure in figures:
            assert not figure["cut"]
        assert not {key: html for key, html in faults(visitor).items()
                    if key not in OF_STREAMLIT}  # fmt: skip
