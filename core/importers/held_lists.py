"""What must hold among the rows of one ranking; a ranking that breaks it is rejected whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.importers.columns import Coded, Codes, Mask, Numbers, group
from core.importers.draft import Draft, item_name, key_codes
from core.votes import RANKINGS

ONE_EACH = {
    "slot": "a ranking of n candidates has the slots 0 to n - 1 (or 1 to n), one each; correct them, or add "
    "the missing candidate",
    "rank": "a ranking of n candidates has the ranks 1 to n, one each; correct them, or leave them empty",
}
ANSWERS = ("score", "rank", "chosen", "uncertain", "major_error", "unsupported")
"""Columns that a failed ranking cannot have."""


class Lists:
    """The rows of a draft by ranking: `code` is the ranking of each row, `refused` says which are bad."""

    def __init__(self, draft: Draft, bad: Mask) -> None:
        self.draft, self.bad = draft, bad.copy()
        self.code = key_codes(draft, RANKINGS.key)
        self.n = int(self.code.max(initial=-1)) + 1
        self.refused = np.zeros(self.n, bool)
        self.refused[self.code[bad]] = True

    def refuse(self, rows: Mask, column: str, reason: str) -> None:
        """Refuse the rankings of these rows; the first such row of each carries the reason."""
        index = np.flatnonzero(rows & ~self.refused[self.code])
        _, first = np.unique(self.code[index], return_index=True)
        for i in index[np.sort(first)]:
            self.draft.rejects.add(
                int(self.draft.row[i]), column, self._cell(column, i), f"item {self._name(i)}: {reason}"
            )
            self.bad[i] = True
            self.refused[self.code[i]] = True

    def drop_repeated(self) -> int:
        """Drop rows that repeat a candidate of their ranking word for word, and count such rankings."""
        if not len(self.code):
            return 0
        member = key_codes(self.draft, (*RANKINGS.key, "candidate"))
        content = key_codes(self.draft, RANKINGS.content)
        order = np.lexsort((np.arange(len(member)), member))
        starts = np.r_[True, member[order][1:] != member[order][:-1]]
        first = np.empty(len(order), np.int64)
        first[order] = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        again = first != np.arange(len(order))
        differs = content != content[first]
        self.refuse(
            again & differs,
            "candidate",
            "this candidate is twice in the ranking, with other cells; keep one, or number the orderings in "
            "a column run",
        )
        keep = ~again | differs
        dropped = np.bincount(self.code[~keep], minlength=self.n)
        self.draft.take(keep)
        self.code, self.bad = self.code[keep], self.bad[keep]
        size = np.maximum(np.bincount(self.code, minlength=self.n), 1)
        return int(np.ceil(dropped / size)[~self.refused].sum())

    def refuse_beside(self, rows: NDArray[np.int64]) -> None:
        """Refuse the rankings before and after rows of the file that may belong to either."""
        near = np.isin(self.draft.row, np.concatenate([rows - 1, rows + 1]))
        self.refuse(
            near,
            "(whole ranking)",
            "the row beside this one cannot be used and may belong to the same ranking; correct that row",
        )

    def refuse_uneven(self) -> None:
        """Refuse rankings whose slots, ranks, scores or words do not fit together."""
        size = self._size()
        self.refuse(size == 1, "candidate", "a ranking needs two candidates or more; add the others")
        first = np.zeros(self.n, np.int64)
        first[self.code[::-1]] = np.arange(len(self.code))[::-1]
        for name in ("category", "status", "rater_type"):
            codes = self.draft.text[name].codes
            self.refuse(
                codes != codes[first[self.code]],
                name,
                f"{name} differs within the ranking; write one for all",
            )
        for name in ("rank", "score"):
            valid = self.draft.numbers[name].valid
            given = self._any(valid)
            self.refuse(
                given & ~valid, name, f"{name} is missing here and given elsewhere in the ranking; fill it"
            )
        for name, low in (("slot", 0), ("rank", 1)):
            values, valid = self.draft.numbers[name].values, self.draft.numbers[name].valid
            outside = valid & ((values < low) | (values >= size + low))
            place = group(self.code, np.where(valid, values - values.min(initial=0), -1))
            twice = valid & (np.bincount(place)[place] > 1) if len(place) else valid
            self.refuse(outside | twice, name, ONE_EACH[name])

    def refuse_fewer(self) -> None:
        """Refuse rankings that show fewer candidates than another of their item: rows are missing."""
        item = key_codes(self.draft, ("dataset", "item_id"))
        size = np.where(self.refused[self.code], 0, self._size())
        most = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, item, size)
        self.refuse(
            size < most[item],
            "(whole ranking)",
            "shows fewer candidates than another ranking of the item; add the missing rows",
        )

    def settle_choice(self) -> None:
        """Fill `chosen` and `status`; a failed ranking keeps no answer."""
        numbers, text = self.draft.numbers, self.draft.text
        status = text["status"]
        ok = np.array([word == "ok" for word in status.values] + [False], bool)[status.codes]
        failed = ~status.missing & ~ok
        rank, score, chosen = numbers["rank"], numbers["score"], numbers["chosen"]
        picked = self._any(chosen.valid & (chosen.values == 1)) & ~failed
        self.refuse(
            chosen.valid & ~picked & ~failed,
            "chosen",
            "no candidate of the ranking is chosen; write 1 for the chosen one",
        )
        is_chosen = chosen.valid & (chosen.values == 1)
        ranked = self._any(rank.valid)
        self.refuse(
            picked & ranked & (is_chosen != (rank.values == 1)),
            "chosen",
            "contradicts the ranks: the candidate of rank 1 is the chosen one; correct either",
        )
        top = np.full(self.n, -np.inf)
        np.maximum.at(top, self.code[score.valid], score.values[score.valid])
        scored = self._any(score.valid)
        derived = np.where(ranked, rank.values == 1, score.valid & (score.values == top[self.code]))
        answered = (picked | ranked | scored) & ~failed
        self.refuse(
            ok & ~answered, "status", "status is ok but there is no score, rank or choice; change either"
        )
        numbers["chosen"] = Numbers(np.where(picked, is_chosen, derived).astype(np.int64), answered)
        given = np.zeros(len(self.code), bool)
        for name in ANSWERS:
            if name != "chosen":
                given |= numbers[name].valid & failed
                numbers[name] = Numbers(numbers[name].values, numbers[name].valid & ~failed)
        given |= chosen.valid & failed
        if given.any():
            n = len(np.unique(self.code[given]))
            self.draft.notes.append(f"Answers not used because the status is not ok: {n:,} rankings.")
        words = [*status.values, "ok", "unparsed"]
        codes = np.where(status.missing, np.where(answered, len(words) - 2, len(words) - 1), status.codes)
        text["status"] = Coded(codes, words).map(str)

    def settle_best(self) -> None:
        """Fill `is_best` beside a 1; refuse rankings that contradict each other about it."""
        best = self.draft.numbers["is_best"]
        known = self._any(best.valid & (best.values == 1))
        value, valid = np.where(best.valid, best.values, 0), best.valid | known
        member = key_codes(self.draft, ("dataset", "item_id", "candidate"))
        counted = valid & ~self.refused[self.code]
        low = np.full(int(member.max(initial=-1)) + 1, 2, np.int64)
        high = np.full_like(low, -1)
        np.minimum.at(low, member[counted], value[counted])
        np.maximum.at(high, member[counted], value[counted])
        self.refuse(
            counted & (low < high)[member],
            "is_best",
            "another ranking of the item says otherwise of this candidate; correct either",
        )
        self.draft.numbers["is_best"] = Numbers(value, valid)

    def take_good(self) -> None:
        """Keep only whole rankings; the other rows of a refused one are rejected for it."""
        told = set(self.draft.rejects.row)
        for i in np.flatnonzero(self.refused[self.code] & ~self.bad):
            if int(self.draft.row[i]) not in told:
                told.add(int(self.draft.row[i]))
                self.draft.rejects.add(
                    int(self.draft.row[i]),
                    "(whole ranking)",
                    self.draft.text["candidate"].cell(i),
                    f"item {self._name(i)}: another row of the ranking was rejected, and a ranking loads "
                    "whole; correct that row",
                )
        self.draft.take(~self.refused[self.code])

    def _size(self) -> Codes:
        """Candidates in the ranking of each row."""
        return np.bincount(self.code, minlength=self.n).astype(np.int64)[self.code]

    def _any(self, rows: Mask) -> Mask:
        """For each row, whether any row of its ranking is among these."""
        found = np.zeros(self.n, bool)
        found[self.code[rows]] = True
        return found[self.code]

    def _name(self, i: int | np.integer[Any]) -> str:
        return item_name(self.draft, i)

    def _cell(self, column: str, i: int | np.integer[Any]) -> str:
        if column in self.draft.text:
            return self.draft.text[column].cell(i)
        numbers = self.draft.numbers.get(column)
        return str(numbers.values[i]) if numbers is not None and numbers.valid[i] else ""
