"""Twenty visitors while data sets are loaded, renamed and deleted: `python tests/pages/sessions.py
SECONDS`.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from places import PYTHONPATH
from served import Server, Session

from core.importers import read
from core.store import Store

VISITORS = 20
PAGES = ("", "calibration", "position_bias", "confusion", "start")
FIXED, MOVING = ("fixed 0", "fixed 1", "fixed 2"), ("moving 0", "moving 1", "moving 2", "renamed")
BODY = re.compile(r"text \{\s*body: \"(.*?)\"\s*(?:\n|help)")


@dataclass
class Seen:
    """runs : pages shown. errors : what went wrong. memory : resident bytes of the server, each
    second.
    """

    runs: int = 0
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    changes: str = ""


def fixed(path: Path) -> None:
    """Data sets that nobody changes."""
    with Store.open(path) as store:
        for k, name in enumerate(FIXED):
            orders = ("ab", "ab", "ba", "ba")
            rows = "".join(
                f"{i},j{i % 2},{(i + k) % 3 - 1},{(i * (k + 3)) % 2},0.{(i + k) % 10},{orders[i % 4]}\n"
                for i in range(200)
            )
            text = f"item_id,judge,vote,gold,confidence,position\n{rows}"
            store.load(read([("fixed.csv", text.encode())])[0], dataset=name)


def texts(answer: str) -> list[str]:
    """The sentences of a page."""
    return BODY.findall(answer)


def shown(server: Server, page: str, dataset: str) -> str:
    with Session(server) as visitor:
        return visitor.run(page, urlencode({"dataset": dataset}))


def visit(
    server: Server, seen: Seen, expected: dict[tuple[str, str], list[str]], end: float, k: int
) -> None:
    draw = random.Random(k)
    try:
        while time.monotonic() < end:
            page, dataset = (
                draw.choice(PAGES),
                draw.choice(FIXED if draw.random() < 0.8 else MOVING),
            )
            answer = shown(server, page, dataset)
            seen.runs += 1
            if "exception {" in answer or "Traceback" in answer:
                seen.errors.append(
                    f"{page}, {dataset}: {answer[answer.find('exception {') :][:600]}"
                )
            if dataset in FIXED and texts(answer) != expected[page, dataset]:
                seen.errors.append(
                    f"{page}, {dataset}: {texts(answer)} is not {expected[page, dataset]}"
                )
    except Exception as error:
        seen.errors.append(f"{type(error).__name__}: {error}")


def watch(server: Server, seen: Seen, end: float) -> Iterator[None]:
    while time.monotonic() < end:
        seen.memory.append(server.memory())
        time.sleep(1)
        yield


def run(folder: Path, seconds: float) -> Seen:
    """Let them visit for so long; what each saw is compared with what one visitor alone saw."""
    seen, path = Seen(), folder / "s.duckdb"
    fixed(path)
    with Server("app.py", path) as alone:
        expected = {
            (page, dataset): texts(shown(alone, page, dataset))
            for page in PAGES
            for dataset in FIXED
        }
    environment = {"PYTHONPATH": PYTHONPATH}
    with Server("tests/pages/changing_app.py", path, environment=environment) as server:
        end = time.monotonic() + seconds
        visitors = [
            threading.Thread(target=visit, args=(server, seen, expected, end, k))
            for k in range(VISITORS)
        ]
        for each in visitors:
            each.start()
        for _ in watch(server, seen, end):
            pass
        for each in visitors:
            each.join()
        seen.changes = path.with_suffix(".changes").read_text()
        log = server.log.read_text()
        if "Traceback" in log:
            seen.errors.append(log[log.find("Traceback") :][:6000])
    return seen


def growth(memory: list[int]) -> float:
    """Memory at the end over that after the first half, by medians of a tenth."""
    tenth = max(len(memory) // 10, 1)
    half = sorted(memory[len(memory) // 2 : len(memory) // 2 + tenth])
    last = sorted(memory[-tenth:])
    return last[len(last) // 2] / half[len(half) // 2] - 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = run(Path(name), float(sys.argv[1]))
    print(f"{found.runs} pages for {VISITORS} visitors, {found.changes} rounds of changes,")
    print(
        f"{len(found.errors)} errors, memory {found.memory[-1] >> 20} MB, "
        f"{growth(found.memory):+.1%}"
    )
    print("\n".join([*found.errors[:3], *found.errors[-1:]]))
