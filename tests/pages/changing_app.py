"""The app, with somebody who loads, renames and deletes data sets all the time, for
`sessions.py`.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

# The launcher: its checks are made, and its middleware is used.
import app as launcher
from core.importers import read
from core.store import Store, default_path
from pages.shared import first_picture
from pages.shared.gate import Gate

SECONDS = 0.4


def change_all_the_time() -> None:
    """Load, rename, replace and delete; count the rounds, or write down what went wrong."""
    said = Path(os.environ["APPELLATE_STORE"]).with_suffix(".changes")
    rows = "".join(f"{k},j{k % 3},{k % 3 - 1},{k % 2},0.{k % 10}\n" for k in range(300))
    (reading,) = read([("x.csv", f"item_id,judge,vote,gold,confidence\n{rows}".encode())])
    try:
        store, k = Store.open(default_path()), 0
        while True:
            name = f"moving {k % 3}"
            store.load(reading, dataset=name)
            time.sleep(SECONDS)
            store.rename_dataset(name, "renamed")
            time.sleep(SECONDS)
            store.delete_dataset("renamed")
            k += 1
            said.write_text(str(k))
    except Exception as error:
        said.write_text(f"{type(error).__name__}: {error}")


threading.Thread(target=change_all_the_time, daemon=True).start()
app = st.App(
    Path(launcher.__file__).parent / "pages" / "main.py",
    routes=[first_picture.ROUTE],
    middleware=[Middleware(launcher.SecurityHeaders), Middleware(Gate)],
)
