"""What judges said in each of the files that were loaded: which file a judgement came from is kept
as the span of its numbers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ..records import ByFile
from ..schema import Kind, Selection
from .arrays import ints
from .schema import OF_FILE
from .selection import at_one_moment, scope

if TYPE_CHECKING:
    from .connection import Snapshot

_IN_FILES = """{usable} v asof join (values {files}) f (file, dataset, first, last)
    on v.dataset = f.dataset and v.id >= f.first"""
_SAID = {
    "votes": f"""
        select v.judge, 0 as metric, f.file, g.item, avg(v.vote)::double as said,
               avg(case when abs(g.gold) = 1 then (1 + v.vote * g.gold) / 2 end)::double as right_
        from {_IN_FILES} join {{gold}} g using (comparison)
        where v.id <= f.last group by 1, 2, 3, 4 order by 1, 2""",
    "scores": f"""
        select v.judge, v.metric, f.file, v.item, avg(v.score)::double as said,
               avg(case when v.score in (0, 1) and v.gold in (0, 1)
                        then (v.score = v.gold)::integer end)::double as right_
        from {_IN_FILES}
        where v.id <= f.last group by 1, 2, 3, 4 order by 1, 2""",
}


@at_one_moment
def by_file(
    store: Snapshot, selection: Selection, kind: Kind = "votes"
) -> dict[tuple[str, str | None], ByFile]:
    """What each judge said in each file, a row per file and item, by judge and, of scores, metric;
    empty where the judgements come from fewer than two files.

    A vote is right by decided gold, a tie counting half; a score where it is pass or fail and
    equals the gold beside it. Raises UnknownName as `scope`.
    """
    files = []
    for key, value in store.rows(
        "select key, value from settings where key like ?", [f"{OF_FILE}%"]
    ):
        dataset, own, first = key.removeprefix(OF_FILE).split(":")
        if own == kind:
            last, name = json.loads(value)
            files.append((int(dataset), int(first), int(last), str(name)))
    if len(files) < 2:
        return {}
    selected = scope(store, selection, kind)
    files.sort(key=lambda file: file[1])
    rows = ", ".join(
        f"({place}, {dataset}, {first}, {last})"
        for place, (dataset, first, last, _) in enumerate(files)
    )
    found = store.query(selected.sql(_SAID[kind], files=rows), selected.params)
    names = dict(store.rows("select id, name from metrics")) if kind == "scores" else {0: None}
    judged: dict[tuple[str, str | None], ByFile] = {}
    judge, metric, file, item = (ints(found, name) for name in ("judge", "metric", "file", "item"))
    said, right = (np.array(found[name].to_numpy(), np.float64) for name in ("said", "right_"))
    rater = judge << 32 | metric
    for code in np.unique(rater):
        own = rater == code
        judged[selected.judges[int(code) >> 32], names[int(code) & 0xFFFFFFFF]] = ByFile(
            files=tuple(name for *_, name in files),
            file=file[own],
            item=item[own],
            right=right[own],
            said=said[own],
            said_is="vote" if kind == "votes" else "score",
        )
    return judged
