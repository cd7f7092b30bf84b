"""What an item is: the values that with what explains repetition tell every row apart."""

from __future__ import annotations

from collections import Counter

from . import questions as ask
from .facts import Column, constant_in, repeats
from .plan import Draft
from .roles import is_few
from .words import may_be_versions, tokens

FEW_IDS = 12
"""Columns of ids up to which one is looked for that is joined of others."""


class Items(Draft):
    """The part of a plan that is about items and repetition."""

    def _items(self) -> None:
        """What an item is: the fewest values that tell rows apart beside what explains them."""
        out, said = self.out, self.said
        of = out.roles.of
        judged = {each.column.name for each in out.judgements}
        explained = [
            of[r]
            for r in ("judge", "person", "metric", "run", "position", "model", "model_a", "model_b")
            if r in of
        ]
        explained += [self.by[name] for name in ("perturbation",) if name in self.by]
        if said.version in self.by:
            out.version = self.by[said.version]
            out.roles.why[out.version.name] = "versions of the judge"
            explained.append(out.version)
        texts = [of[r] for r in ("response",) if r in of]
        if "item_id" in of:
            ids = [of["item_id"]]
        else:
            ids = [
                c
                for c in (*self.columns,)
                if "item" in c.what
                and not c.what & {"verdict", "score", "time", "book"}
                and not c.who
                and c.kind != "empty"
                and c.name not in out.roles.taken
                and c.name not in judged
                and c.filled >= 0.95 * self.rows
                and c.kind != "choice"
                and c.name not in said.unused
            ]
            if any(not c.is_key or c.distinct > 12 for c in ids):
                ids = [c for c in ids if not c.is_key or c.distinct > 12]
            ids += [
                c
                for c in self.columns
                if c.is_key and c not in ids and c.name not in out.roles.taken and c.distinct > 12
            ]
        ids = _without_joined(ids, self.columns)
        keyed = self._explain_keys(ids, explained)
        explained += keyed
        out.key = explained
        whole = [c for c in ids if repeats([c, *explained]) == self.rows]
        # Gold that differs within an item is of something smaller, such as one of its variants.
        whole = [c for c in whole if out.gold is None or constant_in(out.gold, c)] or whole
        if said.unit == "rows":
            out.item_why = "each row is an item of its own, as you said"
            return
        if whole:
            item = min(whole, key=lambda c: (c.distinct, c.at))
            times = Counter(item.counts.values()).most_common(1)[0][0]
            out.item = item
            out.item_why = (
                f"{item.distinct:,} items ('{item.name}': {times} row{'s' * (times > 1)} each)"
            )
        elif ids:
            item = max(
                ids,
                key=lambda c: (
                    c.name == "item_id",
                    c.filled >= self.rows,
                    -c.at if c.distinct > 1 else -999,
                ),
            )
            out.item = item
            self._repeated(item, explained, texts, judged)
        elif (text := self._returning_text(explained, judged)) is not None:
            times = Counter(text.counts.values()).most_common(1)[0][0]
            out.item = text
            out.item_why = (
                f"{text.distinct:,} items by the text of '{text.name}' ({times} rows each)"
            )
        elif (
            "prompt" in of
            and of["prompt"].distinct > 1
            and of["prompt"].distinct < self.rows
            and out.form == "votes"
        ):
            out.item = of["prompt"]
            out.item_why = f"{out.item.distinct:,} items by '{out.item.name}'"
            self._repeated(out.item, explained, texts, judged)
        else:
            out.item_why = f"no column names the items, so each of {self.rows:,} rows is one"
            self._structural(explained, judged)
        if out.item is not None:
            out.roles.take(out.item, f"{out.item.distinct:,} values: the items")
            self._given_once(out.item)

    def _returning_text(self, explained: list[Column], judged: set[str]) -> Column | None:
        """Texts of which each returns for other raters or models, and that tell rows apart with
        them. Where the other texts differ there, as answers to one question, they name no item.
        """
        of = self.out.roles.of
        reasons = {c.name for c in self.columns if "reason" in c.what}
        texts = [
            c
            for c in self.columns
            if c.name not in judged | reasons
            and (c.kind == "text" or (c.kind == "short" and c.what & {"prompt", "answer"}))
            and not c.who
            and c.filled == self.rows
        ]
        systems = [of[role] for role in ("model", "model_a", "model_b", "position") if role in of]
        found = [
            c
            for c in texts
            if 1 < c.distinct < self.rows
            and repeats([c, *explained]) == self.rows
            and all(repeats([c, *systems, t]) == repeats([c, *systems]) for t in texts)
            and (self.out.gold is None or self.out.form != "votes" or constant_in(self.out.gold, c))
        ]
        return min(found, key=lambda c: (c.distinct, c.at), default=None)

    def _explain_keys(self, ids: list[Column], explained: list[Column]) -> list[Column]:
        """Keys of objects that complete the key of a row: a judge each, if none is named."""
        out = self.out
        found = []
        for column in self.columns:
            if (
                not column.is_key
                or column.name in out.roles.taken
                or not 2 <= column.distinct <= 12
                or column in ids
            ):
                continue
            if (
                "judge" not in out.roles.of
                and out.form == "votes"
                and any(repeats([c, *explained, column]) > repeats([c, *explained]) for c in ids)
            ):
                out.roles.give(
                    "judge", column, f"{column.distinct} keys, each with every item: who judged"
                )
                for each in out.judgements:
                    if each.whose == "judge":
                        each.rater = ""
                found.append(column)
            elif (
                out.form == "scores"
                and not out.roles.has("judge", "model")
                and column.name not in self.said.columns
                and any(repeats([c, *explained, column]) > repeats([c, *explained]) for c in ids)
            ):
                item = next(c for c in ids if repeats([c, column]) > repeats([c]))
                out.questions.append(ask.completes(column.name, list(column.counts), item.name))
                found.append(column)
        return found

    def _repeated(
        self, item: Column, explained: list[Column], texts: list[Column], judged: set[str]
    ) -> None:
        """Rows of one key: runs, if gold and text agree; else asked."""
        out, said, of = self.out, self.said, self.out.roles.of
        key = [item, *explained]
        times = max(Counter(zip(*(c.cells for c in key), strict=True)).values())
        out.item_why = f"{item.distinct:,} items ('{item.name}', up to {times} rows each)"
        if said.unit == "runs":
            out.runs = True
            return
        others = [
            c
            for c in self.columns
            if (c.name not in out.roles.taken or c in (of.get("prompt"), of.get("temperature")))
            and c.name not in judged
            and c is not item
            and 2 <= c.distinct <= 20
            and is_few(c, self.rows)
            and c.filled == self.rows
            and (c is of.get("temperature") or not c.what & {"book", "time"})
            and (
                repeats([*key, c]) == self.rows
                or (may_be_versions(c.name) and repeats([*key, c]) > repeats(key))
            )
        ]
        if others:
            other = others[0]
            out.questions.append(ask.completes(other.name, list(other.counts), item.name))
            return
        gold = [out.gold] if out.gold else []
        people = [j.column for j in out.judgements if j.whose == "person" and j.rater]
        answers = texts or [of[r] for r in ("response_a", "response_b") if r in of]
        same = all(constant_in(c, item) for c in (*gold, *people, *answers)) and bool(
            gold or people or answers
        )
        if same:
            out.runs = True
            named = gold or people or answers
            out.item_why += f": runs, as '{named[0].name}' is the same in each"
        else:
            differ = not all(constant_in(c, item) for c in answers)
            out.questions.append(ask.items(item.name, times, answers_differ=differ))

    def _structural(self, explained: list[Column], judged: set[str]) -> None:
        """A4 without a named id: a column that returns equally often may be the item."""
        out = self.out
        for column in self.columns:
            if (
                column.name in out.roles.taken
                or column.name in judged
                or column.kind not in ("short", "number")
            ):
                continue
            times = set(column.counts.values())
            if (
                column.filled == self.rows
                and len(times) == 1
                and times != {1}
                and column.distinct >= 5
                and not column.what
            ):
                out.questions.append(ask.may_be_items(column.name, column.distinct, times.pop()))
                return

    def _given_once(self, item: Column) -> None:
        """A8: a person's number that never differs between the answers of an item."""
        out = self.out
        if out.form != "scores" or out.runs or not out.roles.has("model", "response"):
            return
        answer = out.roles.of.get("response") or out.roles.of["model"]
        if constant_in(answer, item) or item.distinct < 5 or item.distinct == self.rows:
            return
        for each in out.judgements:
            if (
                each.whose == "person"
                and each.column.name not in self.said.people
                and each.column.distinct > 1
            ):
                judges = [j.column for j in out.judgements if j.whose == "judge"]
                if constant_in(each.column, item) and not any(constant_in(c, item) for c in judges):
                    out.questions.append(ask.given_once(each.column.name, item.name))


def _without_joined(ids: list[Column], columns: list[Column]) -> list[Column]:
    """Ids without those that are joined of another, which returns, and of a second column, as
    `q7|reasoned|0` is of `q7` and `reasoned`: such a key is of the row.
    """
    if len(ids) > FEW_IDS:
        return ids
    kept = []
    for joined in ids:
        parts = [
            c
            for c in columns
            if (c is not joined and 1 < c.distinct < joined.distinct)
            or (c in ids and c.distinct == 1)
        ]
        within = [c for c in parts if _is_part(c, joined)]
        if len(within) < 2 or not any(c in ids for c in within):
            kept.append(joined)
    return kept or ids


def _is_part(column: Column, joined: Column) -> bool:
    """Whether the words of each cell stand in another's of the same row."""
    return column.filled == len(column.cells) and all(
        {*tokens(cell or "")} and {*tokens(cell or "")} <= {*tokens(key or "")}
        for cell, key in zip(column.cells, joined.cells, strict=True)
    )
