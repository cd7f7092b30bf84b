"""Dropped files lie on disk, beside the store, while their visit lasts.

Streamlit holds the bytes of an upload in memory until the tab is closed, and copies them with each
run of the page.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import UnreadableFile
from core.store import default_path

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

FOLDER = "folder of uploads"
CLEAR_CACHE = "_handle_clear_cache_request"
"""What Streamlit does where a visitor asks for an empty cache: it would be that of all."""
MARK = ".appellate-uploads"
"""File in each folder that was made here: another of such a name is somebody else's."""


class _Folder:
    """Where the files of one visit lie, by number: no name of a file becomes a path.

    path : None before the first file.  places : of each file, or why it could not be put there.

    It is gone with the visit, and when the server stops; what one that was killed left is cleared
    when the store is opened again.
    """

    def __init__(self) -> None:
        self.path: Path | None = None
        self._number = 0
        self.places: dict[str, Path | str] = {}

    def put(self, file: UploadedFile) -> None:
        """Write a file, or note why that cannot be."""
        self._number += 1
        try:
            if self.path is None:
                store = default_path().expanduser().absolute()
                # For the user of this server alone, as `mkdtemp` makes it.
                self.path = Path(tempfile.mkdtemp(prefix=_beside(store), dir=store.parent))
                (self.path / MARK).touch()
                self.end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
                _folders.add(self)
            place = self.path / str(self._number)
            self.places[file.file_id] = place
            place.write_bytes(file.getvalue())
        except OSError as error:
            self.remove(file.file_id)
            self.places[file.file_id] = (
                f"{file.name}: cannot be kept beside the store ({error.strerror}). Make room "
                "there, remove the file here and drop it again."
            )

    def remove(self, file: str) -> None:
        """Remove a file that was put here, or the note about it."""
        place = self.places.pop(file, None)
        if isinstance(place, Path):
            with suppress(OSError):
                place.unlink()


_folders: weakref.WeakSet[_Folder] = weakref.WeakSet()
"""Those of all visits."""


def _beside(store: Path) -> str:
    return f"{store.name}.uploads-"


def clear(store: Path) -> None:
    """Remove what a server that was killed left beside the store, which no other process has
    open: folders that were made here, and that no visit of this process still uses.
    """
    used = {folder.path for folder in [*_folders]}
    made_here = re.compile(re.escape(_beside(store)) + "[a-z0-9_]{8}")
    with suppress(OSError):
        for left in store.expanduser().absolute().parent.iterdir():
            ours = made_here.fullmatch(left.name) and not left.is_symlink()
            if ours and left not in used and (left / MARK).is_file():
                shutil.rmtree(left, ignore_errors=True)


@asynccontextmanager
async def while_served(_: object) -> AsyncIterator[None]:
    """The life of a server, at whose end no upload is left: a signal that stops it does not let the
    interpreter end by itself.

    A visitor who asks for an empty cache gets a new visit: what the server holds for all, the store
    among it, is nobody's to let go of.
    """
    # There is no public call for that either.
    with suppress(ImportError, AttributeError):
        from streamlit.runtime.app_session import AppSession

        setattr(AppSession, CLEAR_CACHE, lambda session: session._session_state.clear())
    yield
    for folder in [*_folders]:
        folder.end()


def to_disk(files: Iterable[UploadedFile]) -> None:
    """Put the new files of an uploader on disk, before it is drawn, which copies what it holds."""
    folder: _Folder = st.session_state.setdefault(FOLDER, _Folder())
    for file in files:
        if file.file_id not in folder.places:
            folder.put(file)
            _let_go(file)


def _let_go(file: UploadedFile) -> None:
    """Have Streamlit hold no bytes of a file.

    There is no public call for that: a version with other names holds them, and all else is as it
    was.
    """
    context: Any = get_script_run_ctx()
    with suppress(AttributeError, TypeError, ValueError):
        uploads, session = context.uploaded_file_mgr, context.session_id
        (record,) = uploads.get_files(session, [file.file_id])
        uploads.add_file(session, record._replace(data=b""))
        file.truncate(0)


def content(file: UploadedFile) -> bytes | Path:
    """Where a file of an uploader lies, or its bytes if it was never put on disk.

    Raises UnreadableFile: there was no room for it.
    """
    folder: _Folder | None = st.session_state.get(FOLDER)
    place = folder.places.get(file.file_id) if folder else None
    if isinstance(place, str):
        raise UnreadableFile(place)
    return file.getvalue() if place is None else place


def keep_only(files: Iterable[str]) -> None:
    """Remove all other files of this visit."""
    folder: _Folder | None = st.session_state.get(FOLDER)
    if folder:
        for gone in folder.places.keys() - set(files):
            folder.remove(gone)
