"""Controls of the Calibration page, and the results that its answer and its tabs share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import streamlit as st

from core.auditing.options import AuditOptions
from core.errors import NoUsableVotes
from core.finding.answer import Answer
from core.finding.check import CheckResult
from core.options import default_of
from core.questions.confidence import calibration_error
from core.questions.confidence.figure import bin_key
from core.questions.confidence.kinds import KindOfConfidence
from core.questions.confidence.results import KINDS
from core.questions.confidence.words import CONFIDENCE, confidence, confidence_answer
from core.records import OutcomeCounts, VoteCounts
from core.schema import CorrectnessRule, Selection
from core.stats.repeated_votes import outcomes_by_share
from core.store.vote_queries import Mark
from pages.shared import cached, evidence, many, widgets
from pages.shared.limits import current_options

Result = TypeVar("Result")

NEEDS = (
    "Calibration needs votes with a confidence on comparisons with gold; this selection has none. "
    "Load a column confidence (0 to 1, or percent) with the votes, and gold labels with them or "
    "from a second file."
)
JUST_BELOW = 2e-9
"""A mark's interval is open below, with a tolerance: this lets the votes at an edge in, or keeps
them out.
"""
SHARE = "share of votes"
RULES: dict[str, CorrectnessRule] = {
    "each vote": "single",
    "both orders": "both_orders",
    SHARE: "single",
}
"""What the page calls the rules of correctness; the URL holds these words."""
NOUNS = {"each vote": "votes", "both orders": "both-order pairs", SHARE: "repeated comparisons"}
NO_REPEATS = "no comparison with gold that it judged more than once"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PageState(widgets.View):
    """The page's controls, and the verdicts that they select.

    verdict : what is right or wrong, a key of `RULES`.
    judge : the chosen one, or None for all.  outcomes : verdicts with a confidence, of each judge
        that has
    some.  reasons : why another judge has none.
    """

    verdict: str
    bins: int
    judge: str | None
    outcomes: dict[str, OutcomeCounts]
    reasons: dict[str, str]
    order: many.Shown

    @property
    def rule(self) -> CorrectnessRule:
        """How votes are right or wrong."""
        return RULES[self.verdict]

    @property
    def marked(self) -> CorrectnessRule | Literal["share"]:
        """By which rule the votes behind a mark are found."""
        return "share" if self.by_share else self.rule

    @property
    def by_share(self) -> bool:
        """Whether confidence is the share of votes behind a majority; no single vote has one."""
        return self.verdict == SHARE

    @property
    def confidence(self) -> str:
        """What the confidence is, as an axis says."""
        return "share of its votes" if self.by_share else "stated confidence"

    @property
    def noun(self) -> str:
        """What is counted under the rule."""
        return NOUNS[self.verdict]

    def python(self, judge: str) -> str:
        """The line of Python that makes a judge's verdicts."""
        if self.by_share:
            return f"outcomes_by_share(queries.vote_counts(store, selection)[{judge!r}])"
        return f"queries.outcomes(store, selection, rule={self.rule!r})[{judge!r}]"

    @property
    def shown(self) -> Sequence[str]:
        """Judges of tables."""
        return [self.judge] if self.judge else self.order.names

    @property
    def drawn(self) -> Sequence[str]:
        """Judges of figures."""
        return [self.judge] if self.judge else self.order.drawn


def read_controls() -> PageState:
    """Draw the controls; refuse a selection in which no judge can be measured."""
    selection = widgets.current_selection()
    # Pairs of votes have a confidence only if votes have: without any, the rule has nothing to
    # decide.
    possible = [verdict for verdict in RULES if _known(selection, verdict)[0]]
    if not possible:
        raise NoUsableVotes(NEEDS)
    slots = st.columns([4, 4, 3], gap="medium", vertical_alignment="bottom")
    chosen = widgets.choice(
        "Right or wrong by",
        possible,
        key="rule",
        place=slots[0],
        help="each vote: a vote counts alone. both orders: a comparison is asked in both orders "
        "and right only if the two verdicts together point to gold; confidence is their mean. "
        "share of votes: the majority of a repeated comparison counts, as sure as its share of the "
        "votes, which needs no stated confidence.",
    )
    outcomes, reasons = _known(selection, chosen)
    judge = widgets.judge_or_none(
        outcomes,
        otherwise=f"all {len(outcomes)}, overlaid" if len(outcomes) > 1 else "the only judge",
        place=slots[1],
    )
    bins: int = slots[2].slider(
        "Bins", 2, 20, default_of(AuditOptions, "bins"), key="bins", bind=widgets.URL
    )
    everybody = many.Shown(tuple(outcomes), tuple(outcomes))
    state = PageState(
        verdict=chosen, bins=bins, judge=judge, outcomes=outcomes, reasons=reasons, order=everybody
    )
    if judge:
        return state
    honest = {name: -one.ece for name, one in calibrations(state).items()}
    return replace(state, order=many.in_order(honest, key="honesty", start="worst first"))


def _known(selection: Selection, verdict: str) -> tuple[dict[str, OutcomeCounts], dict[str, str]]:
    """Verdicts that can be measured by judge, and why a judge has none."""
    if verdict == SHARE:
        return _by_share(selection)
    rule = RULES[verdict]
    found = cached.outcomes(selection, rule=rule)
    pairs = " judged in both orders" if rule == "both_orders" else ""

    def measured(one: OutcomeCounts | None) -> OutcomeCounts:
        if one is None or not one.n.any():
            raise NoUsableVotes(f"no comparison{pairs} that has gold")
        if not len(known := one.with_confidence()):
            raise NoUsableVotes(f"no confidence with any of their {NOUNS[verdict]} on gold")
        return known

    judges = {about.name: found.get(about.name) for about in cached.summary(selection).judges}
    return cached.of_each_possible("with confidence", (selection, rule), judges, measured)


def _by_share(selection: Selection) -> tuple[dict[str, OutcomeCounts], dict[str, str]]:
    """Majorities of repeated comparisons with gold, and why a judge has none."""

    def measured(counts: VoteCounts) -> OutcomeCounts:
        if (shared := outcomes_by_share(counts)) is None:
            raise NoUsableVotes(NO_REPEATS)
        return shared

    return cached.of_each_possible(
        "by share of votes", (selection,), cached.vote_counts(selection), measured
    )


def of_each(
    state: PageState,
    name: str,
    key: tuple[Hashable, ...],
    compute: Callable[[OutcomeCounts], Result],
) -> dict[str, Result]:
    """A result for every judge, shown or not, computed once for each selection, rule and `key`."""
    return cached.of_each(name, (state.selection, state.verdict, *key), state.outcomes, compute)


def calibrations(state: PageState) -> dict[str, calibration_error.Calibration]:
    """Every measure of calibration, with the reliability by bin."""
    return of_each(
        state,
        "calibration",
        (state.bins,),
        lambda known: calibration_error.calibration(known, bins=state.bins),
    )


def gaps(state: PageState) -> dict[str, calibration_error.ConfidenceGap]:
    """Confidence beyond accuracy; every judge here has one, as each has verdicts with a
    confidence.
    """
    found = of_each(state, "gap", (), calibration_error.confidence_gap)
    return {judge: gap for judge, gap in found.items() if gap is not None}


def kinds(state: PageState) -> dict[str, tuple[KindOfConfidence, ...]]:
    """Every kind of confidence of each judge, side by side."""
    options = replace(current_options(), bins=state.bins, correctness=state.rule)
    counted = evidence.counted(state.selection, options)
    return cached.computed(
        "kinds of confidence",
        (state.selection, options, tuple(state.shown)),
        lambda: {judge: counted.of(judge)[KINDS] for judge in state.shown},
    )


def noise_floors(state: PageState) -> dict[str, calibration_error.NoiseFloor]:
    """What chance alone would show."""
    return of_each(
        state,
        "noise floor",
        (state.bins,),
        lambda known: calibration_error.noise_floor(known, rng=widgets.seeded(), bins=state.bins),
    )


def worst(state: PageState) -> str:
    """The judge with the largest ECE."""
    found = calibrations(state)
    return max(found, key=lambda name: found[name].ece)


def subject(state: PageState) -> str:
    """The judge of the sentences: the chosen one, else the one with the largest ECE."""
    return state.judge or worst(state)


def confidence_results(state: PageState) -> tuple[Answer, CheckResult]:
    """What the confidence of the answer's judge is worth, by the limits in force, in short and in
    full.
    """
    options = replace(current_options(), bins=state.bins, correctness=state.rule)
    if state.by_share:
        options = replace(options, confidence_by="share")
    judge = subject(state)
    found = {
        name: {
            result.check: result
            for result in evidence.results(state.selection, options, name, CONFIDENCE)
        }
        for name in ([judge] if state.judge else state.shown)
    }
    said = confidence_answer(found, judge, noise_floors(state).get(judge))
    of = [found[judge][check] for check in ("overconfidence", "calibration", "discrimination")]
    return said, confidence(of, of=len(state.shown))


def bin_marks(
    state: PageState,
    name: str,
    diagram: calibration_error.Reliability,
    *,
    shown_as: str | None = None,
) -> dict[str, Mark]:
    """The votes of each bin that has some, by the key of its mark."""
    edges = zip(diagram.low.tolist(), diagram.high.tolist(), diagram.n.tolist(), strict=True)
    return {
        bin_key(shown_as or name, low, high): Mark(
            judge=name, confidence=(low, high), rule=state.marked
        )
        for low, high, n in edges
        if n
    }
