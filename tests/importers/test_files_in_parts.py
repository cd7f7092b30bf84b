"""A large file is read part by part: what is read, rejected and refused is what would be if it were
held.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_hostile_files import REFUSED

from core.errors import AppellateError
from core.importers import columns, read, source, tables

ROWS = "".join(
    f'{i},x{i % 3},y,"judge, {i % 2}",{"ab" if i % 2 else ""},{i % 3 - 1},0.{i % 10},"two\nlines {i}"\n'
    for i in range(400)
)
FILES = {
    "votes.csv": f"item_id,model_a,model_b,judge,position,vote,confidence,note\n{ROWS}".encode(),
    "a bad label.csv": f"item_id,model_a,model_b,judge,position,vote,confidence,note\n{ROWS}"
    "401,x,y,j,ab,maybe,2,\n".encode(),
    "ragged.csv": f"item_id,model_a,model_b,judge,position,vote,confidence,note\n{ROWS}1,2\n".encode(),
    **{name: data for name, (data, *_) in REFUSED.items()},
}


def outcome(name: str, data: bytes | Path) -> object:
    try:
        (reading,) = read([(name, data)])
    except AppellateError as error:
        return type(error), str(error)
    return reading.votes.to_pylist(), reading.rejects.to_pylist(), reading.notes, reading.sha256


@pytest.mark.parametrize("name", FILES)
def test_a_file_where_it_lies_is_read_as_its_bytes(name, tmp_path, monkeypatch):
    held = outcome(name, FILES[name])
    monkeypatch.setattr(source, "_HELD", -1)
    monkeypatch.setattr(source, "_HEAD", 1000)
    monkeypatch.setattr(tables, "_BLOCK", 2000)
    (tmp_path / name).write_bytes(FILES[name])
    assert outcome(name, tmp_path / name) == held


def test_parts_are_put_together_in_their_order():
    rng = np.random.default_rng(0)
    texts = [[f"{n}" for n in rng.integers(1, 40_000, size)] for size in (0, 70_000, 1, 300)]
    joined = columns.joined_cells([columns.encode_cells(part) for part in texts])
    assert joined.to_pylist() == [text for part in texts for text in part]
    assert str(joined.indices.type) == "int32"
    assert len({*joined.dictionary.to_pylist()}) == len(joined.dictionary)
