"""Dropped files lie on disk, in a folder of their visit, and Streamlit holds no bytes of them."""

import asyncio
import errno
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from core.store import Store
from pages.shared import uploads

HEAD = "item_id,judge,vote\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    st.cache_resource.clear()
    path = tmp_path / "own" / "votes.duckdb"
    path.parent.mkdir()
    with Store.open(path) as made:
        made.set_flag("demo deleted", "yes")
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    yield path
    st.cache_resource.clear()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Bytes that Streamlit holds of each file that was uploaded, by its name."""
    sizes: dict[str, int] = {}
    add = MemoryUploadedFileManager.add_file

    def watched(manager, session_id, file):
        add(manager, session_id, file)
        (record,) = manager.get_files(session_id, [file.file_id])
        sizes[record.name] = len(record.data)

    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", watched)
    return sizes


def votes(name: str, n: int = 3) -> tuple[str, bytes, str]:
    rows = "".join(f"{item},{name[0]},{item % 3 - 1}\n" for item in range(n))
    return name, (HEAD + rows).encode(), "text/csv"


def drop(app: AppTest, *files: tuple[str, bytes, str]) -> AppTest:
    app.file_uploader(key="files").set_value(list(files))
    return calm(app.run())


def load(app: AppTest) -> AppTest:
    return calm(app.button(key="load").click().run())


def folders(store: Path) -> list[Path]:
    return sorted(each for each in store.parent.iterdir() if each.is_dir())


def on_disk(store: Path) -> list[bytes]:
    return [
        file.read_bytes()
        for folder in folders(store)
        for file in sorted(folder.iterdir())
        if file.name != uploads.MARK
    ]


def test_files_lie_in_a_folder_of_the_visit_and_not_in_memory(
    store: Path, held: dict[str, int]
) -> None:
    app = opened(new_app(), "start")
    assert folders(store) == []
    # Two of one name, and one whose name would be a path elsewhere.
    given = votes("same.csv"), votes("same.csv", 5), votes("../../../out.csv", 4)
    drop(app, *given)
    assert on_disk(store) == [content for _, content, _ in given]
    (folder,) = folders(store)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in sorted(folder.iterdir())] == [uploads.MARK, "1", "2", "3"]
    assert list(store.parent.parent.iterdir()) == [store.parent]
    assert held == {"same.csv": 0, "../../../out.csv": 0}
    assert [file.getvalue() for file in app.session_state["files"]] == [b""] * 3
    # What is read is read from there.
    text = all_text(load(app))
    assert "3 votes loaded into same." in text
    assert "4 votes loaded into out." in text


@pytest.mark.thorough
def test_a_file_is_read_again_and_gone_when_it_leaves_the_drop(store: Path) -> None:
    app = opened(new_app(), "start")
    drop(app, votes("one.csv"), votes("two.csv"))
    load(app)
    calm(app.selectbox(key="managed").set_value("one").run())
    calm(app.button(key="delete").click().run())
    assert "3 votes loaded into one." in all_text(load(app))
    files = app.session_state["files"]
    drop(app, votes("three.csv"))
    assert not {file.file_id for file in files} & app.session_state[uploads.FOLDER].places.keys()
    assert on_disk(store) == [votes("three.csv")[1]]
    drop(app)
    assert on_disk(store) == []


@pytest.mark.thorough
def test_visits_have_folders_of_their_own_which_end_with_them(store: Path) -> None:
    first, second = opened(new_app(), "start"), opened(new_app(), "start")
    drop(first, votes("first.csv"))
    drop(second, votes("second.csv", 7))
    assert len(folders(store)) == 2
    drop(first)
    assert on_disk(store) == [votes("second.csv", 7)[1]]
    assert "7 votes loaded into second." in all_text(load(second))
    # As with all that a visit holds, once it is over.
    del second.session_state[uploads.FOLDER]
    assert on_disk(store) == []
    assert len(folders(store)) == 1


def test_what_a_killed_server_left_is_cleared_with_the_next(store: Path) -> None:
    names = ("votes.duckdb.uploads-ab_d3fg8", "others.duckdb.uploads-abcd3fg8")
    left, others = (store.parent / name for name in names)
    # Without the mark, or the random part, it is not the app's.
    theirs = [store.parent / f"votes.duckdb.uploads-{end}" for end in ("abcdefgh", "of mine")]
    for folder in (left, others, *theirs):
        folder.mkdir()
        (folder / "1").write_bytes(b"x")
        if folder != theirs[0]:
            (folder / uploads.MARK).touch()
    opened(new_app(), "start")
    assert {*folders(store)} == {others, *theirs}


def test_clearing_the_cache_leaves_the_files_of_visits(store: Path) -> None:
    """One visitor cleared Streamlit's cache, and the files that others had dropped were deleted."""
    first, second = opened(new_app(), "start"), opened(new_app(), "start")
    drop(first, votes("first.csv"))
    st.cache_resource.clear()
    calm(second.run())
    assert on_disk(store) == [votes("first.csv")[1]]
    assert "3 votes loaded into first." in all_text(load(first))


def test_without_room_a_file_is_refused_with_the_remedy(
    store: Path, held: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(new_app(), "start")
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        write(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        drop(app, votes("large.csv"))
    assert "large.csv: cannot be kept beside the store (No space left on device). Make room" in (
        all_text(app)
    )
    assert not [button for button in app.button if button.key == "load"]
    assert on_disk(store) == []
    assert held == {"large.csv": 0}
    drop(app, votes("large.csv"))
    assert "3 votes loaded into large." in all_text(load(app))


@pytest.mark.thorough
def test_where_streamlit_holds_on_to_the_bytes_all_works_as_well(
    store: Path, held: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a version in which what is replaced has another name."""
    monkeypatch.setattr(uploads, "get_script_run_ctx", lambda: None)
    app = opened(new_app(), "start")
    drop(app, votes("held.csv"))
    assert held["held.csv"] == len(votes("held.csv")[1])
    assert "3 votes loaded into held." in all_text(load(app))


def test_a_visitor_who_clears_the_cache_lets_go_of_no_store(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is one for all visitors, and with it the store was closed under the others."""
    from streamlit.runtime.app_session import AppSession

    from pages.shared.cached import get_store

    monkeypatch.setattr(AppSession, uploads.CLEAR_CACHE, getattr(AppSession, uploads.CLEAR_CACHE))
    opened(new_app(), "start")
    held = get_store()
    session = SimpleNamespace(_session_state={"files": []})

    async def served() -> None:
        async with uploads.while_served(None):
            getattr(AppSession, uploads.CLEAR_CACHE)(session)

    # A thread of its own: a browser's test may have left an event loop running in this one.
    with ThreadPoolExecutor(1) as executor:
        executor.submit(asyncio.run, served()).result()
    assert session._session_state == {}
    assert get_store() is held
    assert held.datasets() == []
