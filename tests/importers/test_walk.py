"""How far a file walks before its votes are in the store: our functions on the way, counted as they
run.
"""

import sys
from collections import Counter
from types import FrameType

from places import REPOSITORY

from core.importers import ReadOptions, read
from core.store import Store

CORE = str(REPOSITORY / "core")
HEADER = "item_id,model_a,model_b,judge,run,position,vote,confidence,gold"
ROWS = [
    f"q{i // 4},x,y,judge-{i % 2},{i // 2 % 2},ab,{i % 3 - 1},0.{6 + i % 3},{i // 4 % 3 - 1}"
    for i in range(40)
]
FUNCTIONS, MODULES = 137, 21
"""The most distinct functions and modules on the way: `shape_of` is there so that
files and engines tell scores from votes by one rule, `part_of` so that reading says how far it is,
`count_added` so that a label is counted without a look at the others, `judged` and `n_unread` so that
a cell that cannot be read need not cost its row, `parse_number` so that a confidence and a score are
read as numbers by one rule, `plain.without_titles` and what it calls so that lines above a header are left
out of every file by one rule, `_labels_there` so that labels given here are kept apart from what files
say, `_planned_file` and what `by_plan` asks so that names are taken only where they can be, `two_forms` so that
a file of both forms is no plan's, and
`JoinedCells`, `each_text`, `code_texts` and what they call so that long texts are held once.
"""


def walk() -> Counter[tuple[str, str, int]]:
    """Calls by module, function and line where reading and loading 40 votes runs through core."""
    calls: Counter[tuple[str, str, int]] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(CORE)
            and not code.co_name.startswith("<")
        ):
            calls[code.co_filename[len(CORE) + 1 :], code.co_qualname, code.co_firstlineno] += 1

    data = "\n".join([HEADER, *ROWS, ""]).encode()
    with Store.open(None) as store:
        read([("a.csv", data)])
        sys.setprofile(count)
        try:
            (result,) = read([("a.csv", data)], ReadOptions())
            report = store.load(result)
        finally:
            sys.setprofile(None)
    assert report.loaded == len(ROWS)
    return calls


def test_forty_votes_take_few_functions_in_few_modules() -> None:
    calls = walk()
    modules = Counter(module for module, _, _ in calls)
    assert len(calls) <= FUNCTIONS, sorted(calls)
    assert len(modules) <= MODULES, modules


if __name__ == "__main__":
    found = walk()
    for (module, function, line), n in sorted(found.items()):
        print(f"{module}:{line} {function} ({n})")
    print(f"{len(found)} functions in {len({module for module, _, _ in found})} modules")
