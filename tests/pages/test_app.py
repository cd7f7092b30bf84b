"""Every page through the real app (AppTest), from its first start on."""

import ast
import csv
import gzip
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import streamlit as st
from apps import calm, judge_of, new_app, opened, texts
from levels import first_of
from places import REPOSITORY
from readings import reading
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

from core import bounds
from core.auditing.checks import BY_NAME
from core.finding.answer import MOST_WORDS, words
from core.finding.figure import COLOURS
from core.places import MOVED, NAMES, now
from core.questions.confidence.calibration_error import calibration
from core.schema import Selection
from core.simulate.answers import LEVELS, PASSES
from core.store import Store
from core.store.vote_queries import Mark, outcomes, votes_behind
from pages.shared import first_picture

PAGES = REPOSITORY / "pages"
SHOWN = [name for name in NAMES if (PAGES / f"{name}.py").exists()]
DEMO = "demo (simulated)"
CONTROLS = ("selectbox", "multiselect", "slider", "number_input", "text_input", "button_group")
HEADLINED = (
    *("calibration", "confusion", "position_bias", "agreement", "votes_to_labels", "juries"),
    *("listwise", "planning", "leaderboard"),
)
"""Pages that begin with a headline and a line of figures; the Overview has its card."""
HOSTILE = "![pixel](http://host.invalid/p.png) <img src=x onerror=alert(1)> $x$ :red[r] =1+1"


def test_the_first_start_loads_the_demo(tmp_path, monkeypatch):
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "new" / "votes.duckdb"))
    page = opened(new_app(), "verdict")
    assert page.selectbox(key="dataset").value == DEMO
    said = [text.value for text in page.text]
    assert [text.split(":")[0] for text in said if text.startswith(("Planted", "Found"))] == [
        "Planted",
        "Found",
    ]
    st.cache_resource.clear()
    with Store.open(tmp_path / "new" / "votes.duckdb") as store:
        found = {one.name: one for one in store.datasets()}
    assert [*found] == [DEMO, LEVELS, PASSES]
    assert all(one.simulated for one in found.values())
    pairs = found[DEMO]
    assert min(pairs.votes, pairs.scores, pairs.rankings) > 0


@pytest.mark.parametrize("dataset", [PASSES, LEVELS])
def test_the_demo_of_single_answers_says_what_is_planted_and_found(app, dataset):
    said = [text.value for text in opened(app, "verdict", dataset=dataset).text]
    assert any(text.startswith("✓ May decide: sim-judge-careful") for text in said)
    (planted,) = [text for text in said if text.startswith("Planted: ")]
    (found,) = [text for text in said if text.startswith("Found: ")]
    for judge in ("sim-judge-first-slot", "sim-judge-boaster"):
        assert judge in planted
        assert judge in found


@pytest.mark.parametrize("page", SHOWN)
def test_page_opens_with_the_demo(app, page):
    opened(app, page)
    assert [title.value for title in app.title] == [NAMES[page]]
    assert any("Simulated demo data" in element.value for element in app.markdown)
    # Who hears the page knows a control by its label alone.
    labels = Counter(
        label for kind in CONTROLS for one in app.get(kind) if (label := one.proto.label)
    )
    assert [label for label, times in labels.items() if times > 1] == []
    if page in HEADLINED:
        headline, figures = texts(app)[:2]
        assert words(headline) <= MOST_WORDS
        assert re.fullmatch(r"[A-Za-z0-9 ,.;:%'-]+", headline)
        assert re.search(r"\d", figures)
        assert "\n" not in figures


def test_navigation_lists_every_page_file():
    files = {path.stem for path in PAGES.glob("*.py")} - {"main", "__init__"}
    assert files == set(SHOWN)


def test_selection_comes_from_the_url(app):
    opened(app, "verdict", judges=["sim-judge-careful", "gone"], category="Math", raters="llm")
    chosen = app.session_state["selection"]
    assert chosen == Selection(
        datasets=(DEMO,),
        judges=("sim-judge-careful",),
        rater_types=("llm",),
        where=(("category", "Math"),),
        gold="given",
    )


@pytest.mark.thorough
def test_names_in_the_url_that_do_not_exist_are_dropped(app):
    opened(app, "verdict", dataset="gone", category="gone", raters="gone", judges="gone")
    assert app.session_state["selection"] == Selection(datasets=(DEMO,), gold="given")


def test_a_selection_without_votes_says_so(app):
    opened(app, "verdict", raters="human")
    opened(app, "calibration")
    assert any("confidence" in text and "none" in text for text in texts(app))


@pytest.mark.thorough
def test_gold_can_be_formed_from_the_human_votes(app):
    opened(app, "verdict", gold="humans")
    assert app.session_state["selection"].gold == "humans"
    # What people voted for most is not called gold that somebody gave.
    assert any("gold by people's majority" in box.proto.popover.label for box in app.get("popover"))


def test_what_is_folded_is_drawn_when_it_is_opened(app, monkeypatch):
    monkeypatch.setattr("pages.shared.folds.OPEN_AT_FIRST", False)
    opened(app, "verdict")
    assert not app.main.dataframe
    assert not app.main.code
    app.session_state["fold-raters"] = True
    app.run()
    assert len(app.main.dataframe) == 1
    assert not app.main.code
    assert "verdict" in app.main.dataframe[0].value


@pytest.mark.thorough
def test_a_button_opens_another_page_and_keeps_the_filters(app):
    opened(app, "verdict", category="Math", judge="sim-judge-careful")
    app.button(key="go-calibration").click().run()
    assert not app.exception
    assert app.title[0].value == "Reliability diagrams"
    chosen = app.session_state["selection"]
    assert chosen.where == (("category", "Math"),)
    assert chosen.judges is None
    assert judge_of(app) == "sim-judge-careful"


def test_calibration_shows_the_numbers_of_core(app, store_path):
    opened(app, "calibration", bins="7")
    with Store.open(store_path) as store:
        expected = {
            judge: calibration(found, bins=7).ece
            for judge, found in outcomes(store, Selection(datasets=(DEMO,))).items()
            if found.with_confidence().n.any()
        }
    table = app.dataframe[0].value.set_index("judge")
    assert table["ECE"].to_dict() == expected
    worst = max(expected, key=expected.get)
    assert texts(app)[0].startswith(f"{worst} claims ")
    assert f"ECE {100 * expected[worst]:.1f} (" in texts(app)[1]


def test_a_bin_leads_to_its_votes(app, store_path):
    opened(app, "calibration")
    app.selectbox(key="bin").set_value("sim-judge-boaster: 0.7 to 0.8").run()
    assert not app.exception
    with Store.open(store_path) as store:
        mark = Mark(judge="sim-judge-boaster", confidence=(0.7, 0.8))
        expected = votes_behind(
            store, Selection(datasets=(DEMO,)), mark=mark, limit=200
        ).to_pandas()
    shown = app.dataframe[0].value
    assert shown["item_id"].tolist() == expected["item_id"].tolist()
    assert set(shown["judge"]) == {"sim-judge-boaster"}
    assert shown["confidence"].between(0.7, 0.8, inclusive="right").all()


def test_copied_python_runs_and_gives_the_number_shown(app, store_path, capsys):
    opened(app, "calibration", judges="sim-judge-careful")
    shown = app.dataframe[0].value["ECE"].iloc[0]
    st.cache_resource.clear()
    exec(app.code[0].value, {})  # noqa: S102 - this is what the reader is told to do
    assert capsys.readouterr().out.splitlines()[0] == f"sim-judge-careful {shown}"


@pytest.mark.thorough
def test_hostile_names_reach_no_markup(own_store_path, monkeypatch):
    monkeypatch.setenv("APPELLATE_STORE", str(own_store_path))
    rows = [
        {
            "dataset": HOSTILE,
            "item_id": f"i{k}",
            "category": f"{HOSTILE} {k % 2}",
            "judge": f"{HOSTILE} {k % 3}",
            "vote": k % 3 - 1,
            "gold": 1,
            "confidence": 0.1 * (k % 10),
            "prompt": HOSTILE,
        }
        for k in range(120)
    ]
    with Store.open(own_store_path) as store:
        store.load(reading(rows))
    for page in SHOWN:
        fresh = new_app()
        opened(fresh, page, dataset=HOSTILE)
        assert fresh.session_state["selection"].datasets == (HOSTILE,)
        marked_up = [*fresh.markdown, *fresh.caption, *fresh.title, *fresh.header, *fresh.subheader]
        marked_up += [*fresh.info, *fresh.warning, *fresh.error, *fresh.success]
        # In the target of a link within the app a name is encoded, and no markup.
        texts = [re.sub(r"\]\(\w+\?[\w%&=+.~-]*\)", "]", one.value) for one in marked_up]
        assert not [text for text in texts if "pixel" in text], page
        labels = [
            element.label
            for kind in ("button", "metric", "expander")
            for element in fresh.get(kind)
        ]
        assert not [label for label in labels if "pixel" in label], page


def launched(address: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Import the launcher as a server bound to `address` would."""
    code = (
        f"from streamlit import config; config.set_option('server.address', "
        f"{address!r}); import app"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=PAGES.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("address", first_of("0.0.0.0", "", "example.org"))
def test_an_open_address_without_sign_in_is_refused(address):
    refused = launched(address)
    assert refused.returncode == 1
    assert "open to anyone" in refused.stderr
    assert "APPELLATE_ALLOW_REMOTE=1" in refused.stderr


@pytest.mark.parametrize(
    ("address", "flag"),
    [
        pytest.param("localhost", "", marks=pytest.mark.thorough),
        pytest.param("127.0.0.1", "", marks=pytest.mark.thorough),
        pytest.param("::1", "", marks=pytest.mark.thorough),
        ("0.0.0.0", "1"),
    ],
)
def test_this_machine_or_the_flag_is_served(address, flag):
    assert launched(address, APPELLATE_ALLOW_REMOTE=flag).returncode == 0


def test_page_and_charts_have_the_same_colours():
    settings = tomllib.loads(
        (PAGES.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    )
    for theme, colours in COLOURS.items():
        assert settings["theme"][theme]["backgroundColor"] == colours.page
        assert settings["theme"][theme]["textColor"] == colours.text
        assert settings["theme"][theme]["primaryColor"] == colours.accent


def test_the_files_that_draw_figures_are_where_the_first_picture_looks_for_them():
    """A new Streamlit may keep them elsewhere: then `first_picture` does nothing, and says so here."""
    scripts = [*(Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")]
    assert len(scripts) == 1
    assert {"Link": f"<./static/js/{scripts[0].name}>; rel=modulepreload"} == first_picture.HEADERS
    # Drawing a layout's image is how the hidden figure says that it can be drawn.
    drawn = [path for path in scripts[0].parent.glob("*.js") if b"imagelayer" in path.read_bytes()]
    assert drawn


def test_what_follows_a_figure_waits_until_it_can_be_drawn(monkeypatch):
    class Watched(threading.Event):
        def wait(self, timeout=None):
            found.append((self.is_set(), timeout))
            return super().wait(timeout)

    def page() -> None:
        from pages.shared import first_picture

        first_picture.rest_follows()

    def says_so(visit: str) -> bytes:
        request = Request({"type": "http", "path_params": {"visit": visit}})
        return first_picture.ROUTE.endpoint(request).body

    monkeypatch.setattr(first_picture, "PATIENCE", 0.1)
    found: list[tuple[bool, float]] = []
    fresh = AppTest.from_function(page)
    fresh.run()
    assert found == []  # a page that is not served has no browser to wait for
    event = Watched()
    fresh.session_state[first_picture.VISIT] = "visit", event
    fresh.run()
    fresh.run()
    assert found == [(False, 0.1)]  # a browser that says nothing is waited for once
    event.clear()
    monkeypatch.setitem(first_picture._visits, "visit", event)
    assert says_so("nobody") == first_picture.PIXEL
    assert not event.is_set()
    assert says_so("visit") == first_picture.PIXEL
    assert event.is_set()


def test_after_a_control_the_first_figure_alone_has_a_moment(monkeypatch):
    def page() -> None:
        from pages.shared import first_picture

        first_picture.begins()
        first_picture.rest_follows()
        first_picture.rest_follows()

    slept: list[float] = []
    monkeypatch.setattr(first_picture, "sleep", slept.append)
    app = AppTest.from_function(page)
    app.run()
    assert slept == []
    event = threading.Event()
    event.set()
    app.session_state[first_picture.VISIT] = "visit", event
    app.run()
    assert slept == [first_picture.ALONE]


def test_no_page_has_a_bare_text_below_its_docstring() -> None:
    """Streamlit would show it: in a script every bare expression is drawn."""
    for path in PAGES.glob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body[1:]
        bare = [
            node.lineno
            for node in body
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call)
        ]
        assert bare == [], path.name


def test_a_key_means_one_thing_on_every_page() -> None:
    """State follows a visitor by its key: one that two pages use differently breaks the second."""
    used: dict[str, set[str]] = {}
    for path in sorted(PAGES.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for widget, key in re.findall(r'\.(\w+)\((?:[^()]|\([^()]*\))*?key="([\w-]+)"', source):
            used.setdefault(key, set()).add(f"{path.relative_to(PAGES)}: {widget}")
    shared = {key: places for key, places in used.items() if len(places) > 1}
    # The rater whose checks, labels, errors or flips are shown is chosen once for all pages.
    assert set(shared) <= {"judge"}, shared


def audited(options=None):
    from core.auditing.options import AuditOptions
    from core.auditing.run import audit
    from pages.shared.cached import get_store

    return audit(get_store(), Selection(datasets=(DEMO,)), options or AuditOptions(splits=0))


def test_the_overview_says_what_the_audit_says(app):
    from core.auditing.card import card_of
    from core.auditing.overall import because, best_sentence, confidence_line

    page = opened(app, "verdict", judge="sim-judge-boaster")
    found = audited()
    of = {judge.judge: judge for judge in found.judges}
    credits = {name: judge.direction.credit for name, judge in of.items() if judge.direction}
    shown = texts(page)
    assert best_sentence(found.checks, found.overall) in shown
    checks = [result for result in found.checks if result.judge == "sim-judge-boaster"]
    overall = found.overall["sim-judge-boaster"]
    said = card_of(of["sim-judge-boaster"])
    assert {
        f"! {said.word} · {said.made}",
        said.said.headline,
        said.said.figures,
        f"What to do: {' '.join(said.advice)}",
    } <= set(shown)
    assert f"{because('sim-judge-boaster', overall, checks)} {confidence_line(checks)}" in shown
    for result in checks:
        assert result.sentence in shown
        see = page.button(key=f"go-{result.check}")
        assert see.label == f"See {BY_NAME[result.check].title}"
    frames = [frame.value for frame in page.dataframe if "rater" in frame.value]
    rows = frames[0].set_index("rater")
    for name, credit in credits.items():
        assert rows.loc[name, "verdict"].endswith(found.overall[name].verdict.replace("_", " "))
        assert tuple(rows.loc[name, ["right", "low", "high", "items"]]) == (
            *(credit.value, credit.low, credit.high, credit.n),
        )


def test_the_overview_starts_with_the_best_judge_or_that_of_the_link(app):
    assert judge_of(opened(app, "verdict")) == "sim-judge-careful"
    other = new_app()
    assert judge_of(opened(other, "verdict", judge="sim-judge-careful")) == ("sim-judge-careful")


def test_a_cell_of_the_matrix_opens_its_page_with_the_judge(app, monkeypatch):
    from pages.sections.overview import first_screen

    page = opened(app, "verdict")
    for check, file in first_screen.PAGES.items():
        assert (PAGES / file).exists(), check
    asked = {}
    monkeypatch.setattr(
        first_screen.widgets, "open_page", lambda page, state: asked.update({page: state})
    )
    points = [{"customdata": ["j: position"]}]
    monkeypatch.setattr(first_screen.st, "session_state", {"m": {"selection": {"points": points}}})
    first_screen._open_cell("m", {"j: position": ("j", "position")})
    assert asked == {"position_bias.py": {"judge": "j"}}
    assert not page.exception


@pytest.mark.parametrize("name", first_of("agreement", "verdict", "position_bias", "leaderboard"))
def test_of_more_judges_than_one_waits_for_a_page_shows_those_with_most_votes(
    app, monkeypatch, name
):
    monkeypatch.setattr(bounds, "MOST_WAITED_FOR", 3)
    page = opened(app, name)
    said = [text for text in texts(page) if text.startswith("3 of 8 judges are audited")]
    assert len(said) == 1
    assert "Choose judges in the sidebar" in said[0]
    with gzip.open(REPOSITORY / "data" / "demo_votes.csv.gz", "rt", encoding="utf-8") as file:
        votes = Counter(
            row["judge"]
            for row in csv.DictReader(file)
            if row["rater_type"] == "llm" and row["status"] == "ok"
        )
    kept = set(page.session_state["selection"].judges) & set(votes)
    assert len(kept) == 3
    assert min(votes[judge] for judge in kept) >= max(votes[judge] for judge in set(votes) - kept)
    page.multiselect(key="judges").set_value(["sim-judge-careful"])
    calm(page.run())
    assert page.session_state["selection"].judges == ("sim-judge-careful",)
    assert not any("are audited" in text for text in texts(page))


def test_of_more_models_than_one_waits_for_the_leaderboard_shows_those_with_most_votes(
    app, monkeypatch
):
    from pages.sections.leaderboard import controls

    monkeypatch.setattr(controls, "MOST_WAITED_FOR", 4)
    monkeypatch.setattr(controls, "MOST_SWAPPED", 3)
    page = opened(app, "leaderboard", tab="Another anchor")
    said = [text for text in texts(page) if text.startswith("Leaderboards hold 4 of")]
    assert len(said) == 1
    assert any(text.startswith("Compared are 3 of 4 models") for text in texts(page))
    assert len(page.selectbox(key="anchor").options) == 4
    assert len(page.selectbox(key="other").options) == 2


@pytest.mark.thorough
def test_limits_set_on_the_overview_grade_every_page(app):
    from core.auditing.options import AuditOptions
    from core.auditing.overall import best_sentence

    page = opened(app, "verdict")
    before = texts(page)
    page.number_input(key="limit-position-caution").set_value(70.0)
    page.number_input(key="limit-position-failure").set_value(80.0)
    page.text_input(key="family_names").set_value("sim=sim-judge,sim-model; other=x")
    page.button(key="limits_keep").click().run()
    assert not page.exception
    options = AuditOptions(
        splits=0,
        limits={"position": (0.7, 0.8)},
        families={"sim": ("sim-judge", "sim-model"), "other": ("x",)},
    )
    found = audited(options)
    assert any(text.startswith(best_sentence(found.checks, found.overall)) for text in texts(page))
    assert not any(text.startswith(best_sentence(found.checks, found.overall)) for text in before)
    page.switch_page("position_bias.py").run()
    judge = judge_of(page)
    (sentence,) = [
        result.sentence
        for result in found.checks
        if (result.judge, result.check) == (judge, "position")
    ]
    assert any(text.startswith(f"{judge}: {sentence}") for text in texts(page))
    page.switch_page("verdict.py").run()
    assert page.number_input(key="limit-position-caution").value == 70
    page.button(key="limits_forget").click().run()
    assert texts(page) == before


def test_limits_in_the_wrong_order_are_refused_and_change_nothing(app):
    page = opened(app, "verdict")
    before = texts(page)
    page.number_input(key="limit-position-caution").set_value(90.0)
    page.button(key="limits_keep").click().run()
    assert not page.exception
    assert set(before) <= set(texts(page))
    assert any("failure 0.2 has to be at least caution 0.9" in text for text in texts(page))


def test_a_data_set_without_votes_leads_to_the_page_about_it(tmp_path, monkeypatch):
    from core.importers import ReadOptions, read
    from core.store import Store

    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    models = {"x": 1, "y": 4, "z": 7}
    rows = "".join(
        f"{i},{model},j,{score + i % 2}\n" for i in range(8) for model, score in models.items()
    )
    with Store.open(tmp_path / "votes.duckdb") as store:
        scores = f"item_id,model,judge,score\n{rows}".encode()
        store.load(read([("s.csv", scores)], ReadOptions(format="direct_scores"))[0])
    page = new_app().run()
    page.button(key="to-scores").click().run()
    assert not page.exception
    assert page.title[0].value == "Scores"
    page.switch_page("leaderboard.py").run()
    assert page.title[0].value == "Anchor-swap leaderboard"
    # Against the best model nobody wins, so the middling one is the anchor to start from.
    assert page.selectbox(key="scores_anchor").value == "y"
    st.cache_resource.clear()


@pytest.mark.parametrize(("old", "tab"), MOVED)
def test_what_had_another_address_leads_on(app, old, tab):
    """With the judge and the data set of the link."""
    address, new_tab = now(old, tab)
    app.query_params.update({"judge": "sim-judge-boaster", **({"tab": tab} if tab else {})})
    if old in NAMES:
        app.switch_page(f"{old}.py")
        calm(app.run())
        assert [title.value for title in app.title] == [NAMES[address]]
        assert app.query_params.get("tab", "") in (new_tab, tab)
        assert app.query_params["judge"] == "sim-judge-boaster"
    else:
        assert address in NAMES
