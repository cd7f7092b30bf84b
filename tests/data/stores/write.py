"""Writes a small store and what it exports, in a checkout of the version whose layout is wanted.

    PYTHONPATH=. python write.py TARGET.duckdb [--same-note]

--same-note : a label's note equals a text of the file, which damaged stores until layout 10.
"""

import gzip
import sys
from pathlib import Path

from core.importers import read
from core.store import Store
from core.store.export import write_csv

HERE = Path(__file__).resolve().parent

FILES = ("votes.csv", "texts.csv", "scores.csv", "judged.csv", "rankings.csv", "labelled.csv")


def label(store, note):
    """Nine labels of two people, a skip, a blind repeat where it is due, and one taken back."""
    try:
        from core.labelling.desk import open_desk
    except ModuleNotFoundError:  # up to layout 10
        from core.label_desk import open_desk

    desk = open_desk(store, "labelled", seed=1)
    for n, key in enumerate(("1", "2", "1", "t", "2", "1", "2")):
        card = desk.cards("ann")[0]
        if key not in desk.keys:
            key = "1"
        desk.answer("ann", card, key, note=note if n == 3 else "", tags=("long",) if n == 5 else ())
    desk.skip("ann", desk.cards("ann")[0])
    desk.undo("ann")
    desk.undo("ann")
    for key in ("1", "2", "2"):
        desk.answer("bo", desk.cards("bo")[0], key)


target = Path(sys.argv[1])
with Store.open(target) as store:
    for name in FILES:
        packed = HERE / f"{name}.gz"
        for reading in read([(name, gzip.decompress(packed.read_bytes()))]):
            store.load(reading)
    try:
        label(store, "a3" if "--same-note" in sys.argv else "hard to say")
    except ModuleNotFoundError:
        print("labels came with layout 9", file=sys.stderr)
    for kind in ("votes", "scores", "rankings"):
        written = target.with_name(f"{target.stem}.{kind}.csv.gz")
        with written.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packing:
            write_csv(store.export(kind=kind), packing)
packed = gzip.compress(target.read_bytes(), 9, mtime=0)
target.with_name(f"{target.name}.gz").write_bytes(packed)
