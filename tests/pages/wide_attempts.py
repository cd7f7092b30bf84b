"""What wide files take of commands and of pages: `python tests/pages/wide_attempts.py FOLDER`.

The import of a file, its audit with its report, and its pages have a process of their own each,
forked from one that has loaded everything: memory and time are those of all that it did. One line
of JSON for each command and page; `--html` and `--json` files stay in the folder.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache, partial
from pathlib import Path

from apps import new_app, texts
from forked import attempt, command, commands_of, load_what_loads
from streamlit.components.v2 import manifest_scanner
from wide_files import WIDE

from pages.shared import folds

PAGES_OF_ALL = ("verdict", "agreement", "leaderboard")
FEW = "item_id,judge,vote,model_a,model_b\n" + "".join(
    f"{k},{judge},{k % 3 - 1},m{k % 3},n\n" for k in range(9) for judge in "ab"
)


def drawn(page: str, store: Path) -> tuple[int, str]:
    """Title, texts and errors of a page of the app on a store."""
    os.environ["APPELLATE_STORE"] = str(store)
    app = new_app()
    if page != "verdict":
        app.switch_page(f"{page}.py")
    app.run()
    shown = {
        "title": [title.value for title in app.title],
        "said": texts(app),
        "wrong": [error.value for error in app.exception],
    }
    return 0, json.dumps(shown)


def all_drawn(store: Path) -> tuple[int, str]:
    """Every page in turn, as one visitor sees them."""
    return 0, json.dumps([(page, *drawn(page, store)) for page in PAGES_OF_ALL])


def try_all(folder: Path) -> None:
    folds.OPEN_AT_FIRST = True
    # Streamlit looks through every installed package before an app's first run.
    scan = manifest_scanner.scan_component_manifests = cache(
        manifest_scanner.scan_component_manifests
    )
    scan()
    few = folder / "few.csv"
    few.write_text(FEW, encoding="utf-8")
    stored = ["--store", str(folder / "few.duckdb")]
    load_what_loads(partial(command, ["import", str(few), *stored]))
    load_what_loads(partial(command, ["report", str(few), "--html", str(folder / "few.html")]))
    for page in PAGES_OF_ALL:
        load_what_loads(partial(drawn, page, folder / "few.duckdb"))
    for name, make in WIDE.items():
        file = folder / name
        file.write_bytes(make())
        store, html, found = (file.with_suffix(end) for end in (".duckdb", ".html", ".json"))
        outputs = {"audit": ["--json", str(found)], "report": ["--html", str(html)]}
        for act in (
            partial(commands_of, [str(file)], {"import": ["--store", str(store)]}),
            partial(commands_of, [str(file)], outputs),
            partial(all_drawn, store),
        ):
            done = attempt(act)
            ended = done["status"] or done["code"] != 0
            said = [("all", done["code"], done["said"])] if ended else json.loads(str(done["said"]))
            for what, code, words in said:
                line = {"file": name, "what": what, **done, "code": code, "said": words}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    try_all(Path(sys.argv[1]))
