"""Several files read as one data set: what two of them hold is a repetition, and no conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..schema import FORMS, ImportResult

CANONICAL = "canonical"


def tell_runs_apart(
    results: Sequence[ImportResult], *, together: frozenset[str] | set[str]
) -> list[ImportResult]:
    """Number the runs of each file behind those of the files before it that judged the same.

    Only files of one folder or archive, and logs of tools, are runs of each other; of tables that
    are named one by one the same key twice is a conflict, as within one. A file that is there twice
    counts once.

    together : names of the files of a folder or archive.
    """
    seen: dict[str, dict[tuple[object, ...], int]] = {}
    contents: set[tuple[str, str]] = set()
    told: list[ImportResult] = []
    for result in results:
        if result.gold_only or (result.format == CANONICAL and result.name not in together):
            told.append(result)
            continue
        content = (result.sha256, result.kind)
        if content in contents:
            told[-1] = replace(
                told[-1], notes=(*told[-1].notes, f"{result.name} is the same file again.")
            )
            continue
        contents.add(content)
        told.append(_behind(result, seen.setdefault(result.kind, {})))
    return told


def _behind(result: ImportResult, runs: dict[tuple[object, ...], int]) -> ImportResult:
    """A result whose runs begin behind those of its keys.

    runs : the first free one by key; it grows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [name for name in FORMS[result.kind].key if name != "run"]
    table = result.votes
    keys = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    start = max((runs[key] for key in set(keys) if key in runs), default=0)
    own = [run or 0 for run in table["run"].to_pylist()]
    for key, run in zip(keys, own, strict=True):
        runs[key] = max(runs.get(key, 0), start + run + 1)
    if not start:
        return result
    shifted = pc.add(table["run"], pa.scalar(start, pa.int64()))
    votes = table.set_column(table.column_names.index("run"), table.schema.field("run"), shifted)
    note = f"Other files judged the same, so the runs of {result.name} are numbered from {start}."
    return replace(result, votes=votes, notes=(*result.notes, note))
