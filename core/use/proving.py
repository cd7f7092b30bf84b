"""`prove`: is a version of a judge better, by people's labels where it and the older one part?

The count of tries, what is sealed and every label stand in the store, so that a proof goes on after
any interruption, and that the best of many prompts is not taken for a better one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..errors import InvalidOption, UnknownName, UnreadableFile
from ..finding.wording import count, minus, one_line, percent, points
from ..importers import ReadOptions
from ..importers.source import open_source
from ..importers.tables import read_delimited
from ..labelling.sheet import CARD, DRAW, LABEL, NOTE, PERSON, WORDS, cell
from ..questions.versions.ask import (
    BothJudged,
    both_judged,
    metrics_of_both,
    people_differ,
    texts_of,
)
from ..questions.versions.proof import MOST_LABELS, Proof, labels_wanted, prove, sign_test, spent
from ..records import FloatArray
from ..schema import Selection
from ..store import Store, parts
from ..store.browse import summary
from ..store.connection import Snapshot
from ..store.parts import MARK, Parts, Try, family_of, ordinal

FIRST_LABELS = 24
"""Labels on the first sheet, where nothing says yet how often the newer version is right."""
HEADS = (DRAW, CARD, "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """Where the proof of a version stands.

    state : better, worse, not_shown or open.  proof : by labels asked for; None where all labels
    were in the file, whose answer is one bit.  sheet : blind cards to label next, a CSV, and
    `cards` how many, where the proof is open.
    """

    state: str
    sentence: str
    attempt: int
    proof: Proof | None = None
    sheet: str | None = None
    cards: int = 0


def proved(
    store: Store,
    new: str,
    over: str | None = None,
    *,
    metric: str | None = None,
    labels_from: tuple[str, bytes | Path] | None = None,
    most: int = MOST_LABELS,
) -> Proved:
    """Go on with the proof that a version is better than an older one, or begin it.

    new, over : judges, or their versions such as `v2`; without `over` the first of the family.
    metric : of scores, where there are several.  labels_from : a filled sheet.
    most : labels of a try.

    The first call splits the store (`core.store.parts.split`). A try that ends opens the items that
    were labelled for it. Raises UnknownName, InvalidOption, UnreadableFile.
    """
    with store.snapshot() as moment:
        judges = parts.judges_in_order(moment)
        new, old = _named(judges, new, over)
        metric = _metric(moment, old, new, metric)
    with store.change() as change:
        held = parts.split(change, secrets.token_hex(8))
    with store.snapshot() as moment:
        judged = both_judged(moment, old, new, metric)
    tries = held.of_family(new, metric)
    going = next((t for t in tries if t.state == "open" and (t.old, t.new) == (old, new)), None)
    if going is None:
        rows = _drawn(judged, held, len(tries) + 1)
        if not rows:
            if tries:
                raise InvalidOption(
                    f"{new}: no sealed item on which it parts from {old} is left. Collect both on "
                    "fresh items; `collect` keeps what was answered."
                )
            said = (
                f"{new} is not shown to be better than {old}: they part on no sealed item, so that "
                "no label can tell them apart. Collect both on fresh items, or change more."
            )
            return Proved(state="not_shown", sentence=said, attempt=len(tries))
        going = Try(old=old, new=new, metric=metric, attempt=len(tries) + 1)
        if not np.isnan(judged.label[rows]).any():
            return _by_file(store, held, going, judged, rows)
        going = replace(going, order=tuple(judged.key[row] for row in rows))
    if labels_from is not None:
        going = replace(going, labels={**going.labels, **_read(*labels_from, held, going, judged)})
    return _by_labels(store, held, going, judged, most)


def _named(judges: Mapping[str, int], new: str, over: str | None) -> tuple[str, str]:
    """The judges of two versions."""

    def named(version: str) -> str:
        found = [name for name in judges if version in (name, name.rpartition(MARK)[2])]
        first = [name for name in judges if version == "v1" and f"{name}{MARK}v2" in judges]
        if version in judges:
            return version
        if len(found) + len(first) != 1:
            raise UnknownName(
                "{value!r}: no judge or version has this name, or several. Known: {known}.",
                value=version,
                known=list(judges),
            )
        return (found + first)[0]

    newer = named(new)
    family = [name for name in judges if family_of(name) == family_of(newer)]
    older = named(over) if over is not None else family[0]
    if older == newer:
        raise InvalidOption(f"{newer}: name the older version with --over; it is the first itself.")
    return newer, older


def _metric(moment: Snapshot, old: str, new: str, metric: str | None) -> str | None:
    """The metric that both scored; None where both voted on pairs."""
    about = summary(moment, Selection(judges=(old, new), sealed=True))
    if metric is None and len(about.judges) == 2:
        return None
    both = metrics_of_both(moment, old, new)
    if metric is None and len(both) == 1:
        return both[0]
    if metric not in both:
        raise InvalidOption(
            f"--metric: {old} and {new} both scored {', '.join(both) or 'nothing'}; name one."
        )
    return metric


def _drawn(judged: BothJudged, held: Parts, attempt: int) -> list[int]:
    """Sealed rows on which the two part, in the order of a hash, one of each unit."""
    seen: set[int] = set()
    rows = []
    parted = np.flatnonzero(judged.parted)
    for row in sorted(parted, key=lambda each: _hash(held, attempt, judged.key[each])):
        unit = int(judged.unit[row])
        if held.is_sealed(int(judged.item[row])) and unit not in seen:
            seen.add(unit)
            rows.append(int(row))
    return rows


def _hash(held: Parts, attempt: int, key: str) -> str:
    return hashlib.sha256(f"{held.seed}\0{attempt}\0{key}".encode()).hexdigest()


def _by_file(
    store: Store, held: Parts, going: Try, judged: BothJudged, rows: Sequence[int]
) -> Proved:
    """The exact sign test of labels that were all there: one bit, and no figure until yes."""
    d = np.array([judged.d(row, judged.label[row]) for row in rows])
    fixed, broken = int((d > 0).sum()), int((d < 0).sum())
    better = sign_test(fixed, broken) <= spent(going.attempt)
    if better:
        said = (
            f"{going.new} is better than {going.old}: where they part, it was right in {fixed} of "
            f"{count(fixed + broken, 'sealed label')} ({ordinal(going.attempt)} try)."
        )
        held = held.opened(judged.item.tolist())
    else:
        said = (
            f"{going.new} is not shown to be better than {going.old} on the sealed items "
            f"({ordinal(going.attempt)} try). No figure of them is told, so that the next version "
            "cannot fit them; labels where the two part, on fresh items, decide with fewer."
        )
    state = "better" if better else "not_shown"
    _keep(store, held, replace(going, state=state, ended=_today(), said=said))
    return Proved(state=state, sentence=said, attempt=going.attempt)


def _by_labels(store: Store, held: Parts, going: Try, judged: BothJudged, most: int) -> Proved:
    """Where a try stands by the labels that it has."""
    place = {key: row for row, key in enumerate(judged.key)}
    order = [key for key in going.order if key in place]
    last = max((k for k, key in enumerate(order) if key in going.labels), default=-1)
    d = np.array([judged.d(place[key], going.labels.get(key)) for key in order[: last + 1]])
    found = prove(
        d, going.attempt, parted=judged.parted_share, most=most, ended=last + 1 == len(order)
    )
    with store.snapshot() as moment:
        said = sentence(going, found, judged, d, left=_left(moment, going.metric))
    sheet, cards = None, 0
    if found.state == "open":
        more = min(found.labels_wanted or FIRST_LABELS, most - last - 1) if len(d) else FIRST_LABELS
        chosen = [place[key] for key in order[last + 1 :][: min(more, most)]]
        sheet, cards = _sheet(store, held, going, judged, chosen), len(chosen)
        _keep(store, held, going)
    else:
        used = [int(judged.item[place[key]]) for key in order[: last + 1]]
        going = replace(going, state=found.state, ended=_today(), said=said)
        _keep(store, held.using(used), going)
    return Proved(
        state=found.state,
        sentence=said,
        attempt=going.attempt,
        proof=found,
        sheet=sheet,
        cards=cards,
    )


def _keep(store: Store, held: Parts, going: Try) -> None:
    with store.change() as change:
        parts.write(change, held.with_try(going))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def sentence(going: Try, found: Proof, judged: BothJudged, d: FloatArray, *, left: str = "") -> str:
    """What a try found, in one or a few plain sentences.

    left : a clause of what is left to gain, for a version that is not shown to be better.
    """
    n, over = found.labels, f"over these {len(np.unique(judged.unit)):,} items"
    what = f" on {going.metric}" if going.metric not in (None, "score") else ""
    tries = f"{ordinal(going.attempt)} try"
    if found.state in ("better", "worse"):
        gain = minus(points(float(d.mean()) * found.parted))
        bound = found.low if found.state == "better" else found.high
        return (
            f"{going.new} is {found.state} than {going.old}{what}: where they part, it was right "
            f"in {found.right} of {count(n, 'label')} ({tries}); {over} {gain} points, "
            f"at {'least' if found.state == 'better' else 'most'} {minus(points(bound))}."
        )
    if found.state == "open":
        if not n:
            return (
                f"{going.new} and {going.old} part on {percent(found.parted)} of what both judged "
                f"({tries}). Label the sheet: about {labels_wanted(11 / 14, going.attempt)} labels "
                "there show a version that is right in 11 of 14."
            )
        more = (
            "No forecast: the labels do not favour it so far."
            if found.labels_wanted is None
            else f"About {count(found.labels_wanted, 'more label')} decide if it goes on like this."
        )
        return f"Not yet: {found.right} of {n}. {more}"
    kept = (
        f"; a gain above {points(found.high).removeprefix('+')} points is ruled out"
        if found.high < found.parted
        else ""
    )
    return (
        f"{going.new} is not shown to be better than {going.old}{what}. {tries.capitalize()}, "
        f"{count(n, 'label')} where they part: right in {found.right}, wrong in {found.wrong}"
        f"{kept}. {left}Another wording will hardly help; another model, a split criterion or "
        "fixed labels may."
    )


FEWEST_BY_TWO = 20
"""Judgements by two people from which it is said how often they differ."""


def _left(store: Snapshot, metric: str | None) -> str:
    """What people's own differences leave to gain; empty where it is not known."""
    n, differ = people_differ(store, metric)
    if n < FEWEST_BY_TWO or not differ:
        return ""
    return (
        f"What is left: two people differ on {percent(differ)}, so no rubric gets above "
        f"{percent(1 - differ / 2)}. "
    )


def _swapped(held: Parts, going: Try, key: str) -> bool:
    return int(_hash(held, -going.attempt, key)[0], 16) % 2 == 1


def _card(held: Parts, going: Try, key: str) -> str:
    return _hash(held, going.attempt, f"card {key}")[:12]


def _draw(going: Try, held: Parts) -> str:
    """Names the try on its sheet: its number, and of which split and versions it is."""
    of = hashlib.sha256(f"{held.seed}\0{going.old}\0{going.new}\0{going.metric}".encode())
    return f"try {going.attempt} {of.hexdigest()[:8]}"


def _sheet(store: Store, held: Parts, going: Try, judged: BothJudged, rows: Sequence[int]) -> str:
    """Cards without judges and their verdicts, as CSV."""
    with store.snapshot() as moment:
        texts = texts_of(moment, judged, rows)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    sides = ("left", "right") if judged.kind == "pairs" else ("response",)
    writer.writerow([*HEADS, *sides, LABEL, NOTE, PERSON])
    for row, (prompt, *responses) in zip(rows, texts, strict=True):
        key = judged.key[row]
        if judged.kind == "pairs" and _swapped(held, going, key):
            responses.reverse()
        shown = map(cell, (prompt, *responses))
        writer.writerow([_draw(going, held), _card(held, going, key), *shown, "", "", ""])
    return out.getvalue()


def _read(
    name: str, data: bytes | Path, held: Parts, going: Try, judged: BothJudged
) -> dict[str, float | None]:
    """Labels of a filled sheet by key.

    Raises UnreadableFile: it is no sheet of this try, or a label is none.
    """
    table = read_delimited(open_source(name, data, ReadOptions().max_bytes))
    columns = {
        column: [(value or "").strip() for value in values.to_pylist()]
        for column, values in table.columns.items()
    }
    if not {DRAW, CARD, LABEL} <= columns.keys():
        raise UnreadableFile(f"{name}: it is no sheet of `prove`: {DRAW}, {CARD} and {LABEL} lack.")
    draws = Counter(columns[DRAW])
    if _draw(going, held) not in draws:
        raise UnreadableFile(
            f"{name}: it is of {one_line(next(iter(draws), 'no try'))[:40]!r}, and "
            f"{ordinal(going.attempt)} try of {going.new} over {going.old} is going on."
        )
    of_card = {_card(held, going, key): key for key in going.order}
    labels: dict[str, float | None] = {}
    for card, said in zip(columns[CARD], columns[LABEL], strict=True):
        key = of_card.get(card)
        if key is None or not said:
            continue
        labels[key] = _label(name, said, judged, swapped=_swapped(held, going, key))
    if not labels:
        raise UnreadableFile(f"{name}: column {LABEL}: no row has a label yet. Fill some.")
    return labels


def _label(name: str, said: str, judged: BothJudged, *, swapped: bool) -> float | None:
    """What a person says of a card; None where it was skipped."""
    word = WORDS.get(said.casefold(), said.casefold())
    if word in ("x", "skip", "unclear"):
        return None
    if judged.kind == "pass_fail" and word in ("p", "f", "1", "0"):
        return 1.0 if word in ("p", "1") else 0.0
    if judged.kind == "pairs" and word in ("1", "2", "0", "b"):
        side = {"1": 1.0, "2": -1.0}.get(word, 0.0)
        return -side if swapped else side
    if judged.kind == "levels":
        low, high = sorted((judged.low, judged.high))
        try:
            level = float(said)
        except ValueError:
            level = low - 1
        if low <= level <= high:
            return (level - judged.low) / (judged.high - judged.low)
    words = {
        "pairs": "left, right, tie",
        "pass_fail": "pass, fail",
        "levels": f"{judged.low:g} to {judged.high:g}",
    }[judged.kind]
    raise UnreadableFile(f"{name}: label {one_line(said)[:40]!r}; use {words}, or ? to skip")
