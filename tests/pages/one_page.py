"""One page of the app in a process of its own: `python tests/pages/one_page.py PAGE`, whose store
APPELLATE_STORE names. Writes its title, what it says and what went wrong as a line of JSON.
"""

from __future__ import annotations

import json
import sys

from apps import new_app, texts

from pages.shared import folds

if __name__ == "__main__":
    folds.OPEN_AT_FIRST = True
    app = new_app()
    page = sys.argv[1]
    if page != "overview":
        app.switch_page(f"{page}.py")
    app.run()
    found = {
        "title": [title.value for title in app.title],
        "said": texts(app),
        "wrong": [error.value for error in app.exception],
    }
    print(json.dumps(found))
