"""Where the store cannot be used, every page says why and what to do, and nothing else."""

import os
from contextlib import nullcontext

import pytest
from apps import NAMES, new_app, opened, texts
from unusable_stores import SAID, unusable, without_rights

from core.store import Store
from pages.shared.cached import load_demo


@pytest.mark.parametrize("kind", SAID)
def test_every_page_says_why_a_store_cannot_be_used(kind, tmp_path, monkeypatch):
    with unusable(kind, tmp_path) as path:
        before = path.stat().st_size
        monkeypatch.setenv("APPELLATE_STORE", str(path))
        with without_rights() if kind == "no right" else nullcontext():
            for page, title in NAMES.items():
                app = new_app()
                if page != "verdict":
                    app.switch_page(f"{page}.py")
                app.run()
                assert not app.exception, (page, app.exception)
                assert [shown.value for shown in app.title] == [title]
                (sentence,) = texts(app)
                assert SAID[kind] in sentence, page
                assert str(path) in sentence
                assert "Traceback" not in sentence
                assert [button.label for button in app.button] == ["Try again"]
        assert path.stat().st_size == before


def test_a_store_that_is_free_again_opens_at_the_next_try(tmp_path, monkeypatch):
    with unusable("in use", tmp_path) as path:
        monkeypatch.setenv("APPELLATE_STORE", str(path))
        app = new_app().run()
        assert SAID["in use"] in "\n".join(texts(app))
    app.button(key="try-again").click().run()
    assert not app.exception
    assert SAID["in use"] not in "\n".join(texts(app))


@pytest.mark.parametrize(
    "happens", ["deleted", pytest.param("replaced", marks=pytest.mark.thorough)]
)
def test_what_happens_to_a_store_while_it_is_open_is_said_on_every_page(
    happens, own_store_path, tmp_path, monkeypatch
):
    monkeypatch.setenv("APPELLATE_STORE", str(own_store_path))
    app = new_app().run()
    assert "while it was open here" not in "\n".join(texts(app))
    if happens == "replaced":
        other = tmp_path / "other.duckdb"
        Store.open(other).close()
        os.replace(other, own_store_path)
    else:
        own_store_path.unlink()
    for page in NAMES:
        app = new_app()
        if page != "verdict":
            app.switch_page(f"{page}.py")
        app.run()
        assert not app.exception
        said = [text for text in texts(app) if "while it was open here" in text]
        # Labelling begins with a change, which is refused in its own words.
        assert len(said) == 1 + (page == "label"), page
        assert "can still be read and exported until this process ends" in said[0]


@pytest.mark.thorough
def test_a_store_that_is_cut_while_it_is_open_is_never_a_red_box(tmp_path, monkeypatch):
    """What a page has in memory it shows; of what it must read anew it says that it is damaged."""
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        load_demo(store)
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    # A page that needs little: most of the file has not been read yet.
    opened(new_app(), "start")
    os.truncate(path, path.stat().st_size // 4)
    damaged = set()
    for page in NAMES:
        app = new_app()
        if page != "verdict":
            app.switch_page(f"{page}.py")
        app.run()
        assert not app.exception, page
        damaged |= {page for text in texts(app) if f"{path} is damaged" in text}
    assert len(damaged) >= len(NAMES) // 2, damaged
