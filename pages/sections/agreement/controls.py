"""What the sections of the Agreement page share: every result, and a verdict of each rater."""

from __future__ import annotations

from dataclasses import dataclass

from core.agreement.judge_vs_human import LeaveOneOut, leave_one_out
from core.agreement.kappa import AgreementMatrix, agreement_matrix
from core.agreement.reliability import Repeatability, icc
from core.interpretation.agreement import agreement
from core.interpretation.grading import agreement_verdict, closest_partner
from core.interpretation.verdicts import GRADES, Verdict, repeatability
from core.leaderboard.anchors import anchors as models_that_anchor
from core.records import VoteCounts
from pages.shared import cached, widgets
from pages.shared.limits import current_options


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Results(widgets.View):
    """Agreement of every rater of the selection.

    own_gold : raters of whose votes gold is made.  anchors : models that repeated votes are
        oriented by.
    least_agreeing : the judge with the worst grade, and of several the one with the lowest κ.
    """

    counts: dict[str, VoteCounts]
    judges: list[str]
    humans: list[str]
    own_gold: list[str]
    anchors: tuple[str, ...]
    repeated: dict[str, Repeatability]
    matrix: AgreementMatrix
    beside_people: LeaveOneOut
    verdicts: dict[str, Verdict]
    least_agreeing: str


def read_results() -> Results:
    """Compute, or recall, everything that the page shows before a choice."""
    selection = widgets.current_selection()
    counts = cached.vote_counts(selection)
    people, rules = widgets.current_people(), current_options().rules
    humans = [name for name in counts if name in people]
    anchors = models_that_anchor(cached.pair_scores(selection, pooled=True)[None])
    tables = cached.ratings(selection, anchors=anchors)
    repeated = cached.of_each("repeatability", (selection, anchors), tables, icc)
    matrix = cached.computed("agreement", (selection,), lambda: agreement_matrix(counts))
    beside_people = cached.computed(
        "leave one out", (selection,), lambda: leave_one_out(counts, humans, rng=widgets.seeded())
    )
    partners = {name: closest_partner(name, matrix, people) for name in counts}
    kappas = {name: one.kappa.value if one and one.kappa else 0.0 for name, one in partners.items()}
    verdicts = cached.computed(
        "agreement verdicts",
        (selection, anchors, rules),
        lambda: {
            name: agreement(
                name,
                repeatability(name, repeated.get(name), rules=rules),
                agreement_verdict(name, counts, matrix, people, gold=selection.gold, rules=rules),
                beside_people=[one for one in beside_people.judges if one.judge == name],
            )
            for name in counts
        },
    )
    judges = [name for name in counts if name not in humans]
    return Results(
        counts=counts,
        judges=judges,
        humans=humans,
        own_gold=humans if selection.gold == "humans" else [selection.gold],
        anchors=anchors,
        repeated=repeated,
        matrix=matrix,
        beside_people=beside_people,
        verdicts=verdicts,
        least_agreeing=max(
            judges or humans, key=lambda name: (GRADES.index(verdicts[name].verdict), -kappas[name])
        ),
    )
