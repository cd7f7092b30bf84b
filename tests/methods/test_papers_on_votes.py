"""The papers' items on real votes: each is printed or explained on every file, and what
benchmarks/printed says is what the benchmark prints.
"""

import re
import time

import pytest
from places import REPOSITORY

from benchmarks import papers as measured
from core.auditing.options import AuditOptions
from core.importers import read
from core.papers.asked import NOTHING, Settings
from core.papers.items import ITEMS
from core.papers.made import in_text, maker
from core.schema import Selection
from core.store import Store

PRINTED = REPOSITORY / "benchmarks" / "printed" / "papers.md"
SHARED = REPOSITORY.parent / "shared" / "data"
FILES = [
    *(
        f"votes/{name}"
        for name in (
            "faireval",
            "judgebench",
            "judgeconf",
            "ko_arena_hard",
            "listwise_choices",
            "pandalm",
            "pba_position",
            "pba_repeat",
            "rewardbench2_pairs",
            "rewardbench2_temperature",
            "wmt23_ende_humans",
        )
    ),
    "scores/cje_arena",
]
SECONDS = 180
"""Time of all items of one file: the largest takes 30 s on a quiet machine."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_every_item_is_printed_or_explained_on_a_real_file(name):
    path = SHARED / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip("../shared/data is not in this checkout")
    begun = time.process_time()
    tables = 0
    with (
        Store.holding(read([(path.name, path)])) as store,
        maker(store, Selection(), AuditOptions(), Settings()) as make,
    ):
        for item in ITEMS:
            made = make(item)
            assert item.name in in_text(made)
            if made.table is None:
                assert made.lacks == item.lacks or made.lacks.endswith((".", ")")), item.name
                assert len(made.lacks) < 600, item.name
                assert made.lacks != NOTHING, item.name
            else:
                tables += 1
                assert len(made.table), item.name
                assert not set(item.columns) - set(made.table.columns), item.name
    assert tables > 0
    assert time.process_time() - begun < SECONDS


@pytest.mark.thorough
def test_the_printed_table_is_what_is_printed_now():
    if not SHARED.is_dir():
        pytest.skip("../shared/data is not in this checkout")
    text = PRINTED.read_text(encoding="utf-8")
    shown = re.search(r"<!-- papers -->\n(.*?)\n<!-- /papers -->", text, flags=re.DOTALL)
    assert shown is not None
    assert shown[1] == measured.report(SHARED)
