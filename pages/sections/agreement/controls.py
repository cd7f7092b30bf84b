"""What the sections of the Agreement page share: every result, and a verdict of each rater."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.finding.answer import Answer, Found
from core.finding.check import GRADES, CheckResult
from core.questions.agreement.judge_vs_human import LeaveOneOut, leave_one_out
from core.questions.agreement.kappa import AgreementMatrix
from core.questions.agreement.reliability import Repeatability
from core.questions.agreement.results import AGREEMENT, BESIDE_PEOPLE, PARTNER, REPEATABILITY
from core.questions.agreement.words import agreement, agreement_answer
from core.records import VoteCounts
from core.stats.estimate import Estimate
from pages.shared import cached, evidence, widgets
from pages.shared.limits import current_options


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Results(widgets.View):
    """Agreement of every rater of the selection.

    own_gold : raters of whose votes gold is made.  anchors : models that repeated votes are
        oriented by.
    listed : judges, then people, each from the least agreeing on.
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
    checks: dict[str, CheckResult]
    found: Mapping[str, Found]
    against_people: dict[str, Estimate | None]
    least_agreeing: str
    listed: tuple[str, ...]

    def said(self, rater: str) -> Answer:
        """The page's answer about one rater."""
        among = {
            name: of
            for name, of in self.found.items()
            if name in (self.judges or self.humans) or name == rater
        }
        return agreement_answer(among, rater, self.against_people[rater], self.matrix.pairs)


def read_results() -> Results:
    """Compute, or recall, everything that the page shows before a choice."""
    selection = widgets.current_selection()
    counts = cached.vote_counts(selection)
    people, options = widgets.current_people(), current_options()
    humans = [name for name in counts if name in people]
    of_all = evidence.counted(selection, options)
    repeated = {
        name: repeats for name in counts if (repeats := of_all.of(name)[REPEATABILITY]) is not None
    }
    beside_people = cached.computed(
        "leave one out", (selection,), lambda: leave_one_out(counts, humans, rng=widgets.seeded())
    )
    partners = {name: of_all.of(name)[PARTNER] for name in counts}
    kappas = {
        name: pair.kappa.value if pair and pair.kappa else 0.0 for name, pair in partners.items()
    }
    checks, by_check = {}, {}
    for name in counts:
        results = evidence.results(
            selection, options, name, ["repeatability", "coin_share", "agreement"]
        )
        by_check[name] = {result.check: result for result in results}
        *itself, others = results
        people_beside = [pair for pair in beside_people.judges if pair.judge == name]
        checks[name] = agreement(itself, others, beside_people=people_beside)
    judges = [name for name in counts if name not in humans]

    def agrees(name: str) -> tuple[int, float]:
        return -GRADES.index(checks[name].grade), kappas[name]

    listed = (*sorted(judges, key=agrees), *sorted(humans, key=agrees))
    return Results(
        counts=counts,
        judges=judges,
        humans=humans,
        own_gold=humans if selection.gold == "humans" else [selection.gold or "given"],
        anchors=of_all.anchors,
        repeated=repeated,
        matrix=of_all[AGREEMENT],
        beside_people=beside_people,
        checks=checks,
        found=by_check,
        against_people={name: of_all.of(name)[BESIDE_PEOPLE] for name in counts},
        least_agreeing=listed[0],
        listed=listed,
    )
