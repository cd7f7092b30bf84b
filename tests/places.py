"""Where things are in the checkout, and the path on which processes that tests start find modules."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = REPOSITORY / "pages"
MAIN = PAGES / "main.py"
TESTS = REPOSITORY / "tests"
PYTHONPATH = os.pathsep.join(
    map(
        str, (REPOSITORY, TESTS, *(folder for folder in sorted(TESTS.iterdir()) if folder.is_dir()))
    )
)
