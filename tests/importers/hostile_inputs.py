"""Hostile inputs of `import`, `audit` and `report`, and a script that tries them:
`python tests/importers/hostile_inputs.py FOLDER [COMMAND...]`.

The import of a large input, and its audit with its report, have a process of their own, forked from
one that has loaded everything; small ones are tried in turn in one such process, which measures each,
and another goes on where one dies. Memory and time of an audit are those of it and its report, which
is more than either takes. What `audit` refuses is not reported: both read alike, and what one has
audited the other shows. One line of JSON each.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from filecmp import cmp
from functools import partial
from pathlib import Path

import broken_files
import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import test_hostile_files as hostile
from forked import Done, aside, attempt, attempts, command, commands_of, load_what_loads

from core.importers import ReadOptions, read, template
from core.store import Store

MEGABYTE = 1024**2
MUTATIONS = 15
COMMANDS = ("import", "audit", "report")
BEFORE = b"item_id,judge,vote,gold\n1,kept,1,1\n2,kept,-1,1\n"
Make = Callable[[], bytes]


def packed(text: bytes, times: int) -> Make:
    return lambda: gzip.compress(text * times, 6)


def rows(count: int, row: Callable[[int], str], header: str = "") -> Make:
    return lambda: (header + "".join(row(k) for k in range(count))).encode()


def parquet(**columns: Callable[[], object]) -> Make:
    def made() -> bytes:
        target = io.BytesIO()
        pq.write_table(pa.table({name: make() for name, make in columns.items()}), target)
        return target.getvalue()

    return made


def repeated(value: object, times: int) -> Callable[[], object]:
    return lambda: pa.DictionaryArray.from_arrays(
        pa.repeat(pa.scalar(0, pa.int32()), times), pa.array([value])
    )


def packed_pages() -> bytes:
    """A hundred kilobytes with 1.5 GB of texts, no two the same."""
    target = io.BytesIO()
    texts = [f"{k}{'p' * 500_000}" for k in range(3_000)]
    table = pa.table({"item_id": range(3_000), "judge": ["j"] * 3_000, "vote": [1] * 3_000})
    table = table.append_column("prompt", pa.array(texts))
    # A dictionary of these and their extremes would take three times as long to write.
    plain = {"use_dictionary": False, "write_statistics": False}
    pq.write_table(table, target, compression="zstd", **plain)
    return target.getvalue()


HEAD = "item_id,judge,vote\n"
LARGE: dict[str, Make] = {
    "a kilobyte of gzip with a million commas.csv.gz": packed(b",", 1_000_000),
    "a kilobyte of gzip with a million tabs.tsv.gz": packed(b"\t", 1_000_000),
    "a kilobyte of gzip with a million quotes.csv.gz": packed(b'"', 1_000_000),
    "sixty kilobytes of gzip with commas.csv.gz": packed(b",", 60 * MEGABYTE),
    "sixty kilobytes of gzip with line breaks.csv.gz": packed(b"\n", 60 * MEGABYTE),
    "sixty kilobytes of gzip with short rows.csv.gz": packed(b"a,b\n", 15 * MEGABYTE),
    "rows of one cell.csv.gz": lambda: gzip.compress(b"a,b,c\n" + b"x\n" * (30 * MEGABYTE), 6),
    "rows of many cells.csv.gz": lambda: gzip.compress(
        b"a,b,c\n" + b"x,x,x,x\n" * (7 * MEGABYTE), 6
    ),
    "sixty kilobytes of gzip with brackets.json.gz": packed(b"[", 60 * MEGABYTE),
    "sixty kilobytes of gzip with empty lists.json.gz": lambda: gzip.compress(
        b"[" + b"[]," * (20 * MEGABYTE) + b"[]]", 6
    ),
    "sixty kilobytes of gzip with ones.json.gz": lambda: gzip.compress(
        b"[" + b"1," * (30 * MEGABYTE) + b"1]", 6
    ),
    "sixty kilobytes of gzip with empty objects.jsonl.gz": packed(b"{}\n", 20 * MEGABYTE),
    "sixty kilobytes of gzip with small objects.jsonl.gz": packed(b'{"a":1}\n', 7 * MEGABYTE),
    "objects that hold lists of numbers.json.gz": lambda: gzip.compress(
        b'[{"vote":[' + b"1," * (30 * MEGABYTE) + b"1]}]", 6
    ),
    "bloated.csv.gz": packed(b"0", 100 * MEGABYTE),
    "a million columns.csv": lambda: b",".join(b"c%d" % k for k in range(1_000_000)) + b"\n",
    "ten thousand columns of labels.csv": lambda: (
        ",".join(["item_id", *(f"c{k}" for k in range(9_990))])
        + "\n"
        + ("i," + "A," * 9_989 + "A\n") * 50
    ).encode(),
    "a new key in every row.jsonl": rows(
        20_000, lambda k: f'{{"item_id":{k},"judge":"j","vote":1,"k{k}":1}}\n'
    ),
    "a thousand keys in each of many rows.jsonl.gz": lambda: gzip.compress(
        b"".join(
            json.dumps({"item_id": k, "judge": "j", "vote": 1, f"k{k % 9000}": 1}).encode() + b"\n"
            for k in range(100_000)
        )
    ),
    "an object of a million keys.json": lambda: (
        b"{" + b", ".join(b'"k%d": 1' % k for k in range(1_000_000)) + b"}"
    ),
    "a row of a million keys.jsonl": lambda: (
        json.dumps({f"k{k}": 1 for k in range(300_000)}).encode() + b"\n"
    ),
    "nested a thousand deep.json": lambda: b'[{"vote":' + b"[" * 1000 + b"]" * 1000 + b"}]",
    "nested a hundred deep.jsonl": lambda: (
        b'{"item_id":1,"judge":"j","vote":1,"x":' + b'{"x":' * 100 + b"1" + b"}" * 100 + b"}\n"
    ),
    "nested deep in a native file.jsonl": lambda: (
        json.dumps(broken_files.judgebench()).encode()[:-1]
        + b',"x":'
        + b"[" * 900
        + b"]" * 900
        + b"}\n"
    ),
    "a cell of four megabytes.csv": lambda: HEAD.encode() + b"1,j," + b"x" * (4 * MEGABYTE) + b"\n",
    "a key of four megabytes.jsonl": lambda: b'{"' + b"k" * (4 * MEGABYTE) + b'":1}\n',
    "a number of a million digits.jsonl": lambda: (
        b'{"item_id":1,"judge":"j","vote":' + b"9" * 1_000_000 + b"}\n"
    ),
    "a quote that never closes.csv": lambda: HEAD.encode() + b'1,j,"' + b"1,j,1\n" * 200_000,
    "many rejects.csv": rows(110_000, lambda k: f"{k},j,maybe {k % 3}\n", HEAD),
    "many judges.csv": rows(20_000, lambda k: f"{k % 60},j{k},1\n", HEAD),
    "many models.csv": rows(20_000, lambda k: f"{k},j,1,m{k}\n", "item_id,judge,vote,model_a\n"),
    "many categories.csv": rows(
        20_000, lambda k: f"{k},j,1,c{k}\n", "item_id,judge,vote,category\n"
    ),
    "many labels.csv": rows(20_000, lambda k: f"{k},j,label {k}\n", HEAD),
    "ten million rows of nothing.parquet": parquet(vote=lambda: pa.nulls(10_000_000, pa.string())),
    "a billion rows of nothing.parquet": parquet(vote=lambda: pa.nulls(1_000_000_000, pa.bool_())),
    "a long text ten thousand times.parquet": parquet(
        item_id=lambda: pa.array([str(k) for k in range(10_000)]),
        judge=repeated("j" * 500_000, 10_000),
        vote=lambda: pa.array([1] * 10_000),
    ),
    "a long prompt sixty thousand times.parquet": parquet(
        item_id=lambda: pa.array(range(60_000)),
        judge=repeated("j", 60_000),
        vote=lambda: pa.array([1] * 60_000),
        prompt=repeated("p" * 100_000, 60_000),
    ),
    "long prompts two million times.parquet": parquet(
        item_id=lambda: pa.array(range(2_000_000)),
        judge=repeated("j", 2_000_000),
        vote=lambda: pa.array([1] * 2_000_000),
        prompt=repeated("p" * 400, 2_000_000),
        response_a=repeated("a" * 400, 2_000_000),
    ),
    "long prompts that pack well.parquet": packed_pages,
    "twenty thousand columns.parquet": parquet(
        **{f"c{k}": (lambda: pa.array([1])) for k in range(20_000)}
    ),
    "nested.parquet": parquet(vote=lambda: pa.array([[[[["x"] * 9] * 9] * 9] * 9] * 9)),
}

SMALL: dict[str, bytes] = {
    "a lone surrogate in a key.jsonl": b'{"item_id":1,"judge":"j","vote":1,"a\\ud800":"x"}\n',
    "a lone surrogate in a value.jsonl": b'{"item_id":1,"judge":"j\\udfff","vote":1}\n',
    "a lone surrogate in a native file.jsonl": json.dumps(
        broken_files.judgebench(**{"x\ud800": "y\udc00", "question": "\ud800"})
    ).encode(),
    "carriage returns only.csv": b"item_id,judge,vote\r1,j,1\r2,j,-1\r",
    "line separators.csv": "item_id,judge,vote\n1,j\u2028k,1\n2,j\x85,1\n".encode(),
    "formulas in headings.csv": "item_id,judge,vote,=1+1,＝cmd\n1,j,1,=1+1,＋1\n".encode(),
    "two keys that are one without blanks.jsonl": b'{"item_id":1," item_id":2,"judge":"j","vote":1}\n',
    "a heading of blanks.csv": b"item_id,judge,vote,   ,\t\n1,j,1,2,3\n",
    "numbers beyond all.csv": HEAD.encode() + b"1,j,1e400\n1,j,9999999999999999999\n1,j,-0\n",
    "true and null.json": b'[null, true, 1, "x", [], {}]',
    "a string.json": b'{"a": "' + b"\\u0000" * 50 + b'"}',
    "infinity.jsonl": b'{"item_id":1,"judge":"j","vote":Infinity}\n{"item_id":NaN,"judge":"j","vote":1}\n',
    "names of tables.csv": b"item_id,judge,vote,votes,settings,rowid,select\n1,j,1,a,b,c,d\n",
    "sql.csv": b'item_id,judge,vote\n"\'; drop table votes; --","x\'); delete from votes; --",1\n',
}


def mutated(text: bytes, draw: random.Random) -> bytes:
    """The same file after one accident."""
    at, end = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    kind = draw.randrange(7)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + text[end:]
    if kind == 2:
        return text[:at] + text[at:end] * 3 + text[end:]
    if kind == 3:
        return text[:at] + draw.randbytes(draw.randrange(1, 9)) + text[at:]
    if kind == 4:
        return (
            text[:at]
            + draw.choice([b'"', b"\n", b",", b"\0", b"[", b"}", b"\xff", b"'", b"\r"])
            + text[at:]
        )
    if kind == 5:
        changed = bytearray(text)
        for _ in range(8):
            changed[draw.randrange(len(text))] ^= 1 << draw.randrange(8)
        return bytes(changed)
    return text[end:] + text[:end]


def seeds() -> Iterator[tuple[str, bytes]]:
    """Sound files of every kind, to be damaged."""
    yield "template.csv", template().encode()
    yield "template.csv.gz", gzip.compress(template().encode() * 20)
    target = io.BytesIO()
    pq.write_table(pyarrow.csv.read_csv(pa.BufferReader(template().encode())), target)
    yield "template.parquet", target.getvalue()
    for name, (files, _) in broken_files.NATIVE.items():
        if isinstance(files[0][1], bytes):
            yield f"{name.replace(' ', '-')}.jsonl", files[0][1]
    lines = [
        json.dumps({"item_id": str(k), "judge": "j", "vote": k % 3 - 1, "gold": 1})
        for k in range(30)
    ]
    yield "lines.jsonl", "\n".join(lines).encode()
    yield "array.json", f"[{', '.join(lines)}]".encode()


def inputs() -> Iterator[tuple[str, Make, tuple[str, ...]]]:
    """Name and bytes of every input, and which commands have it."""
    for name, make in LARGE.items():
        # What many judges take of an audit is known from `tests/pages/test_wide_files.py`.
        yield name, make, ("import",) if name == "many judges.csv" else COMMANDS
    texts = SMALL | {name: text for name, (text, *_) in hostile.REFUSED.items()}
    texts |= {f"rejected-{name}": text for name, (text, *_) in hostile.REJECTED.items()}
    for name, (files, _) in {**broken_files.TABLES_OF_VOTES, **broken_files.RANKINGS}.items():
        if isinstance(files[0][1], bytes):
            texts[f"{name[:60]}-{files[0][0]}"] = files[0][1]
    for name, text in texts.items():
        yield name, lambda text=text: text, COMMANDS  # type: ignore[misc]
    draw = random.Random(13)
    for name, text in seeds():
        for k in range(MUTATIONS):
            changed = mutated(text, draw)
            yield f"accident-{k}-{name}", lambda changed=changed: changed, COMMANDS  # type: ignore[misc]


def special(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Arguments that name what is no ordinary file."""
    os.mkfifo(folder / "pipe.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    odd = os.fsencode(folder) + b"/votes-\xff\xfe.csv"
    with open(odd, "wb") as file:
        file.write(b"item_id,judge,vote\n1,j,1\n")
    (folder / "votes\n\x1b[31m.csv").write_bytes(b"item_id,judge,vote\n1,j,1\n")
    files = folder / "files"
    (files / "below").mkdir(parents=True)
    os.mkfifo(files / "pipe.csv")
    (files / "loop.csv").symlink_to("loop.csv")
    (files / "below" / "up.csv").symlink_to("..")
    (files / "empty").mkdir()
    (files / "below" / "votes.csv").write_bytes(b"item_id,judge,vote\n1,j,1\n")
    store = os.fsdecode(os.fsencode(folder) + b"/store-\xff.duckdb")
    shutil.copy(folder / "before.duckdb", store)
    yield "a pipe", [str(folder / "pipe.csv")]
    yield "a loop", [str(folder / "loop.csv")]
    yield "a folder with a pipe, a loop and votes", [str(files)]
    yield "a folder without a file", [str(files / "empty")]
    yield "a device", ["/dev/zero"]
    yield "a name that is not UTF-8", [os.fsdecode(odd)]
    yield "a store whose name is not UTF-8", [store]
    yield "a name with a line break", [str(folder / "votes\n\x1b[31m.csv")]
    yield "a data set that is not UTF-8", [os.fsdecode(odd), "--dataset", "\udcff"]
    yield "no file", [str(folder / "nothing.csv")]
    yield "a name of 5,000 letters", ["x" * 5000]
    yield "an empty name", [""]
    yield "a name with a NUL", ["a\0b.csv"]


Act = Callable[[], tuple[int, str]]
Trial = tuple[str, str, Act]
"""Name of an input, what is done with it, and the act."""


def trials(name: str, arguments: list[str], folder: Path, commands: Sequence[str]) -> list[Trial]:
    """Import into a copy of the store; audit and report."""
    store = folder / "attempt.duckdb"
    outputs = {
        "import": ["--store", str(store)],
        "audit": ["--isolated", "--splits", "10", "--json", str(folder / "found.json")],
        "report": ["--isolated", "--splits", "10", "--html", str(folder / "found.html")],
    }
    acts: list[Trial] = []
    if "import" in commands:
        acts.append((name, "import", partial(imported, [*arguments, *outputs["import"]], store)))
    shown = {verb: outputs[verb] for verb in commands if verb != "import"}
    if shown and "--dataset" not in arguments:
        acts.append((name, "audit", partial(commands_of, arguments, shown)))
    return acts


def tell_all(trials: Sequence[Trial], done: Iterable[Done], folder: Path) -> None:
    """A line for each command of each trial."""
    for (name, verb, _), each in zip(trials, done, strict=True):
        if verb == "import":
            # What was ended from outside did not look.
            store = folder / "attempt.duckdb"
            tell(name, verb, each, not each["status"] or aside(partial(kept, store)))
        elif each["status"] or each["code"] != 0:
            tell(name, verb, each)
        else:
            for verb, code, said in json.loads(str(each["said"])):
                tell(name, verb, each | {"code": code, "said": said})


def tell(name: str, verb: str, done: Done, unchanged: bool = True) -> None:
    """What came of a command on an input, and whether the votes from before are as they were."""
    said = str(done["said"])[:2000]
    line = {"name": name, "command": verb, **done, "said": said, "kept": unchanged}
    print(json.dumps(line), flush=True)


def imported(arguments: list[str], store: Path) -> tuple[int, str]:
    """An import into a new copy of the store, and a look at it in the process that has made it."""
    for each in store.parent.glob("attempt.duckdb*"):
        each.unlink()
    before = store.with_stem("before")
    shutil.copy(before, store)
    done = command(["import", *arguments])
    # Most inputs are refused before a store is opened: then each byte is as it was.
    if not cmp(before, store, shallow=False) or len([*store.parent.glob("attempt.duckdb*")]) > 1:
        kept(store)
    return done


def kept(store: Path) -> None:
    """That the votes from before are as they were."""
    with duckdb.connect(str(store)) as connection:
        found = connection.execute(
            """select i.name, v.vote, c.gold from votes v join comparisons c on c.id = v.comparison
               join items i on i.id = c.item join judges j on j.id = v.judge
               where j.name = 'kept' order by 1"""
        ).fetchall()
    assert found == [("1", 1, 1), ("2", -1, 1)], found


def load_before(folder: Path) -> None:
    with Store.open(folder / "before.duckdb") as store:
        store.load(read([("before.csv", BEFORE)], ReadOptions())[0])


def try_all(folder: Path, chosen: Sequence[str]) -> None:
    (folder / "before.csv").write_bytes(BEFORE)
    assert aside(partial(load_before, folder))
    (folder / "template.csv").write_text(template(), encoding="utf-8")
    given = [str(folder / "template.csv"), "--html", str(folder / "template.html")]
    load_what_loads(partial(command, ["report", "--isolated", *given]))
    small: list[Trial] = []
    for name, make, verbs in inputs():
        path = folder / name.replace("/", "-")
        tried = trials(name, [str(path)], folder, [verb for verb in verbs if verb in chosen])
        if name in LARGE:
            # Made in a child too: what it takes to make a large file must not be inherited.
            assert aside(lambda path=path, make=make: path.write_bytes(make()))
            tell_all(tried, (attempt(act) for _, _, act in tried), folder)
            path.unlink()
        else:
            path.write_bytes(make())
            small += tried
    for name, arguments in special(folder):
        small += trials(name, arguments, folder, chosen)
    tell_all(small, attempts([act for _, _, act in small]), folder)


if __name__ == "__main__":
    try_all(Path(sys.argv[1]), sys.argv[2:] or COMMANDS)
