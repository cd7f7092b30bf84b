"""Which versions of which judges an audit compares, and what their votes or scores are."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import InvalidOption, UnknownName
from ...store import parts
from ...store import vote_queries as queries
from ...store.parts import MARK, family_of
from ..agreement.paired import JudgeVotes
from .method import compare_scores, compare_votes
from .results import Comparison

if TYPE_CHECKING:
    from ...auditing.results import Audit
    from ...schema import Selection
    from ...store.connection import Database, Snapshot
    from ..scores.evidence import JudgedScores


def in_order(judge: str) -> list[tuple[int, str]]:
    """A key that puts v10 behind v2."""
    parts = re.split(r"(\d+)", judge)
    return [(int(part) if part.isdecimal() else 0, part) for part in parts]


def families(judges: Sequence[str]) -> dict[str, list[str]]:
    """Family → its versions in their order, of families with several."""
    every: dict[str, list[str]] = {}
    for judge in judges:
        every.setdefault(family_of(judge), []).append(judge)
    return {family: each for family, each in every.items() if len(each) > 1}


def pairs_to_compare(judges: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
    """(older, newer) judges that `--compare` names.

    names : none for every version against the first of its family; two judges, two versions of
    each family that has both, such as `v1 v2`, or families with several versions.

    Raises UnknownName, and InvalidOption where there is nothing to compare.

    >>> pairs_to_compare(["gpt@v1", "gpt@v2", "gpt@v3"], [])
    [('gpt@v1', 'gpt@v2'), ('gpt@v1', 'gpt@v3')]
    >>> pairs_to_compare(["gpt@v1", "gpt@v2", "gpt@v3"], ["v2", "v3"])
    [('gpt@v2', 'gpt@v3')]
    """
    versions = families(judges)
    if not names:
        if not versions and len(judges) == 2:
            return [(judges[0], judges[1])]
        if not versions:
            raise InvalidOption(
                "--compare: no judge has two versions here. Name two judges, or tell versions "
                "apart with --version."
            )
        names = list(versions)
    if all(name in versions for name in names):
        return [(versions[name][0], later) for name in names for later in versions[name][1:]]
    if len(names) != 2:
        raise InvalidOption(
            f"--compare {' '.join(names)}: name two judges, two versions, or judges with versions."
        )
    old, new = names
    if old in judges and new in judges:
        return [(old, new)]
    found = []
    for family, each in versions.items():
        # The first version of what was collected keeps the bare name.
        bare = {f"{family}{MARK}v1": family} if family in each else {}
        one, other = (bare.get(name, name) for name in (f"{family}{MARK}{n}" for n in names))
        found += [(one, other)] if {one, other} <= {*each} else []
    if not found:
        known = {*judges, *(judge.rpartition(MARK)[2] for judge in judges)}
        unknown = next((name for name in names if name not in known), new)
        raise UnknownName(
            "--compare {value!r}: no judge or version has this name. Known: {known}.",
            value=unknown,
            known=list(judges),
        )
    return found


def with_comparisons(audit: Audit, store: Database | Snapshot, names: Sequence[str]) -> Audit:
    """The audit with a comparison for each pair of versions, of scores for each metric of both.

    Raises as `pairs_to_compare`.
    """
    of_votes = [judge.judge for judge in audit.without_people]
    of_scores = [scores.judge for scores in audit.scores]
    judges = sorted({*of_votes, *of_scores}, key=in_order)
    if not judges:
        raise InvalidOption("--compare: no judge of pairs or of single answers was audited.")
    found = [
        each
        for pair in pairs_to_compare(judges, names)
        for each in compared(
            store,
            audit.selection,
            pair,
            of_votes,
            [one.evidence.scores for one in audit.scores],
            level=audit.options.level,
        )
    ]
    if not found:
        raise InvalidOption("--compare: the two did not judge the same kind of answers.")
    return replace(audit, comparisons=tuple(found))


def compared(
    store: Database | Snapshot,
    selection: Selection,
    judges: tuple[str, str],
    of_votes: Collection[str],
    scores: Sequence[JudgedScores],
    *,
    level: float = 0.95,
) -> list[Comparison]:
    """An older and a newer judge by their votes, and by each metric that both scored.

    of_votes : the judges of pairs that were audited.  scores : those of single answers.
    """
    old, new = judges
    found: list[Comparison] = []
    if old in of_votes and new in of_votes:
        before, after = _votes(store, selection, judges)
        found.append(compare_votes(before, after, judges, level=level))
    of_metric = {(each.judge, each.metric): each for each in scores}
    metrics = [metric for judge, metric in of_metric if judge == old]
    found += [
        compare_scores(of_metric[old, metric], of_metric[new, metric], judges, level=level)
        for metric in sorted(metrics)
        if (new, metric) in of_metric
    ]
    with store.snapshot() as moment:
        held = parts.read(moment)
    if held is None:
        return found
    return [
        replace(
            each,
            seen=each.n,
            tried=tuple(one.sentence for one in held.of_family(each.new, each.metric)),
        )
        for each in found
    ]


def _votes(
    store: Database | Snapshot, selection: Selection, judges: tuple[str, str]
) -> list[JudgeVotes]:
    """Votes of two judges, with one code for each comparison."""
    with store.snapshot() as moment:
        chosen = replace(selection, judges=judges)
        counts = queries.vote_counts(moment, chosen)
        stated = queries.confidence_counts(moment, chosen)
        placed = queries.positions(moment, chosen)
    return [
        JudgeVotes(counts=counts[name], stated=stated[name], placed=placed.get(name))
        for name in judges
    ]
