"""Which columns are scores of single answers, whose they are and on what scale."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from . import questions as ask
from .facts import Column, codes, differ_in_one, grade, level, number, repeats, stands_for
from .plan import CANONICAL, UNREAD, Draft, Judgement, own_name
from .questions import listed
from .roles import TELLING, two_sides
from .words import ANYBODYS, HARM, PREFERENCES, WHO, clean, judge_named, tokens
from .words import who as who_says

MOST_WORDS = 4
"""Words of a verdict that are asked about at once."""


class Scores(Draft):
    """The part of a plan that is about scores."""

    def _scores(self, candidates: list[Column]) -> bool:
        """Whose scores the columns are. False if they are none."""
        out, said = self.out, self.said
        of = out.roles.of
        scored = [
            c
            for c in candidates
            if c.kind in ("number", "pass", "level")
            # Words that are names of columns, as `old bot`, name one of two.
            or (
                (_is_few_words(c) or any(_say_alike(c, other) for other in candidates))
                and not c.folded & {clean(name) for name in self.by}
            )
            or c.name in said.columns
            or ({clean(w) for w in c.counts} <= {*said.labels})
        ]
        scored = [
            c
            for c in scored
            if c.kind != "number" or not _is_count(c, self.rows) or c.name in said.columns
        ]
        told = {
            said.mapping.get("score"),
            said.mapping.get("vote"),
            *said.judges,
            *said.runs,
            *said.metrics,
        } - {None}
        gold, people, judges = self._whose(scored, told)
        if nameless := self._nameless(judges):
            like = [c.name for c in judges if c not in nameless]
            out.questions.append(ask.who([c.name for c in nameless], like, metrics=False))
        taken = {c.name for c in (*gold, *people, *judges)} | out.roles.taken
        named = [c for c in scored if c.name not in taken and c.what & {"score", "pass", "verdict"}]
        if exact := [c for c in named if c.name in CANONICAL]:
            named = exact
        rest = [
            c
            for c in scored
            if c.name not in taken and c not in named and not c.what - {"aggregate"} and not c.who
        ]
        mates = [
            c for c in rest if any(c.stem and c.stem == p.stem for p in (*people, *judges, *gold))
        ]
        rest = [c for c in rest if c not in mates]
        # `0` and `1` with another name are one judgement said twice, if each says the other.
        main = self._once([*judges, *mates, *(named if not judges or mates else [])])
        main = self._without_sums(main)
        if judges and not mates and named:
            rest = [*rest, *named]
        main, people = self._of_raters(main, people)
        beside = out.roles.has("response", "prompt") or "judge" in of
        by_range: list[Column] = []
        if main and not judges and not mates and beside and not exact:
            by_range = [c for c in rest if c.kind == "number" and _is_rating(c)]
            rest = [c for c in rest if c not in by_range]
        if out.roles.has("prompt") and out.roles.has("response"):
            # Of a log of questions and answers a judge scores one thing as another.
            main, by_range = [*main, *by_range], []
        if not main and not people:
            if any(c.kind == "number" for c in rest):
                rest = [c for c in rest if c.kind == "number"]
            if "judge" in of:
                rest = [c for c in rest if _on_a_scale(c)]
            if (
                rest
                and (of.get("judge") or of.get("person") or beside)
                and all(_on_a_scale(c) for c in rest)
            ):
                out.form = "scores"
                named_judge = "judge" in of and "person" not in of
                names = [c.name for c in rest]
                if "judge" in of or "person" not in of:
                    out.questions.append(ask.who(names, (), metrics=True, judge=named_judge))
                main, rest = rest, []
            else:
                if gold:
                    self._refuse(
                        f"{listed(c.name for c in gold)} holds gold, and no column scores."
                    )
                return False
        unsaid = None
        if (
            not out.roles.has("judge", "person", "rater_type")
            and not judges
            and not people
            and not told
        ):
            main, by_range = [*main, *by_range], []
            lone = [c for c in main if c.kind == "number" and not _on_a_scale(c)]
            unnamed = not beside and all(not c.what for c in main)
            # A file's name is a judge's only where one column is called a score, or beside a log.
            logged = out.roles.has("prompt") and out.roles.has("response")
            logged = logged and any(c.what for c in main)
            several = len(main) > 1 and not logged and "judge" not in who_says(self.source)
            by_file = self._called_by_file(main) and not (logged and len(main) > 1)
            if lone or unnamed or several or by_file or self._anybodys(main):
                unsaid = ask.who([c.name for c in main], (), metrics=True)
                out.questions.append(unsaid)
        if by_range and not any(q.about == "who" for q in out.questions):
            names = [c.name for c in by_range]
            out.questions.append(ask.who(names, [c.name for c in main], metrics=True))
        loose = [c for c in main if {*c.tokens} <= ANYBODYS and c.name not in said.columns]
        if loose and len(loose) < len(main) and not out.questions:
            others = [c.name for c in main if c not in loose]
            out.questions.append(ask.who([c.name for c in loose], others, metrics=True))
        out.form = "scores"
        self._settle_gold(gold)
        # `judge_run1`, `judge_run2`: what one judge said, run after run.
        uncounted = {tuple(word for word in c.tokens if not word.isdigit()) for c in main}
        repeated = len(main) > 1 == len(uncounted) and all("run" in c.what for c in main)
        runs = bool(said.runs) or repeated
        metrics = {c.stem for c in main} if len(main) > 1 else set()
        apart = self._apart(main)
        by_metric = len(main) > 1 and len(metrics) == len(main) and not said.judges and not apart
        if said.metrics:
            by_metric = True
        if (
            len(main) > 1
            and not by_metric
            and not said.judges
            and not runs
            # Columns of one name are not several judges, nor one judge's runs, unasked.
            and not (
                all("judge" in c.who for c in main)
                and len({own_name(c) for c in main}) == len(main)
            )
        ):
            out.questions.append(ask.two_columns([c.name for c in main], metrics=True))
        judges_named = {judge_named(column.name) for column in main}
        one_name = by_metric and "judge" not in of and len(judges_named) == 1
        shared = judges_named.pop() if one_name else None
        for i, column in enumerate(main):
            metric = " ".join(column.stem) if (by_metric or _names_harm(column)) else ""
            if by_metric and not metric:
                metric = _metric(column)
            if by_metric or len(main) == 1:
                rater = shared or self._rater(column if len(main) == 1 else None)
            else:
                rater = self._rater() if runs else own_name(column)
            whose: Literal["judge", "person"] = "judge"
            if (
                "judge" not in of
                and "person" in of
                and "rater_type" not in of
                and "judge" not in column.who
                and not people
                and column.name not in told
            ):
                whose, rater = "person", ""
            out.judgements.append(
                Judgement(column, whose, rater, run=i if runs else None, metric=metric)
            )
            out.roles.take(column, _why_score(column, by_metric))
        judged = {each.metric for each in out.judgements}
        by_metrics = not main and len({c.stem for c in people}) == len(people)
        in_column = (len(people) == 1 or by_metrics) and all(map(self._named_people, people))
        for column in people:
            metric = " ".join(column.stem)
            if metric not in judged and _metric(column) in judged:
                metric = _metric(column)
            if metric not in judged:
                if len(judged) > 1 and column.name not in said.people:
                    out.questions.append(ask.who([column.name], (), metrics=False))
                alone = not main and len(people) == 1
                metric = next(iter(judged)) if len(judged) == 1 else "" if alone else metric
            rater = "" if in_column else column.name
            out.judgements.append(Judgement(column, "person", rater, metric=metric))
            out.roles.take(column, _why_person(column, metric, column.name in said.people))
        scales = frozenset().union(
            *(c.numbers.keys() for c in (*main, *people) if c.kind == "number")
        )
        alike = [
            c
            for c in rest
            if c.kind == "number"
            and c.distinct >= 2
            and main
            and main[0].kind == "number"
            and (set(c.numbers) <= scales or _within(c, main[0]))
        ]
        # Beside scores and nothing of people, pass and fail may be theirs.
        unjudged = bool(main) and not people and not gold
        alike += [
            c
            for c in rest
            if (c.kind in ("pass", "level") and any(m.kind == c.kind for m in main))
            or (unjudged and c.kind == "pass" and c.distinct == 2 and main[0].kind != "pass")
        ]
        alike = [c for c in alike if not (c.what - TELLING)]
        alike += [c for c in rest if c.kind == "short" and any(c.folded == m.folded for m in main)]
        if alike and unsaid is not None and unsaid in out.questions:
            # Nothing says who judged either: both are asked about at once.
            out.questions.remove(unsaid)
            alike = [*main, *alike]
        if alike and not any(q.about == "who" for q in out.questions):
            out.questions.append(
                ask.who(
                    [c.name for c in alike], [c.name for c in main or people], metrics=bool(main)
                )
            )
        self._grades([*main, *people, *gold], main)
        self._codes(main)
        return True

    def _codes(self, main: list[Column]) -> None:
        """Numbers that stand for the words of another column, one for each: points or codes."""
        words = [c for c in self.columns if c.kind == "short" and c.name not in self.out.roles.of]
        for column in main:
            if column.kind != "number" or column.name in self.said.columns:
                continue
            other = next((c for c in words if stands_for(column, c)), None)
            if other is not None:
                self.out.questions.append(ask.codes_of_words(column.name, other.name, other.counts))

    def _apart(self, main: list[Column]) -> bool:
        return len(main) == 2 and differ_in_one(*main) is not None and two_sides(*main) is not None

    def _once(self, main: list[Column]) -> list[Column]:
        """Columns without those that say again what another says."""
        kept: list[Column] = []
        words = [c for c in main if c.kind == "pass" and c.distinct == 2]
        for column in main:
            again = next((c for c in words if codes(column, c)), None)
            if again is not None and column.name not in self.said.columns:
                self.out.roles.take(column, f"codes what '{again.name}' says: not used")
                main = [c for c in main if c is not column]
        for column in sorted(main, key=lambda c: ("score" not in c.what, c.at)):
            twin = next(
                (
                    k
                    for k in kept
                    if k.stem == column.stem
                    and k.who == column.who
                    and repeats([k, column])
                    == max(k.distinct, column.distinct)
                    == min(k.distinct, column.distinct)
                    and k.kind != column.kind
                ),
                None,
            )
            if twin is not None:
                self.out.roles.take(column, f"says what '{twin.name}' says: not used")
            else:
                kept.append(column)
        return sorted(kept, key=lambda c: c.at)

    def _without_sums(self, main: list[Column]) -> list[Column]:
        """Columns without one that is, in each row, the sum or the mean of the others."""
        if len(main) < 3 or any(column.kind != "number" for column in main):
            return main
        for column in main:
            others = [c for c in main if c is not column]
            if _sums(column, others):
                self.out.roles.take(column, "the sum or mean of the other scores: not used")
                return others
        return main

    def _grades(self, columns: list[Column], main: list[Column]) -> None:
        """What words of grades mean, and which are unknown."""
        out, said = self.out, self.said
        worth = {"pass": 1.0, "fail": 0.0}
        out.grades = {clean(w): worth.get(m, number(m)) for w, m in said.labels.items()}
        letters = [column for column in columns if column.kind == "level" and column.letters]
        if letters:
            graded = dict(sorted({w: v for c in letters for w, v in c.letters.items()}.items()))
            out.grades = {**graded, **out.grades}
            each = ", ".join(f"{word.upper()} {value:.3g}" for word, value in graded.items())
            out.notes.append(f"Letters of {listed(c.name for c in letters)} are grades: {each}.")
        meanings: dict[tuple[str, ...], list[str]] = {}
        for column in columns:
            reads = {"number": number, "pass": grade, "level": level}.get(column.kind)
            unread = Counter(
                {
                    c: n
                    for c, n in column.counts.items()
                    if (reads is None or reads(c) is None) and clean(c) not in out.grades
                }
            )
            if 2 <= len(unread) == column.distinct <= MOST_WORDS:
                meanings.setdefault(tuple(sorted(unread)), []).append(column.name)
            elif unread:
                words = ", ".join(f"'{w[:40]}' in {n:,} rows" for w, n in unread.most_common(5))
                share = unread.total() / column.filled
                whose = "no score of the judge" if column in main else "no label"
                if share > UNREAD and column in main:
                    out.questions.append(ask.unread(column.name, unread.most_common(), grades=True))
                else:
                    out.notes.append(f"'{column.name}': {words}: not read, {whose}.")
        for words_of, names in [*meanings.items()]:
            wider = next((more for more in meanings if {*more} > {*words_of}), None)
            if wider is not None:
                meanings[wider] += names
                del meanings[words_of]
        out.questions += [ask.few_words(each, names) for each, names in meanings.items()]

    def _scales(self) -> None:
        """Numbers far beyond the scale of the others, and metrics of which less is better."""
        out = self.out
        for each in out.judgements:
            if each.column.kind == "number":
                odd = _outliers(each.column)
                if odd:
                    out.outliers[each.column.name] = frozenset(odd)
                for value in sorted(odd):
                    rows = [
                        i + 1
                        for i, cell in enumerate(each.column.cells)
                        if cell and number(cell) == value
                    ]
                    others = [v for v in each.column.numbers if v not in odd]
                    out.notes.append(
                        f"Row {rows[0]}: {value:g} in '{each.column.name}', others {min(others):g} "
                        f"to {max(others):g}: left out."
                    )
        out.lower_is_better = tuple(
            dict.fromkeys(
                j.metric for j in out.judgements if j.metric and set(tokens(j.metric)) & HARM
            )
        )


def _metric(column: Column) -> str:
    """What is judged by the name of a column without who judged: `correctness` of
    `Correctness (LLM)`.
    """
    whose = frozenset().union(*WHO.values())
    words = [w for w in tokens(column.name) if w not in whose and not w.isdigit()]
    return " ".join(words) or column.name


def _names_harm(column: Column) -> bool:
    return bool(set(column.stem) & HARM)


def _is_rating(column: Column) -> bool:
    """Whether numbers are those of a usual scale: 0 or 1 up to 1 to 5, 7 or 10, or shares."""
    low, high = min(column.numbers), max(column.numbers)
    whole = low in (0, 1) and high in (1, 2, 3, 4, 5, 7, 10) and column.distinct <= 11
    return whole or (low >= 0 and high <= 1)


def _on_a_scale(column: Column) -> bool:
    """Whether numbers look like points of a scale."""
    if column.kind != "number":
        return column.kind in ("pass", "level")
    low, high = min(column.numbers), max(column.numbers)
    whole = all(value.is_integer() for value in column.numbers)
    return _is_rating(column) or (low >= 0 and (5 < high <= 100 or (whole and high <= 5)))


def _within(column: Column, other: Column) -> bool:
    low, high = min(other.numbers), max(other.numbers)
    return (
        low >= 0
        and low - 1 <= min(column.numbers)
        and max(column.numbers) <= high + 1
        and column.distinct <= 11
    )


def _is_count(column: Column, rows: int) -> bool:
    """Whether numbers number the rows: all different and whole."""
    return (
        rows >= 12
        and column.distinct == rows
        and all(value.is_integer() for value in column.numbers)
    )


def _outliers(column: Column) -> list[float]:
    """Values of at most 2 % of the rows beyond the scale of the others by more than its width."""
    values = sorted(column.numbers)
    total = sum(column.numbers.values())
    for cut in range(1, min(3, len(values) - 2) + 1):
        low, high = values[0], values[-cut - 1]
        odd = values[-cut:]
        if (
            high > low
            and odd[0] - high > high - low
            and sum(column.numbers[v] for v in odd) <= 0.02 * total
        ):
            return odd
    return []


def _why_score(column: Column, by_metric: bool) -> str:
    said = {"number": "numbers", "pass": "pass and fail", "level": "grades"}.get(
        column.kind, "values"
    )
    whose = ", and its name says a judge" if "judge" in column.who else ""
    return f"{said}{whose}{': a metric' if by_metric else ''}"


def _why_person(column: Column, metric: str, said: bool) -> str:
    of = f" of {metric}" if metric else ""
    return f"a person's{of}, as you said" if said else f"a person's{of}, by its name"


def _sums(column: Column, others: list[Column]) -> bool:
    """Whether each value is the sum or the mean of those of other columns, to a hundredth."""
    rows = [
        [number(cell) for cell in cells if cell is not None]
        for cells in zip(column.cells, *(c.cells for c in others), strict=True)
        if all(cell is not None for cell in cells)
    ]
    whole = [[v for v in row if v is not None] for row in rows]
    return bool(whole) and all(
        min(abs(total - sum(parts)), abs(total - sum(parts) / len(parts))) <= 0.011
        for total, *parts in whole
    )


def _say_alike(column: Column, other: Column) -> bool:
    """Whether a judge and a person, by the names of two columns, say of one thing the same few
    words, of which one may mean pass.
    """
    whose = {"judge"}, {"person", "gold"}
    apart = any(column.who & one and other.who & two for one, two in (whose, whose[::-1]))
    words = column.folded | other.folded
    few = column.kind == other.kind == "short" and 2 <= len(words) <= MOST_WORDS
    few = few and not {*column.tokens} & PREFERENCES
    return apart and few and column.stem == other.stem and 2 * len(column.folded) > len(words)


def _is_few_words(column: Column) -> bool:
    """Whether a column of verdicts, by its name, has a few words of which one may mean pass."""
    few = 2 <= len(column.folded) == column.distinct <= MOST_WORDS
    few = few and column.kind in ("short", "text") and min(column.counts.values()) > 1
    return few and bool(column.what & TELLING) and not {*column.tokens} & PREFERENCES
