"""What may not change how a file is read: `python -m benchmarks.reading_laws [FOLDER…]`.

Tables are made here, one for each form that people keep judgements in; those of FOLDER are added.
Each is read, changed as a law says, and read again. Where names no longer say anything a question
or a refusal is right; another reading in silence never is.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import AmbiguousLabels, AppellateError
from core.importers import read
from core.schema import ImportResult

Row = list[str]
Table = list[Row]
"""Rows of cells, the header first."""
File = tuple[str, bytes]

NUMBERS = {"A": "1", "B": "-1"}
EQUAL, ASKED, REFUSED, SILENT = "the same", "asked", "refused", "otherwise in silence"
_COUNTED = ("rater_type", "vote", "score", "gold", "metric", "model_a", "model_b", "position")
_WORDS = (
    # English, German, French, Spanish.
    ("judge", "Richter", "juge", "juez"),
    ("vote", "Urteil", "verdict", "veredicto"),
    ("winner", "Gewinner", "gagnant", "ganador"),
    ("verdict", "Urteil", "verdict", "veredicto"),
    ("score", "Punkte", "note", "puntaje"),
    ("judge_score", "Punkte KI", "note IA", "nota IA"),
    ("human_score", "Punkte Mensch", "note humaine", "nota humana"),
    ("prompt", "Frage", "question", "pregunta"),
    ("question", "Frage", "question", "pregunta"),
    ("response", "Antwort", "réponse", "respuesta"),
    ("answer", "Antwort", "réponse", "respuesta"),
    ("response_a", "Antwort A", "réponse A", "respuesta A"),
    ("response_b", "Antwort B", "réponse B", "respuesta B"),
    ("category", "Kategorie", "thème", "categoría"),
    ("comment", "Kommentar", "commentaire", "comentario"),
)
"""Names of columns in other languages."""


def made(seed: int = 1) -> dict[str, Table]:
    """Tables of judgements by what they are: their meaning is in names and in cells."""
    draw = random.Random(seed)
    items = [f"q{n}" for n in range(60)]
    gold = {item: draw.choice("AB") for item in items}
    level = {item: draw.randint(1, 5) for item in items}

    def vote(item: str, right: float = 0.8) -> str:
        return gold[item] if draw.random() < right else "BA"["AB".index(gold[item])]

    def near(item: str) -> str:
        return str(min(5, max(1, level[item] + draw.choice((-1, 0, 0, 0, 1)))))

    def passed(item: str, right: float = 0.85) -> str:
        said = level[item] > 2
        return "pass" if said == (draw.random() < right) else "fail"

    def text(item: str, which: str) -> str:
        return f"{which} to {item}: " + "word " * draw.randint(3, 12)

    sides = {"A": "response_a", "B": "response_b"}
    return {
        "votes, both orders": [
            ["item_id", "judge", "vote", "position", "gold"],
            *(
                [i, j, NUMBERS[vote(i)], order, NUMBERS[gold[i]]]
                for i in items
                for j in ("m1", "m2")
                for order in ("ab", "ba")
            ),
        ],
        "pairs with texts": [
            ["id", "prompt", *sides.values(), "winner", "human_label"],
            *([i, text(i, "Q"), text(i, "a"), text(i, "b"), vote(i), gold[i]] for i in items),
        ],
        "a column per judge": [
            ["item_id", "gpt-4o", "claude-sonnet-4", "gold"],
            *([i, vote(i), vote(i, 0.6), gold[i]] for i in items),
        ],
        "levels beside a person's": [
            ["id", "prompt", "response", "judge_score", "human_score"],
            *([i, text(i, "Q"), text(i, "answer"), near(i), near(i)] for i in items),
        ],
        "pass or fail and two people": [
            ["case_id", "llm_verdict", "annotator_1", "annotator_2", "comment"],
            *([i, passed(i), passed(i, 0.95), passed(i, 0.9), text(i, "note")] for i in items),
        ],
        "two metrics, each with people's": [
            ["id", "relevance_llm", "relevance_human", "clarity_llm", "clarity_human"],
            *([i, near(i), near(i), near(i), near(i)] for i in items),
        ],
        "models by name": [
            ["item_id", "model_a", "model_b", "judge", "winner"],
            *([i, "alpha", "beta", "m1", {"A": "alpha", "B": "beta"}[vote(i)]] for i in items),
        ],
        "scores, one a row": [
            ["item_id", "judge", "score", "category"],
            *([i, j, near(i), "xyz"[n % 3]] for n, i in enumerate(items) for j in ("m1", "m2")),
        ],
        "both orders in two columns": [
            ["id", "judge", "vote_ab", "vote_ba", "gold"],
            *([i, "m1", vote(i), vote(i), gold[i]] for i in items),
        ],
        "a person's, German words": [
            ["Nr", "Frage", "Antwort", "Urteil KI", "Urteil Mensch"],
            *(
                [
                    i,
                    text(i, "Q"),
                    text(i, "answer"),
                    {"pass": "gut", "fail": "schlecht"}[passed(i)],
                    {"pass": "gut", "fail": "schlecht"}[passed(i, 0.95)],
                ]
                for i in items
            ),
        ],
    }


def as_csv(table: Table, separator: str = ",") -> bytes:
    """A table as delimited text in UTF-8."""
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows(table)
    return written.getvalue().encode()


def _columns(table: Table) -> dict[str, list[str | None]]:
    return {name: [row[k] or None for row in table[1:]] for k, name in enumerate(table[0])}


def _records(table: Table) -> list[dict[str, str | None]]:
    return [dict(zip(table[0], (cell or None for cell in row), strict=True)) for row in table[1:]]


def _sqlite(table: Table) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        names = ", ".join(f'"{name}"' for name in table[0])
        database.execute(f"create table judgements ({names})")
        marks = ", ".join("?" * len(table[0]))
        database.executemany(f"insert into judgements values ({marks})", table[1:])
        database.commit()
        return bytes(database.serialize())


def _parquet(table: Table) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(_columns(table)), written)
    return written.getvalue()


def _zip(table: Table) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("votes.csv.gz", gzip.compress(as_csv(table)))
    return written.getvalue()


DRESSES: dict[str, Callable[[Table], File]] = {
    "semicolons": lambda t: ("votes.csv", as_csv(t, ";")),
    "sep=;": lambda t: ("votes.csv", b"sep=;\n" + as_csv(t, ";")),
    "tabs": lambda t: ("votes.tsv", as_csv(t, "\t")),
    "a title": lambda t: ("votes.csv", b"Export of 3 March\n\n" + as_csv(t)),
    "UTF-16": lambda t: ("votes.csv", as_csv(t).decode().encode("utf-16")),
    "line ends of Windows": lambda t: (
        "votes.csv",
        b"\xef\xbb\xbf" + as_csv(t).replace(b"\n", b"\r\n"),
    ),
    "gzip": lambda t: ("votes.csv.gz", gzip.compress(as_csv(t))),
    "gzip in ZIP": lambda t: ("votes.zip", _zip(t)),
    "JSON": lambda t: ("votes.json", json.dumps(_records(t)).encode()),
    "JSON Lines": lambda t: ("votes.jsonl", "\n".join(map(json.dumps, _records(t))).encode()),
    "JSON with data": lambda t: ("votes.json", json.dumps({"data": _records(t)}).encode()),
    "JSON of columns": lambda t: ("votes.json", json.dumps(_columns(t)).encode()),
    "JSON by id": lambda t: (
        "votes.json",
        json.dumps({f"r{k}": record for k, record in enumerate(_records(t))}).encode(),
    ),
    "JSON in a wrapper": lambda t: (
        "votes.json",
        json.dumps({"status": "done", "results": {"rows": _records(t)}}).encode(),
    ),
    "JSON Lines, each wrapped": lambda t: (
        "votes.jsonl",
        "\n".join(json.dumps({"record": record}) for record in _records(t)).encode(),
    ),
    "JSON of names and rows": lambda t: (
        "votes.json",
        json.dumps(
            {"columns": t[0], "data": [[cell or None for cell in row] for row in t[1:]]}
        ).encode(),
    ),
    "JSON of numbered columns": lambda t: (
        "votes.json",
        json.dumps({name: dict(enumerate(cells)) for name, cells in _columns(t).items()}).encode(),
    ),
    "JSON of lists": lambda t: ("votes.json", json.dumps(t).encode()),
    "Parquet": lambda t: ("votes.parquet", _parquet(t)),
    "SQLite": lambda t: ("votes.sqlite", _sqlite(t)),
}
"""The same table as other programs write it."""


def _renamed(table: Table, names: Iterable[str]) -> Table:
    return [list(names), *table[1:]]


def _shuffled_columns(table: Table, draw: random.Random) -> Table:
    order = draw.sample(range(len(table[0])), len(table[0]))
    return [[row[k] for k in order] for row in table]


def _shuffled_rows(table: Table, draw: random.Random) -> Table:
    return [table[0], *draw.sample(table[1:], len(table) - 1)]


def _with_bookkeeping(table: Table, draw: random.Random) -> Table:
    kept = ["created_at", "trace", "latency_ms", "batch"]
    added = (
        [
            f"2026-03-{draw.randint(1, 28):02}T10:00:00",
            f"{draw.getrandbits(64):016x}",
            str(draw.randint(200, 9000)),
            "nightly",
        ]
        for _ in table[1:]
    )
    return [table[0] + kept, *(row + more for row, more in zip(table[1:], added, strict=True))]


def _dressed(dress: Callable[[Table], File]) -> Callable[[Table, random.Random], File]:
    return lambda table, _: dress(table)


def _translated(language: int) -> Callable[[Table, random.Random], File]:
    words = {row[0]: row[language] for row in _WORDS}
    return lambda t, _: ("votes.csv", as_csv(_renamed(t, (words.get(n, n) for n in t[0]))))


LAWS: dict[str, Callable[[Table, random.Random], File]] = {
    "columns in another order": lambda t, d: ("votes.csv", as_csv(_shuffled_columns(t, d))),
    "rows in another order": lambda t, d: ("votes.csv", as_csv(_shuffled_rows(t, d))),
    "columns of bookkeeping": lambda t, d: ("votes.csv", as_csv(_with_bookkeeping(t, d))),
    "names in capitals": lambda t, d: ("votes.csv", as_csv(_renamed(t, map(str.upper, t[0])))),
    **{
        f"names in {language}": _translated(k)
        for k, language in enumerate(("German", "French", "Spanish"), 1)
    },
    "names that say nothing": lambda t, d: (
        "votes.csv",
        as_csv(_renamed(t, (f"zq{k}" for k in range(len(t[0]))))),
    ),
    **{f"as {name}": _dressed(dress) for name, dress in DRESSES.items()},
}


SHORT = {
    "columns": "columns in another order",
    "rows": "rows in another order",
    "bookkeeping": "columns of bookkeeping",
    "german": "names in German",
    "french": "names in French",
    "spanish": "names in Spanish",
    "nonsense": "names that say nothing",
}
"""What a law is called where it is typed."""


def judgements(readings: list[ImportResult]) -> Counter[tuple[str, ...]]:
    """How often each judgement was read, whatever its item and its rater are called, and how many
    items and raters there are.
    """
    counted: Counter[tuple[str, ...]] = Counter()
    for reading in readings:
        table = reading.votes
        names = [name for name in _COUNTED if name in table.column_names]
        for row in table.select(names).to_pylist():
            cells = (f"{name}={row[name]}".casefold() for name in names if row[name] is not None)
            counted[(reading.kind, *cells)] += 1
        for name in {"item_id", "judge"} & {*table.column_names}:
            counted[(reading.kind, name)] += len(set(table[name].to_pylist()))
    return counted


def outcome(file: File) -> tuple[str, Counter[tuple[str, ...]] | None, str]:
    """What becomes of a file, its judgements, and what is said."""
    try:
        return EQUAL, judgements(read([file])), ""
    except AmbiguousLabels as error:
        return ASKED, None, str(error)
    except AppellateError as error:
        return REFUSED, None, str(error)


def measured(
    tables: dict[str, Table], laws: Iterable[str] = LAWS
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Outcomes by law, and a line for each that is neither the same nor asked. A question and a
    refusal that stand for the table as it is are the same where they stand for the changed one.
    """
    outcomes: dict[str, Counter[str]] = {law: Counter() for law in laws}
    lines: list[str] = []
    for name, table in tables.items():
        as_it_is, plain, _ = outcome(("votes.csv", as_csv(table)))
        for law in outcomes:
            how, changed, said = outcome(LAWS[law](table, random.Random(7)))
            if changed is not None and changed != plain:
                how = SILENT
                said = f"{next(iter(changed - plain or plain - changed))}" if plain else as_it_is
            elif how == as_it_is:
                how = EQUAL
            outcomes[law][how] += 1
            if how in (SILENT, REFUSED):
                lines.append(f"{name}, {law}: {how}: {said[:160]}")
    return outcomes, lines


def lines_of(outcomes: dict[str, Counter[str]]) -> list[str]:
    """A table with a row for each law."""
    every = (EQUAL, ASKED, REFUSED, SILENT)
    head = f"{'':30}" + "".join(f"{how:>22}" for how in every)
    rows = (
        f"{law:30}" + "".join(f"{counted[how]:22}" for how in every)
        for law, counted in outcomes.items()
    )
    return [head, *rows]


def main(arguments: list[str]) -> int:
    """Print a row for each law; 1 where one is broken in silence."""
    tables = made()
    for folder in map(Path, arguments):
        for path in sorted(folder.glob("*.csv")):
            rows = list(csv.reader(io.StringIO(path.read_text("utf-8"), newline="")))
            if rows and len(rows[0]) > 1 and len(set(map(len, rows))) == 1:
                tables[path.name] = rows
    outcomes, lines = measured(tables)
    print("\n".join([*lines, *lines_of(outcomes)]))
    return int(any(counted[SILENT] for counted in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
