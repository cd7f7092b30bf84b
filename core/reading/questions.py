"""What a plan asks: only where two readings give different answers, with the option to type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from .mapping import typed

SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question about a file. choices : (option as it is typed, what it means)."""

    about: str
    text: str
    choices: tuple[tuple[str, str], ...]


def listed(names: Iterable[str]) -> str:
    """The first names, quoted."""
    names = list(names)
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name[:60]}'" for name in names[:SHOWN]) + more


def refers(shown: str, plain: str) -> Asked:
    return Asked(
        about="refers",
        text=f"{listed([shown])}: where the answers are shown turned, does it name the answer by "
        "its place in that order, or by its own name"
        f"{f' as {listed([plain])} does' if plain else ''}?",
        choices=(
            ("--label-refers slot", "by its place: A is the one shown first"),
            ("--label-refers model", "by its own name: A is the same answer in both orders"),
        ),
    )


def two_columns(names: Sequence[str], *, gold: bool = False, metrics: bool = False) -> Asked:
    return Asked(
        about="two columns",
        text=f"{listed(names)} hold whole verdicts in one vocabulary: both orders of one judge, "
        f"two runs, {'a judge and gold, ' if gold else ''}or several judges?",
        choices=(
            *(
                ((typed("--orders", *names), "both orders of one judge"),)
                if len(names) == 2
                else ()
            ),
            (typed("--runs", *names), "runs of one judge"),
            (typed("--judges", *names), "a judge each"),
            *(((typed("--metrics", *names), "one judge's, a metric each"),) if metrics else ()),
            *(
                (
                    typed("--map", f"vote={vote}", f"gold={right}"),
                    f"'{vote}' is the judge's, '{right}' is gold",
                )
                for vote, right in ((names[0], names[1]), (names[1], names[0]))
                if gold
            ),
            *(
                (
                    typed("--map", f"vote={name}")
                    + " "
                    + typed("--unused", *(o for o in names if o != name)),
                    f"only '{name}' is the judge's",
                )
                for name in names[:SHOWN]
            ),
        ),
    )


def codes(numbers: Sequence[float], columns: Sequence[str], *, grades: bool) -> Asked:
    words = [f"{n:g}" for n in sorted(numbers)]
    meanings = {
        2: (("A", "B"), ("B", "A")),
        3: (("tie", "A", "B"), ("A", "B", "tie"), ("A", "tie", "B"), ("B", "tie", "A")),
    }.get(len(words), (("A",), ("B",)))
    choices = [
        (
            typed("--label-map", *(f"{w}={m}" for w, m in zip(words, each, strict=True))),
            ", ".join(f"{w} is {m}" for w, m in zip(words, each, strict=True)),
        )
        for each in meanings
    ]
    if grades and words == ["0", "1"]:
        choices.append(("--label-map 0=fail 1=pass", "0 is wrong or failed, 1 is right or passed"))
    said = " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
    return Asked(
        about="labels", text=f"What do {said} in {listed(columns)} mean?", choices=tuple(choices)
    )


def preferences(names: Sequence[str], values: Collection[int]) -> Asked:
    """From which end of a scale the first of two answers is preferred; its middle is a tie."""
    low, high = min(values), max(values)
    if low < 0:
        low, high = -max(-low, high), max(-low, high)
    else:
        # From 1 up to an odd number, or from 0 up to an even one, there is a middle. 1 to 10 has
        # none.
        low = min(low, 1)
        high += (high - low) % 2 if high < 10 else 0
    middle = (low + high) / 2
    points = range(low, high + 1)

    def typed_as(first: str, last: str) -> str:
        said = (f"{n}={first if n < middle else last if n > middle else 'tie'}" for n in points)
        return typed("--label-map", *said)

    return Asked(
        about="labels",
        text=f"{listed(names)}: numbers from {low} to {high} beside two answers. Which end says "
        "that the first is better?",
        choices=(
            (typed_as("A", "B"), f"{low}: less says that the first is better"),
            (typed_as("B", "A"), f"{high}: more says that the first is better"),
            (typed("--metrics", *names), "neither: they are scores, and of one answer"),
        ),
    )


def two_words(words: Sequence[str], name: str) -> Asked:
    one, other = words
    return Asked(
        about="labels",
        text=f"What do {listed(words)} in {listed([name])} mean?",
        choices=tuple(
            (typed("--label-map", *(f"{w}={m}" for w, m in meanings)), said)
            for meanings, said in (
                (((one, "A"), (other, "B")), f"the two that are compared: A is '{one}'"),
                (((one, "B"), (other, "A")), f"the two that are compared: A is '{other}'"),
                (((one, "pass"), (other, "fail")), f"'{one}' is good"),
                (((one, "fail"), (other, "pass")), f"'{other}' is good"),
            )
        ),
    )


def few_words(words: Sequence[str], columns: Sequence[str]) -> Asked:
    which = f"{listed(words[:-1])} or {listed(words[-1:])}"
    alone = "" if len(words) == 2 else " alone"
    return Asked(
        about="labels",
        text=f"In {listed(columns)}, which is good, {which}?",
        choices=tuple(
            (
                typed(
                    "--label-map", f"{good}=pass", *(f"{bad}=fail" for bad in words if bad != good)
                ),
                f"'{good}'{alone} is good",
            )
            for good in words
        ),
    )


def codes_of_words(name: str, words: str, each: Iterable[str]) -> Asked:
    return Asked(
        about="labels",
        text=f"{listed([name])} has a number for each of {listed(each)} in {listed([words])}: are "
        "they points of a scale, or codes of categories without an order?",
        choices=(
            (typed("--unused", name), "codes, which are no scores"),
            (typed("--metrics", name), "points of a scale, more is better"),
        ),
    )


def who(names: Sequence[str], like: Sequence[str], *, metrics: bool, judge: bool = False) -> Asked:
    several = len(names) > 1
    people = (typed("--people", *names), "a person's each" if several else "a person's")
    judges = (typed("--judges", *names), "a judge's each" if several else "a judge's")
    each = (typed("--metrics", *like, *names), "the judge's, a metric each")
    by_metric = (each,) if metrics else ()
    nothing = (typed("--unused", *names), "nothing that counts")
    right = (typed("--map", f"gold={names[0]}"), "what is right: gold")
    apart = tuple(
        (
            f"{typed('--people', name)} {typed('--judges', *(o for o in names if o != name))}",
            f"'{name}' is a person's, the others a judge's each",
        )
        for name in names
        if 2 <= len(names) <= 3
    )
    alone = tuple(
        (
            f"{typed('--judges', name)} {typed('--unused', *(o for o in names if o != name))}",
            f"only '{name}' is a judge's",
        )
        for name in names
        if metrics and 2 <= len(names) <= 4 and not like
    )
    others = (*apart, *alone, nothing) if several else (right, nothing)
    return Asked(
        about="who",
        text=f"{listed(names)} {'hold' if len(names) > 1 else 'holds'} values"
        f"{f' as {listed(like[:1])} does' if like else ''}: people's, a judge's, or nothing that "
        "counts?",
        choices=(
            (*by_metric, judges, people, *others)
            if judge
            else (people, judges, *by_metric, *others)
        ),
    )


def raters(name: str, models: Sequence[str], others: Sequence[str]) -> Asked:
    return Asked(
        about="who",
        text=f"{listed([name])}: "
        + (
            f"{listed(models)} {'are' if len(models) > 1 else 'is'} named as models are; "
            if models
            else ""
        )
        + f"are {listed(others)} people?",
        choices=(
            (typed("--people", *others), "people" if len(others) > 1 else "a person"),
            (
                typed("--judges", *models, *others),
                "judges, as the others are" if models else "judges",
            ),
        ),
    )


def items(name: str, times: int, *, answers_differ: bool = False) -> Asked:
    runs = ("--unit runs", "runs of one answer")
    rows = ("--unit rows", "each row on its own")
    return Asked(
        about="items",
        text=f"{listed([name])} returns up to {times} times and no column tells its rows apart: "
        "runs of one answer, or different answers?",
        choices=(rows, runs) if answers_differ else (runs, rows),
    )


def may_be_items(name: str, distinct: int, times: int) -> Asked:
    return Asked(
        about="items",
        text=f"'{name}' has {distinct:,} values that return {times} times each: are they the "
        "items?",
        choices=((f"--map item_id={name}", "yes"), ("--unit rows", "no, each row is an item")),
    )


def completes(name: str, values: Sequence[str], item: str) -> Asked:
    return Asked(
        about="items",
        text=f"{listed([name])} ({listed(values)}) returns for each {listed([item])}: who judged, "
        "whose answer, a run, a version of the judge, or a part of the item?",
        choices=(
            *(
                (typed("--map", f"{role}={name}"), meaning)
                for role, meaning in (
                    ("judge", "who judged"),
                    ("model", "whose answer"),
                    ("run", "a run"),
                    ("metric", "what was judged"),
                )
            ),
            (typed("--version", name), "a version of the judge, such as another prompt"),
            ("--unit rows", "a part of the item: each row is judged on its own"),
        ),
    )


def positions(name: str, words: Sequence[str]) -> Asked:
    one, other = words[:2]
    return Asked(
        about="position",
        text=f"{listed([name])}: in which rows are the answers shown as they stand, A first: "
        f"{listed([one])} or {listed([other])}?",
        choices=tuple(
            (typed("--position", f"{ab}=ab", f"{ba}=ba"), f"'{ab}' shows A first")
            for ab, ba in ((one, other), (other, one))
        ),
    )


def unread(name: str, words: Sequence[tuple[str, int]], *, grades: bool = False) -> Asked:
    shown = ", ".join(f"'{word[:40]}' in {n:,} rows" for word, n in words[:SHOWN])
    each = [word for word, _ in words[:SHOWN]]
    return Asked(
        about="words",
        text=f"{listed([name])}: {shown} {'are' if len(words) > 1 else 'is'} "
        "no verdict that is known; what is meant?",
        choices=(
            *(
                (
                    (typed("--label-map", *(f"{word}=fail" for word in each)), "as bad as a fail"),
                    (typed("--label-map", *(f"{word}=0.5" for word in each)), "in between"),
                )
                if grades
                else (
                    (typed("--label-map", *(f"{word}=tie" for word in each)), "neither is better"),
                )
            ),
            (typed("--label-map", *(f"{word}=failed" for word in each)), "no verdict was given"),
        ),
    )


def tables(names: Sequence[str]) -> Asked:
    return Asked(
        about="tables",
        text=f"The file holds judgements in several tables: {listed(names)}. Which is meant?",
        choices=tuple((typed("--file-table", name), f"only '{name}'") for name in names[:SHOWN]),
    )


def given_once(name: str, item: str) -> Asked:
    return Asked(
        about="once",
        text=f"{listed([name])} never differs between the answers of one {listed([item])}: was it "
        "given to the item, or is it of one of the answers?",
        choices=(
            (typed("--people", name), "it is of each answer"),
            (typed("--unused", name), "it is of something else"),
        ),
    )


def beside(name: str, judge: str) -> Asked:
    return Asked(
        about="claim",
        text=f"{listed([name])} holds verdicts too, beside {listed([judge])}: what is right, "
        "another judge's, or nothing that counts?",
        choices=(
            (typed("--map", f"gold={name}"), "what is right: gold"),
            (typed("--judges", name), "another judge's"),
            (typed("--unused", name), "nothing that counts"),
        ),
    )
