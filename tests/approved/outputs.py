"""What six audits say in each of their outputs, as it is approved: `make approve` writes the folders
beside this file anew, and the difference is what a reviewer reads.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from places import REPOSITORY

import core
from core.reporting.build import to_junit, to_markdown
from core.reporting.document import to_json
from core.reporting.gates import failures, strict_gates, with_gates
from core.reporting.html import report
from core.reporting.text import to_text

HERE = Path(__file__).parent
SHARED = REPOSITORY.parent / "shared" / "data"
"""Real files; audits of them are compared where they lie beside the checkout."""
DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
MADE = date(2026, 1, 1)


def without_gold(path: Path) -> bytes:
    rows = list(csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
    gold = rows[0].index("gold")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [value for place, value in enumerate(row) if place != gold] for row in rows
    )
    return text.getvalue().encode()


AUDITS: dict[str, tuple[Path, dict[str, Any]]] = {
    "demo": (DEMO, {}),
    "both_orders": (
        DEMO,
        {"correctness": "both_orders", "judge": ["sim-judge-boaster", "sim-judge-first-slot"]},
    ),
    "confidence": (SHARED / "votes" / "judgeconf.csv.gz", {}),
    "pairs": (SHARED / "votes" / "judgebench.csv.gz", {}),
    "scores": (SHARED / "scores" / "cje_arena.csv.gz", {}),
    "without_gold": (SHARED / "votes" / "faireval.csv.gz", {}),
}


def audited(name: str) -> core.Audit:
    """Raises FileNotFoundError where the file is not beside the checkout."""
    path, options = AUDITS[name]
    if not path.exists():
        raise FileNotFoundError(path)
    source = without_gold(path) if name == "without_gold" else path
    return core.audit(source, name=path.name, splits=5, **options)


def document(audit: core.Audit) -> Iterator[str]:
    """The digest of the JSON, and its values, one line each down to the third level."""
    text = to_json(audit)
    yield digest(text)

    def lines(value: Any, path: str, depth: int) -> Iterator[str]:
        if depth and isinstance(value, dict) and value:
            for key, each in value.items():
                yield from lines(each, f"{path}.{key}" if path else key, depth - 1)
        else:
            yield f"{path} = {json.dumps(value, ensure_ascii=False)}"

    yield from lines(json.loads(text), "", 3)


def parts_of_html(audit: core.Audit) -> Iterator[str]:
    """The digest of each part of the report with its heading."""
    for part in re.split(r"(?=<h[12][ >])", report(audit)):
        heading = re.match(r"<h[12][^>]*>(.*?)</h", part, re.DOTALL)
        yield f"{digest(part)} {heading[1].strip() if heading else 'head'}"


def notebook(audit: core.Audit) -> Iterator[str]:
    text = audit._repr_html_()
    yield digest(text)
    yield from re.findall(r"<p[^>]*>(.*?)</p>", text, re.DOTALL)


def frame(audit: core.Audit) -> Iterator[str]:
    rows = audit.to_arrow().to_pylist()
    yield "\t".join(rows[0])
    for row in rows:
        yield "\t".join("" if value is None else str(value) for value in row.values())


def messages(audit: core.Audit) -> Iterator[str]:
    yield repr(audit)
    yield str(audit)
    yield from failures(with_gates(audit, strict_gates()))
    yield from audit.notes


OUTPUTS: dict[str, Callable[[core.Audit], Iterator[str]]] = {
    "json.txt": document,
    "text.txt": lambda audit: iter([to_text(audit)]),
    "html.txt": parts_of_html,
    "markdown.md": lambda audit: iter([to_markdown(audit, made=MADE)]),
    "junit.xml": lambda audit: iter([to_junit(audit)]),
    "notebook.txt": notebook,
    "frame.tsv": frame,
    "messages.txt": messages,
}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def written(audit: core.Audit, output: str) -> str:
    return "\n".join(OUTPUTS[output](audit)).rstrip("\n") + "\n"


def main() -> None:
    for name, (path, _) in AUDITS.items():
        if not path.exists():
            print(f"{name}: {path} is not there, so what is approved stays")
            continue
        audit = audited(name)
        shutil.rmtree(HERE / name, ignore_errors=True)
        (HERE / name).mkdir()
        for output in OUTPUTS:
            (HERE / name / output).write_text(written(audit, output), encoding="utf-8")


if __name__ == "__main__":
    main()
