"""Any JSON or delimited text as tables of text cells, by one walk that knows nothing of judges.

Keys that differ from record to record are data, keys that all records share are names of columns.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter as Counter_
from dataclasses import dataclass, field
from typing import Any

MOST_COLUMNS = 300
SCALAR = (str, int, float, bool, type(None))


@dataclass
class Table:
    name: str
    columns: list[str]
    rows: list[list[str | None]]  # text, or None where the input has none
    constants: dict[str, str | None] = field(
        default_factory=dict
    )  # what the objects around the rows say
    keys: set[str] = field(default_factory=set)  # columns that arose from keys of objects
    notes: list[str] = field(default_factory=list)
    inherited: set[str] = field(default_factory=set)  # cells of the object that holds these rows


class Unreadable(ValueError):
    pass


def text(v: Any) -> str | None:
    if v is None:
        return None
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float):
        if v != v:
            return None
        return str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v)
    if isinstance(v, (dict, list)):
        return json.dumps(v, ensure_ascii=False)
    return str(v)


def flat_scalars(
    x: Any, prefix: str = "", depth: int = 0, out: dict[str, Any] | None = None
) -> dict[str, Any]:
    out = {} if out is None else out
    for k, v in x.items():
        if isinstance(v, SCALAR):
            out[prefix + k] = v
        elif isinstance(v, dict) and depth < 3 and len(v) <= 12:
            flat_scalars(v, f"{prefix}{k}.", depth + 1, out)
    return out


def similar(dicts: Any) -> float:
    """Mean share of all keys that a record has: 1 is one shape, near 0 the keys are data."""
    sets = [frozenset(d) for d in dicts[:300]]
    return sum(map(len, sets)) / (len(sets) * max(1, len(frozenset().union(*sets))))


def parted(keys: Any) -> list[list[str]] | None:
    """Parts of keys that are joined alike, as `('q1', 'gpt-4')` or `q1|gpt-4`; None for others."""
    for sign in (None, "::", "|"):
        parts: list[list[str]] = []
        for key in keys:
            if sign is None:
                try:
                    said = ast.literal_eval(key) if key[:1] in "([" and len(key) < 400 else None
                except (ValueError, SyntaxError, MemoryError, RecursionError):
                    said = None
                whole = isinstance(said, (tuple, list)) and all(isinstance(e, SCALAR) for e in said)
                parts.append([str(e) for e in said] if whole and said else [])
            else:
                parts.append(key.split(sign))
        if len(parts) > 2 and len({len(part) for part in parts}) == 1 < len(parts[0]):
            return parts
    return None


def keyed(name: str, keys: list[str], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects with their key, or each part of it, in columns."""
    parts = parted(keys)
    if parts is None:
        return [{name: key, **each} for key, each in zip(keys, records, strict=True)]
    part_of = name.removesuffix("key") + "part"
    return [
        {f"{part_of} {i}": part for i, part in enumerate(key, 1)} | each
        for key, each in zip(parts, records, strict=True)
    ]


def isrange(keys: Any) -> bool:
    return len(keys) > 1 and all(re.fullmatch(r"\d+", str(k)) for k in keys)


def record(d: Any, prefix: Any = "", depth1: Any = False) -> tuple[dict[str, Any], dict[str, Any]]:
    out: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for k, v in d.items():
        p = f"{prefix}{k}"
        if isinstance(v, SCALAR):
            out[p] = v
        elif isinstance(v, dict):
            o, nested = record(
                v,
                "" if k in ("row", "fields", "record") and not prefix and len(d) <= 3 else p + ".",
            )
            out |= o
            lists |= nested
        elif len(v) == 1 and isinstance(v[0], dict) and depth1:
            o, nested = record(v[0], p + ".", depth1)
            out |= o
            lists |= nested
        elif v and all(isinstance(e, dict) for e in v):
            lists[p] = v
        elif (
            len(v) <= 40
            and all(isinstance(e, SCALAR) for e in v)
            and sum(len(str(e)) for e in v) <= 40 * len(v)
        ):
            for i, e in enumerate(v, 1):
                out[f"{p} {i}"] = e
        else:
            out[p] = v
    return out, lists


def rows_of(records: Any, name: Any, consts: Any = None, keys: Any = ()) -> list[Table]:
    """A table of objects of one shape, and tables of their lists with the parent's cells."""
    consts = consts or {}
    flat: list[Any] = []
    lists: dict[str, Any] = {}
    varying: set[str] = set()
    for k in {k for r in records[:300] for k, v in r.items() if isinstance(v, dict) and v}:
        ds = [r[k] for r in records[:300] if isinstance(r.get(k), dict) and r[k]]
        if (
            len(ds) >= 3
            and similar(ds) < 0.35
            and all(isinstance(v, dict) for d in ds[:20] for v in d.values())
        ):
            varying.add(k)
    for r in records:
        o, nested = record({k: v for k, v in r.items() if k not in varying})
        for k in varying:
            if isinstance(r.get(k), dict):
                nested[k] = [{f"{k} key": kk, **vv} for kk, vv in r[k].items()]
        flat.append(o)
        for k, v in nested.items():
            lists.setdefault(k, []).append((o, v))
    cols = list(dict.fromkeys(k for o in flat for k in o))
    notes: list[str] = []
    if len(cols) > MOST_COLUMNS:  # keys within an object that few records share are no columns
        often = Counter_(k for o in flat for k in o)
        rare = {c for c in cols if "." in c and often[c] < 0.05 * len(flat)}
        heads = sorted({c.rpartition(".")[0].split(".")[0] for c in rare})
        notes += [f"{len(rare):,} keys in {', '.join(heads[:3])} differ by record: left out"]
        cols = [c for c in cols if c not in rare]
    out = (
        [
            Table(
                name,
                cols,
                [[text(o.get(c)) for c in cols] for o in flat],
                {k: text(v) for k, v in consts.items()},
                set(keys) & set(cols),
                notes,
            )
        ]
        if cols
        else []
    )
    for k, pairs in lists.items():
        kids = [
            o | {(kk if kk not in o else f"{k}.{kk}"): vv for kk, vv in e.items()}
            for o, v in pairs
            for e in v
        ]
        if len(kids) >= 3:
            more = rows_of(kids, f"{name}.{k}" if name else k, consts, keys)
            for t in more:
                t.inherited |= {c for o, _ in pairs[:50] for c in o}
            out += more
    return out


def arrays(x: Any, name: Any) -> list[Table] | None:
    found: dict[Any, Any] = {}

    def go(d: Any, prefix: Any, depth: Any) -> None:
        for k, v in d.items():
            if isinstance(v, list) and len(v) >= 3 and not any(isinstance(e, dict) for e in v):
                found[(*prefix, str(k))] = v
            elif isinstance(v, dict) and depth < 3:
                go(v, (*prefix, str(k)), depth + 1)

    go(x, (), 0)
    if len(found) < 2:
        return None
    lengths = [len(v) for v in found.values()] + [
        len(e) for v in found.values() for e in v if isinstance(e, list) and len(e) > 4
    ]
    n = max(set(lengths), key=lambda m: lengths.count(m) * m)
    if n < 5:
        return None
    same: dict[Any, Any] = {}
    for k, v in found.items():
        if len(v) == n and all(
            isinstance(e, SCALAR) or (isinstance(e, list) and len(e) <= 4) for e in v
        ):
            same[k, None] = v
        elif len(v) <= 20 and all(isinstance(e, list) and len(e) == n for e in v):
            for i, e in enumerate(v, 1):
                same[k, str(i)] = e
    plain = {k[-1]: v for (k, r), v in same.items() if len(k) == 1 and r is None}
    deep: dict[Any, Any] = {}
    for (k, r), v in same.items():
        if len(k) >= 2:
            deep.setdefault((k[0], k[2:]), []).append((k[1], r, v))
    deep = {k: g for k, g in deep.items() if len({key for key, _, _ in g}) >= 2}
    sc = {k: text(v) for k, v in flat_scalars(x).items()}
    note = ["columns as arrays of equal length, turned into rows"]
    if deep:
        (top, _tail), g = max(deep.items(), key=lambda kv: len(kv[1]))
        runs = any(r for _, r, _ in g)
        head = [*plain, f"{top} key", f"{top} value"] + ([f"{top} run"] if runs else [])
        rows = [
            [text(plain[c][i]) for c in plain] + [key, text(v[i])] + ([r] if runs else [])
            for key, r, v in g
            for i in range(n)
        ]
        return [Table(name, head, rows, sc, {f"{top} key"}, note)]
    if len(plain) >= 2:
        return [
            Table(
                name,
                list(plain),
                [[text(c) for c in r] for r in zip(*plain.values(), strict=True)],
                sc,
                set(),
                note,
            )
        ]
    return None


def walk(x: Any, name: Any = "", consts: Any = None, keys: Any = (), depth: Any = 0) -> list[Table]:
    consts = dict(consts or {})
    if depth > 8:
        return []
    if isinstance(x, list):
        dicts = [e for e in x if isinstance(e, dict)]
        if len(dicts) >= 5:  # a record of another shape (a header line) says what holds for all
            common = Counter_(k for d in dicts for k in d)
            main = {k for k, c in common.items() if c >= 0.5 * len(dicts)}
            odd = [d for d in dicts if len(main & d.keys()) < 0.4 * len(main)]
            if odd and len(odd) <= max(1, 0.05 * len(dicts)):
                dicts = [d for d in dicts if not any(d is o for o in odd)]
                for o in odd:
                    consts |= flat_scalars(o)
        if x and len(dicts) >= 0.6 * len(x):
            return rows_of(dicts, name, consts, keys)
        if (
            len(x) > 2
            and all(isinstance(e, list) for e in x)
            and len({len(e) for e in x}) == 1
            and all(isinstance(e, str) for e in x[0])
        ):
            return [
                Table(
                    name,
                    list(x[0]),
                    [[text(c) for c in r] for r in x[1:]],
                    {k: text(v) for k, v in consts.items()},
                )
            ]
        return []
    if not isinstance(x, dict) or not x:
        return []
    vals = list(x.values())
    if (
        {"columns", "data"} <= x.keys()
        and isinstance(x["data"], list)
        and isinstance(x["columns"], list)
    ):
        return [
            Table(
                name,
                [str(c) for c in x["columns"]],
                [[text(c) for c in r] for r in x["data"]],
                notes=["columns and data apart"],
            )
        ]
    if (
        all(isinstance(v, dict) for v in vals)
        and len(vals) >= 2
        and (
            isrange(list(vals[0]))
            and similar(vals) > 0.99
            and not isrange(list(x))
            and all(isinstance(e, SCALAR) for v in vals for e in v.values())
        )
    ):
        return [
            Table(
                name,
                list(x),
                [[text(x[c].get(i)) for c in x] for i in vals[0]],
                notes=["columns of {number: value}"],
            )
        ]
    if (
        len(x) >= 2
        and isinstance(vals[0], list)
        and len(vals[0]) >= 2
        and len({len(v) if isinstance(v, list) else -1 for v in vals}) == 1
        and all(isinstance(e, SCALAR) for v in vals for e in v)
    ):
        return [
            Table(
                name,
                list(x),
                [[text(c) for c in r] for r in zip(*vals, strict=True)],
                notes=["columns as arrays"],
            )
        ]
    few = len({type(v) for v in vals}) == 1 and isinstance(vals[0], SCALAR)
    shapes = {re.sub(r"\d+", "0", k) for k in x}
    if few and ((joined := parted(list(x))) or (len(x) >= 10 and len(shapes) == 1)):
        # {id: value}
        named = keyed("key", list(x), [{"value": v} for v in vals])
        knames = list(named[0])[:-1]
        return rows_of(named, name, consts, [*keys, *(knames if joined else ())])
    recs = [
        len(v) for v in vals if isinstance(v, list) and v and all(isinstance(e, dict) for e in v)
    ]
    if (arr := arrays(x, name)) is not None and not (
        recs and max(recs) >= min(len(arr[0].rows), 20)
    ):
        return arr
    dvals = {k: v for k, v in x.items() if isinstance(v, dict) and v}
    rest = flat_scalars({k: v for k, v in x.items() if k not in dvals})
    if len(dvals) >= 2 and len(dvals) >= 0.6 * len(vals):
        ds = list(dvals.values())
        often = Counter_(k for d in ds for k in d)
        apart = [k for k, d in dvals.items() if all(often[kk] == 1 for kk in d)]
        if len(ds) >= 5 and len(apart) == 1:  # of no key that another has: says what holds for all
            rest |= flat_scalars({apart[0]: dvals.pop(apart[0])})
            ds = list(dvals.values())
        if similar(ds) < 0.5:  # most are of one shape: the others are something else
            shape = max(
                (frozenset(d) for d in ds),
                key=lambda f: sum(len(f & frozenset(d)) >= 0.6 * len(f | frozenset(d)) for d in ds),
            )
            same = {
                k: d
                for k, d in dvals.items()
                if len(shape & frozenset(d)) >= 0.6 * len(shape | frozenset(d))
            }
            if len(same) >= max(3, 0.6 * len(vals)):
                for k in dvals.keys() - same.keys():  # says what holds for all
                    rest |= flat_scalars({k: dvals[k]})
                dvals, ds = same, list(same.values())
        longest = max(
            (
                len(v)
                for v in vals
                if isinstance(v, list) and v and all(isinstance(e, dict) for e in v)
            ),
            default=0,
        )
        if (
            longest < len(ds)
            and similar(ds) >= 0.5
            and (len(ds) >= 3 or frozenset(ds[0]) == frozenset(ds[1]))
        ):
            kname = f"{name.split('.')[-1] or 'key'} key" if name else "key"
            deeper = [
                k
                for k in dict.fromkeys(k for d in ds for k in d)
                if sum(
                    isinstance(d.get(k), (list, dict))
                    and len(d[k]) >= 3
                    and (
                        any(isinstance(e, (dict, list)) for e in d[k].values())
                        if isinstance(d[k], dict)
                        else any(isinstance(e, dict) for e in d[k])
                    )
                    for d in ds
                )
                >= 0.5 * len(ds)
            ]
            if not deeper:
                named = keyed(kname, list(dvals), ds)
                knames = list(named[0])[: len(named[0]) - len(ds[0])]
                return rows_of(named, name, consts | rest, [*keys, *knames])
            out = []
            for c in deeper:
                for k, d in dvals.items():
                    if c in d:
                        out += walk(
                            d[c],
                            f"{name}.{c}" if name else c,
                            consts | rest | flat_scalars(d) | {kname: k},
                            [*keys, kname],
                            depth + 1,
                        )
            return union(out, [*keys, kname])
    lists = {
        k: v
        for k, v in x.items()
        if isinstance(v, list) and v and all(isinstance(e, dict) for e in v)
    }
    alike = len(lists) >= 2 and len(lists) == len(vals)
    if alike and similar([e for v in lists.values() for e in v[:20]]) >= 0.5:  # {judge: [records]}
        kname = f"{name.split('.')[-1]} key" if name else "key"
        return rows_of(
            [{kname: k, **e} for k, v in lists.items() for e in v], name, consts, [*keys, kname]
        )
    sc = consts | (flat_scalars(x) if len(x) <= 40 else {})
    out = []
    for k, v in x.items():
        if isinstance(v, (dict, list)) and v:
            out += walk(v, f"{name}.{k}" if name else k, sc, keys, depth + 1)
    return out


def union(tables: Any, keys: Any = ()) -> list[Table]:
    tables = list(tables)
    groups: dict[Any, list[Table]] = {}
    out: list[Table] = []
    for t in tables:
        groups.setdefault((t.name,), []).append(t)
    shapes: dict[Any, list[Table]] = {}
    for t in tables:
        shapes.setdefault(tuple(t.columns), []).append(t)
    for cols, ts in shapes.items():
        names = {t.name for t in ts}
        if len(names) > 1 and len(cols) >= 2 and len({n.split(".")[-1] for n in names}) == 1:
            parts = [n.split(".") for n in names]
            L = max(map(len, parts))
            for t in ts:
                groups[(t.name,)].remove(t) if t in groups.get((t.name,), []) else None
                p = t.name.split(".")
                p = [""] * (L - len(p)) + p
                t.columns = t.columns + [f"path {i + 1}" for i in range(L - 1)]
                t.rows = [[*r, *p[:-1]] for r in t.rows]
                t.keys = set(t.keys) | {f"path {i + 1}" for i in range(L - 1)}
                t.name = p[-1]
                groups.setdefault((p[-1],), []).append(t)
    for (name,), ts in [(k, v) for k, v in groups.items() if v]:
        add = [
            k
            for k in dict.fromkeys(keys)
            if any(k in t.constants and k not in t.columns for t in ts)
        ]
        more = [
            k
            for k in ts[0].constants
            if k not in add
            and k not in ts[0].columns
            and len({t.constants.get(k) for t in ts}) > 1
            and not re.fullmatch(r"-?[\d.]+", str(ts[0].constants.get(k)))
        ]
        cols = list(dict.fromkeys(c for t in ts for c in t.columns))
        rows = []
        for t in ts:
            at = {c: i for i, c in enumerate(t.columns)}
            rows += [
                [r[at[c]] if c in at else None for c in cols]
                + [t.constants.get(k) for k in add + more]
                for r in t.rows
            ]
        out.append(
            Table(
                name,
                cols + add + more,
                rows,
                {k: v for k, v in ts[0].constants.items() if k not in add + more},
                set(keys) | set().union(*(t.keys for t in ts)),
                ts[0].notes,
                ts[0].inherited,
            )
        )
    return out


def from_json(raw: str, name: str) -> list[Table]:
    raw = raw.lstrip("\ufeff")
    try:
        x = json.loads(raw)
    except ValueError:
        x, dec, i = [], json.JSONDecoder(), 0
        while True:
            while i < len(raw) and raw[i] in " \t\r\n,":
                i += 1
            if i >= len(raw):
                break
            o, i = dec.raw_decode(raw, i)
            x.append(o)
    if isinstance(x, list) and x and all(isinstance(e, SCALAR) for e in x):
        return [
            Table(
                name,
                ["value"],
                [[text(e)] for e in x],
                notes=["a list of values: nothing says what they belong to"],
            )
        ]
    if (
        isinstance(x, list)
        and x
        and all(isinstance(e, list) for e in x)
        and not all(isinstance(c, str) for c in x[0])
    ):
        return [
            Table(
                name,
                [f"column {i + 1}" for i in range(len(x[0]))],
                [[text(c) for c in r] for r in x],
            )
        ]
    out = union(walk(x))
    if isinstance(x, dict):
        o, _ = record(x, "", True)
        if len(o) >= 3:
            out.append(Table("(the object)", list(o), [[text(v) for v in o.values()]]))
    return out
