"""Sentences and tables of the Leaderboard's tabs: ratings, judges, prompts, tasks, labels, other
boards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

import numpy as np

from ...finding.answer import Answer, difference, in_words, line, measured
from ...finding.tables import Column
from ...finding.wording import (
    count,
    elo_ends,
    number,
    percent,
    points,
    points_ends,
    signed,
    signed_elo,
)
from ...stats.estimate import Estimate
from ...stats.intervals import bonferroni_interval
from .anchored import Board, BoardRow, SubsampleErrors
from .board_checks import OverJudges
from .debiased import DebiasedRate, RoganGladen
from .judge_dispersion import MethodSpread, RatingSpread
from .judges import JurySize, PooledBoard, Pooling, Screened, Screening
from .ratings import RAEE, Result
from .robustness import Abstained, Abstention, BetweenTasks, Changed, Rule, differing
from .standings import LEAST_FOR_INTERVAL, OutsideComparison
from .words import ENDS

METHOD_NAMES = {
    RAEE: "anchored Elo",
    "bradley_terry": "Bradley–Terry",
    "glicko2": "Glicko-2",
    "trueskill": "TrueSkill",
}
CLOSER = 1.05
"""Pooled judges whose interval is narrower by this factor know more than one of them."""
ALIKE = 0.90
"""Boards of a higher Kendall τ rank alike, as for anchors. Source: [RAEE] appendix E.1."""
TOLERATED = 0.05
"""A formula within so much of what subsamples show is called right."""


def _root(variance: str) -> Callable[[JurySize], float | None]:
    """The standard error of a field that is a variance."""

    def error(row: JurySize) -> float | None:
        found = attrgetter(variance)(row)
        return None if found is None else math.sqrt(found)

    return error


METHODS = (
    Column("rating", lambda row: METHOD_NAMES[row.method], ""),
    Column("Kendall τ", "kendall", ".2f", "order of models, against anchored Elo"),
    Column("Pearson", "pearson", ".3f", "mean Elo of judges, against anchored Elo"),
    Column("SD of judges", "sd", ".0f", "points, mean over models", ENDS, "95 %, over models"),
    Column(
        "SD / spread", "relative", ".2f", "SD of judges divided by the SD of models, without a unit"
    ),
    Column("n", "n_models", "d", "models that two judges or more rated"),
    Column("judges", "n_judges", "d"),
)
JURY_SIZES = (
    Column("judges", "size", "d"),
    Column("SE", _root("observed.value"), ".1f", "observed, Elo"),
    Column("by ρ", _root("predicted"), ".1f", "predicted with the observed correlation"),
    Column(
        "by repeatability", _root("predicted_runs"), ".1f", "predicted with the ICC within judges"
    ),
    Column("jury to jury", "between", ".1f", "SD of a model's Elo over juries of this size"),
    Column("juries", "juries", "d"),
)
CUTS = (
    Column("cut", "cut", ".2f", "empty: no cut"),
    Column("judges", lambda row: len(row.judges), "d"),
    Column("width", "width", ".0f", "mean interval, Elo"),
    Column("SD of judges", "sd_judges", ".0f"),
    Column("Kendall τ", "kendall", ".2f", "against the board without a cut"),
    Column("n", "n_models", "d", "models"),
    Column("left", lambda row: "; ".join(row.judges), ""),
)
ABSTENTION = (
    Column("threshold", "threshold", ".2f", "empty: all prompts"),
    Column("kept %", "coverage", ".1f", scale=100),
    Column("n", "n", "d", "judged prompts kept"),
    Column("|Δp| points", "delta_p", ".1f", "mean over models", scale=100),
    Column("|ΔElo|", "delta_elo", ".0f", "mean over models"),
    Column("SE", "se_elo", ".0f", "of Elo, mean over models"),
    Column("CV", "cv", ".2f", "of p across judges, mean over models"),
    Column("Kendall τ", "kendall", ".2f", "against the full board"),
    Column("models", "n_models", "d"),
)
OVER_JUDGES = (
    Column("anchor", "anchor", ""),
    Column("model", "model", ""),
    Column("judges", "judges", "d"),
    *(
        Column(name, field, "+.0f")
        for name, field in (
            ("least", "least"),
            ("Q1", "q1"),
            ("median", "median"),
            ("Q3", "q3"),
            ("most", "most"),
        )
    ),
)
"""A row per anchor and model (`OverJudges`), Elo points."""
RULE_WORDS: dict[Rule, str] = {"run_sd": "repeats", "confidence": "confidence"}
CHANGED = (
    Column("model", "model", ""),
    Column("judged prompts", "n", ",d"),
    Column("kept", "kept", ",d"),
    Column("p", "p"),
    Column("p without", "p_after"),
    Column("change of p", "delta", "+.3f"),
    Column("Elo", "elo", "+.0f"),
    Column("Elo without", "elo_after", "+.0f"),
)
"""A row per model at one threshold (`Changed`)."""
SUBSAMPLES = (
    Column("model", "model", ""),
    Column("n", "n", "d", "prompts in a subsample"),
    Column("of", "pool", "d", "prompts"),
    Column("formula", "se_finite", ".4f", "standard error of p, for so many of a finite pool"),
    Column("subsamples", "se_empirical", ".4f", "SD of p over subsamples"),
    Column("infinite pool", "se_analytic", ".4f", "standard error of p, for prompts without end"),
)
OUTSIDE = (
    Column("model", "model", ""),
    Column("score there", "outside_score", ".2f"),
    Column("Elo here", "elo", "+.0f"),
    Column("Elo there", "outside_elo", "+.0f", "moved to the same mean"),
    Column("difference", "difference", "+.0f", "there minus here"),
    Column("wins %", "p", ".1f", "win probability against the anchor here", scale=100),
    Column("wins % there", "outside_p", ".1f", "that its Elo there stands for", scale=100),
)
DEBIASED = (
    Column("model", "model", ""),
    Column("n labelled", "rate.n_labelled", "d", "comparisons with gold"),
    Column("n other", "rate.n_unlabelled", "d", "comparisons without gold"),
    Column(
        "wins %",
        "rate",
        ".1f",
        "as gold would judge all comparisons",
        ENDS,
        "95 % interval",
        scale=100,
    ),
    Column("judge %", "rate.judge", ".1f", "by the judge's votes alone", scale=100),
    Column(
        "labels %",
        "rate.labels",
        ".1f",
        "by the labelled comparisons alone",
        ("labels low", "labels high"),
        "95 % interval, made like that of wins %",
        scale=100,
    ),
    Column(
        "length ratio",
        "rate.gain",
        ".2f",
        "length of its interval against that by labels alone; below 1 the votes help",
    ),
    Column("weight", "rate.weight", ".2f", "weight of the judge's votes, 0 to 1"),
    Column(
        "Rogan–Gladen %",
        "two_class.rate",
        ".1f",
        "by sensitivity and specificity; without ties only",
        ("R–G low", "R–G high"),
        scale=100,
    ),
)
AGREEMENT = (
    Column("measure", lambda row: row[0], ""),
    Column("value", lambda row: row[1], ends=ENDS),
    Column("n", lambda row: row[2], "d"),
)
"""Rows of `outside_agreement`."""


def outside_agreement(found: OutsideComparison) -> list[tuple[str, Estimate | None, int]]:
    """How well two boards agree: measure, value and models."""
    known = {
        "Kendall τ": found.kendall,
        "Spearman ρ": found.spearman,
        "mean |difference|, Elo": found.mean_abs_elo,
        "mean |difference|, wins": found.mean_abs_p,
        f"top {found.top}, Jaccard": found.jaccard,
    }
    plain = {name: Estimate(one) if isinstance(one, float) else one for name, one in known.items()}
    return [(name, one, len(found.models)) for name, one in plain.items()]


def rating_columns(pooled: Mapping[str, Result]) -> tuple[Column, ...]:
    """Elo of each model of a board by every method."""

    def by(found: Result) -> Callable[[BoardRow], float | None]:
        elos = found.elos()
        return lambda row: elos[row.model].value if row.model in elos else None

    return (
        Column("model", "model", ""),
        Column("n", "n", "d"),
        Column("anchored Elo", lambda row: row.elo.value, "+.0f"),
        *(Column(METHOD_NAMES[method], by(found), "+.0f") for method, found in pooled.items()),
    )


def pooled_columns(pooled: Board) -> tuple[Column, ...]:
    """Mean of judges beside the board of all votes pooled."""
    elo = {row.model: row.elo.value for row in pooled.rows}
    return (
        Column("model", "model", ""),
        Column("n", "prompts", "d", "prompts"),
        Column(
            "mean Elo", "elo", "+.0f", "mean of the judges' Elo gaps", ENDS, "95 %, over prompts"
        ),
        Column(
            "pooled votes",
            lambda row: elo.get(row.model),
            "+.0f",
            "one board of all votes together",
        ),
        Column("SD of judges", "sd_judges", ".0f", "across judges, points"),
        Column("judges", "n_judges", "d"),
    )


def task_columns(found: BetweenTasks) -> tuple[Column, ...]:
    """Elo of each model over categories, and whether it depends on the category."""
    differ = {row.model for row in differing(found)}
    return (
        Column("model", "model", ""),
        Column(
            "SD",
            "tau",
            ".0f",
            "of its Elo between categories, beyond chance (τ)",
            ends_help="95 % interval",
        ),
        Column(
            "mean Elo",
            "mean",
            "+.0f",
            "over categories",
            ENDS,
            "95 %, for the mean over such categories",
        ),
        Column(
            "I² %",
            "i2",
            ".0f",
            "share of the variance between category boards that is not chance",
            scale=100,
        ),
        Column("Q", "q", ".1f"),
        Column("p", "p_value", ".2g", "of no difference, not adjusted"),
        Column(
            "differs",
            lambda row: row.model in differ,
            "",
            "p < .05 after Holm's adjustment over models",
        ),
        Column("categories", "n_tasks", "d"),
        Column("n", "prompts", "d", "prompts"),
    )


def other_ratings(found: RatingSpread) -> str:
    """Whether other ratings rank alike, and whether judges differ more or less under them."""
    others = [row for row in found.methods if row.method != RAEE]
    known = [row for row in others if row.kendall is not None]
    parts = []
    if known:
        n = known[0].n_rated
        listed = ", ".join(f"{row.kendall:.2f} by {METHOD_NAMES[row.method]}" for row in known)
        parts.append(f"Kendall τ of {n} models with their order by anchored Elo is {listed}.")
    else:
        parts.append(
            "Fewer than three models are rated by every method, so orders cannot be compared."
        )
    raee = found.methods[0]
    if raee.sd is None:
        parts.append("Dispersion needs two judges that rated the same models.")
        return " ".join(parts)
    parts.append(
        f"Among these judges a model's Elo has an SD of {_sd(raee.sd)} points "
        f"({raee.n_judges} judges, anchored Elo); "
        + "; ".join(_excess(row) for row in others)
        + "."
    )
    return " ".join(parts)


def judges(board: PooledBoard, found: Pooling | None) -> str:
    """What pooling judges gains: the interval of one and of all, and what theory predicts."""
    first = board.rows[0]
    who = (
        f"The mean of {first.n_judges} judges"
        if first.n_judges > 1
        else "The one judge that rated it"
    )
    leader = (
        f"{who} puts {first.model} first with {signed_elo(first.elo.value)} "
        f"Elo {elo_ends(first.elo)}."
    )
    if found is None:
        return leader
    one, everyone = found.sizes[0], found.sizes[-1]
    promised = (
        f"errors that correlate by ρ = {number(found.rho, '.2f')} predict "
        f"±{_width(everyone.predicted):.0f}"
    )
    if found.rho_runs is not None and everyone.predicted_runs is not None:
        runs = _width(everyone.predicted_runs)
        promised += (
            f", repeatability as ρ = {number(found.rho_runs, '.2f')} (as RAEE has it) ±{runs:.0f}"
        )
    return (
        f"{leader} One judge knows a model's Elo to ±{_width(one.observed.value):.0f} points, all "
        f"{everyone.size} pooled to ±{_width(everyone.observed.value):.0f}; {promised}."
    )


def judges_answer(board: PooledBoard, found: Pooling | None) -> Answer:
    """How much more closely all judges pooled know a model's Elo than one of them does."""
    first = board.rows[0]
    leader = f"{first.model} {difference(first.elo, scale=1, digits=0, unit=' Elo')}"
    if found is None:
        return Answer(
            headline="What pooling judges gains is unknown.", figures=line([leader]), good=False
        )
    one, everyone = found.sizes[0], found.sizes[-1]
    alone, together = _width(one.observed.value), _width(everyone.observed.value)
    whose = f"{in_words(everyone.size)} judges"
    if alone > CLOSER * together:
        more = f"{alone / together:.1f} times as closely" if together else "more closely"
        than = "as" if together else "than"
        headline = f"All {whose} pooled know a model's Elo {more} {than} one of them."
    else:
        headline = f"Pooling all {whose} tells hardly more of a model's Elo than one judge."
    runs = everyone.predicted_runs
    return Answer(
        headline=headline,
        figures=line(
            [
                f"one judge ±{alone:.0f} Elo",
                f"all {everyone.size} ±{together:.0f}",
                f"predicted ±{_width(everyone.predicted):.0f}"
                + (f", by repeatability ±{_width(runs):.0f}" if runs is not None else ""),
                leader,
            ]
        ),
    )


def screened(found: Screening, row: Screened) -> str:
    """What a cut leaves."""
    everyone = found.rows[0]
    if not row.judges:
        return (
            f"No judge repeats itself as well as that; of {len(everyone.judges)}, the best has "
            f"ICC(3,k) {number(max(found.icc.values()), '.2f')}."
        )
    dropped = [name for name in everyone.judges if name not in row.judges]
    if not dropped:
        several = len(everyone.judges) > 1
        who = (
            f"All {len(everyone.judges)} judges with repeats pass"
            if several
            else "The one judge passes"
        )
        width = (
            ""
            if everyone.width is None
            else f", and the mean interval is {everyone.width:.0f} Elo wide"
        )
        least = "the least repeatable" if several else "it"
        return f"{who}; {least} has ICC(3,k) {number(min(found.icc.values()), '.2f')}{width}."
    passing = (
        f"{len(row.judges)} of {len(everyone.judges)} judges "
        f"pass{'es' if len(row.judges) == 1 else ''}"
    )
    names = f"Dropped: {', '.join(dropped)}."
    if row.width is None or everyone.width is None:
        return f"{passing}; no model is rated at every cut, so widths cannot be compared. {names}"
    change = row.width - everyone.width
    apart = "as before"
    if round(abs(change)):
        apart = f"{abs(change):.0f} points " + (
            "wider, not narrower, as fewer judges average out less"
            if change > 0
            else "narrower, as fewer judges err together less"
        )
    return (
        f"{passing}; without the others the mean interval is {row.width:.0f} "
        f"Elo wide, {apart}. {names}"
    )


def abstained(found: Abstention, row: Abstained, changed: Sequence[Changed]) -> str:
    """What dropping doubtful prompts keeps and moves.

    The model named is the most changed of several, so its interval is widened for their number
    (`bonferroni_interval`) before it counts as more than chance.
    """
    what = (
        f"prompts on which a judge's runs differ by an SD above {row.threshold:g}"
        if found.rule == "run_sd"
        else f"prompts of which a judge is less than {percent(row.threshold or 0.0)} confident"
    )
    if not row.n:
        return f"Nothing is left without {what}."
    parts = [
        f"Without {what}, {percent(row.coverage)} of {found.n:,} judged prompts stay, and win "
        f"probabilities move by {100 * (row.delta_p or 0.0):.1f} points on average."
    ]
    if row.coverage < 1 and changed:
        most = changed[0]
        certain = bonferroni_interval(most.delta, len(changed)).excludes(0)
        parts.append(
            f"Most: {most.model}, {points(most.delta.value)} points {points_ends(most.delta)}, "
            f"{'more than chance' if certain else 'which may be chance'}."
        )
    error, before = row.se_elo or 0.0, found.rows[0].se_elo or 0.0
    parts.append(f"The mean standard error goes from {before:.0f} to {error:.0f} Elo.")
    return " ".join(parts)


def abstained_answer(found: Abstention, row: Abstained, changed: Sequence[Changed]) -> Answer:
    """Whether any model moves by more than chance without doubtful prompts, and the order."""
    moved = beyond_chance({one.model: one.delta for one in changed})
    return Answer(
        headline=without_doubtful("prompts", row.coverage, moved, row.kendall),
        figures=line(
            [
                f"{percent(row.coverage)} of {found.n:,} judged prompts stay",
                changed
                and row.n
                and f"{changed[0].model} {difference(changed[0].delta, unit=' points')}",
                row.kendall is not None and f"τ {row.kendall:.2f} with all prompts",
                row.se_elo is not None
                and f"SE {found.rows[0].se_elo or 0.0:.0f} Elo with all, {row.se_elo:.0f} without",
            ]
        ),
        good=bool(row.n) and not moved,
    )


def beyond_chance(changes: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The changes whose interval, widened for their number, lies on one side of 0."""
    return {
        name: delta
        for name, delta in changes.items()
        if bonferroni_interval(delta, len(changes)).excludes(0)
    }


def without_doubtful(
    what: str, coverage: float, moved: Mapping[str, Estimate], kendall: float | None
) -> str:
    """The headline of abstention: which model moves by more than chance, most first, and whether
    models keep their order.

    what : is dropped, prompts or responses.  kendall : τ of the order with that of all.
    """
    if coverage == 0:
        return f"Nothing is left at this threshold: judges doubt all their {what}."
    if coverage == 1:
        return f"No judge doubts any of its {what} at this threshold, so nothing changes."
    order = ""
    if kendall is not None:
        order = "; the order of models " + ("stays" if kendall > 1 - 1e-9 else "changes")
    if not moved:
        return f"Without doubtful {what} no model is shown to score differently{order}."
    model, delta = next(iter(moved.items()))
    how = "higher" if delta.value > 0 else "lower"
    others = {1: "", 2: " and one other changes"}.get(
        len(moved), f" and {in_words(len(moved) - 1)} others change"
    )
    return f"Without doubtful {what} {model} scores {how}{others}, beyond chance{order}."


def subsampled(found: SubsampleErrors) -> str:
    """Whether the closed-form error is what subsamples show."""
    if not len(found.n):
        return "No model has more prompts than the smallest subsample, so nothing can be compared."
    ratio = found.se_empirical / np.where(found.se_finite > 0, found.se_finite, np.nan)
    ratio = ratio[~np.isnan(ratio)]
    middle = float(np.median(ratio))
    verdict = (
        "too large: votes that tie or are averaged vary less"
        if middle < 1 - TOLERATED
        else "too small"
        if middle > 1 + TOLERATED
        else "right"
    )
    return (
        f"On subsamples of the prompts the win probability varies by {middle:.2f} times the "
        f"standard error of the formula (from {ratio.min():.2f} to {ratio.max():.2f} over "
        f"{len(set(found.model)):,} models), so that error is {verdict}."
    )


def tasks(found: BetweenTasks) -> str:
    """Whose Elo depends on the task by more than chance (Holm over models), and by how much."""
    tested = {row.model: row.tau for row in found.rows if row.tau is not None}
    if not tested:
        return (
            "No model met the anchor in two categories, so nothing is "
            "known of differences between them."
        )
    differ = [row.model for row in differing(found)]
    models = f"{len(tested)} model{'' if len(tested) == 1 else 's'}"
    among = f"of {models} over {len(found.boards)} categories"
    if not differ:
        most = max(tested, key=lambda model: (tested[model].value, tested[model].high))
        largest = f"the largest SD between categories is {_tau(tested[most])}, of {most}"
        if not tested[most].value:
            largest = (
                "what differs between categories is what chance explains, though an SD of up to "
                f"{tested[most].high:.0f} points ({most}) cannot be excluded"
            )
        return f"No Elo {among} is shown to depend on the category; {largest}."
    most = max(differ, key=lambda model: tested[model].value)
    verb = "depends" if len(differ) == 1 else "depend"
    return (
        f"The Elo of {len(differ)} {among} {verb} on the category by more than chance; most that "
        f"of {most}, by an SD of {_tau(tested[most])}."
    )


def over_judges_answer(rows: Sequence[OverJudges]) -> Answer:
    """On which model judges differ most, and least."""
    several = [row for row in rows if row.judges > 1]
    if not several:
        return Answer(
            headline="No model has a board of two judges, so how far they differ is unknown."
        )
    widest = max(several, key=lambda row: row.most - row.least)
    narrow = min(several, key=lambda row: row.most - row.least)
    least = "" if narrow is widest else f" and least on {narrow.model}"
    return Answer(
        headline=f"Judges differ most on {widest.model}{least}.",
        figures=line(
            [
                *(
                    f"{row.model} {signed(row.least, 0)} to {signed(row.most, 0)} Elo among "
                    f"{count(row.judges, 'judge')}"
                    for row in ([widest] if narrow is widest else [widest, narrow])
                ),
                count(len(several), "model"),
            ]
        ),
    )


def outside(found: OutsideComparison) -> str:
    """Whether an imported board ranks alike, and how far apart the two are."""
    n = len(found.models)
    left = f"{len(found.only_here)} here and {len(found.only_outside)} there have no partner"
    if n >= 3 and found.kendall is None:
        why = "All models of both boards are equal on one of them, so ranks cannot be compared"
        return f"{why}: {n} match, {left}."
    if found.kendall is None:
        return f"Too few models stand on both boards to compare them: {n} match, {left}."
    ends = order_ends(found.kendall)
    apart = (
        ""
        if found.mean_abs_elo is None or found.mean_abs_p is None
        else f"; after centring they differ by {found.mean_abs_elo:.0f} Elo, "
        f"{100 * found.mean_abs_p:.1f} points of win probability, a model on average"
    )
    return (
        f"On the {n} models of both boards, Kendall τ is {found.kendall.value:.2f}{ends}{apart}. "
        f"{left}."
    )


def outside_answer(found: OutsideComparison) -> Answer:
    """Whether an imported board ranks the models of both alike."""
    tau, n = found.kendall, len(found.models)
    if tau is None:
        headline = (
            "All models are equal on one of the boards, so ranks cannot be compared."
            if n >= 3
            else "Too few models stand on both boards to compare them."
        )
    elif tau.value > ALIKE:
        headline = "Both boards rank their common models alike."
    elif tau.low > 0:
        headline = "Both boards rank their common models similarly, but not alike."
    else:
        headline = "The other board is not shown to rank the common models as this one does."
    return Answer(
        headline=headline,
        figures=line(
            [
                tau and f"Kendall τ {measured(tau)}",
                found.mean_abs_elo is not None
                and f"{found.mean_abs_elo:.0f} Elo apart on average after centring",
                count(n, "common model"),
                f"{len(found.only_here)} here and {len(found.only_outside)} there without partner",
            ]
        ),
        good=tau is not None and tau.low > 0,
    )


def debiased(candidate: str, anchor: str, judge: str | None, found: DebiasedRate) -> str:
    """The score that gold would give, what the judge says alone, and whether its votes help.

    judge : None for all of them pooled.
    """
    low, high = percent(found.low), percent(found.high)
    shift = 100 * found.bias
    pronoun, says = (
        ("it scores", f"{judge} says") if judge else ("they score", "The judges pooled say")
    )
    wrong = (
        f"{pronoun} {candidate} {abs(shift):.1f} points {'too high' if shift > 0 else 'too low'} "
        "on average"
        if abs(shift) >= 0.05
        else f"{pronoun} {candidate} as gold does on average"
    )
    longer = max(found.high - found.low, found.labels.high - found.labels.low)
    shorter = min(found.high - found.low, found.labels.high - found.labels.low)
    share = round(100 * (1 - shorter / longer))
    if not found.n_unlabelled:
        helps = "Every comparison has gold, so the labels alone are the answer."
    elif found.low == found.high:
        helps = (
            "The judge is so far off where gold is known that its votes elsewhere lead beyond what "
            "a score can be: the labels are hardly a random part of all."
        )
    elif found.items_unlabelled < 2:
        helps = "Only one item has no gold, so the labels alone are the answer."
    elif found.weight == 0:
        helps = "The judge's votes are not worth following, and are not used."
    elif share == 0:
        helps = "The judge's votes change nothing: its interval is as long as by the labels alone."
    elif found.gain < 1:
        helps = (
            f"The judge's votes help: the interval is {share} % shorter than by the labels alone."
        )
    else:
        helps = (
            f"The judge's votes do not help: the labels alone give an interval {share} % shorter"
        )
        helps += "; a tuned weight follows the judge less." if found.weighting == "full" else "."
    return (
        f"{candidate} wins {percent(found.value)} against {anchor} ({low} to {high}), a tie being "
        f"half a win, as gold would judge all {found.n_labelled + found.n_unlabelled:,} "
        f"comparisons. {says} {percent(found.judge)}; on the {found.n_labelled:,} with gold "
        f"{wrong}. {helps}"
    )


def corrected(found: RoganGladen) -> str:
    """The two-class correction beside it, or why there is none."""
    rate = found.rate
    if rate is None or found.sensitivity is None or found.specificity is None:
        return f"Rogan–Gladen: not applicable, {found.reason}."
    hits = (
        f"from a sensitivity of {percent(found.sensitivity)} (n {found.n_a:,}) and a specificity "
        f"of {percent(found.specificity)} (n {found.n_b:,})"
    )
    if not rate.has_interval:
        return f"Rogan–Gladen: {percent(rate.value)} {hits}; {found.reason}."
    return (
        f"Rogan–Gladen: {percent(rate.value)} ({percent(rate.low)} "
        f"to {percent(rate.high)}), {hits}."
    )


def order_ends(tau: Estimate) -> str:
    """The interval of a Kendall τ over models, or why there is none."""
    if tau.has_interval:
        return f" ({tau.low:.2f} to {tau.high:.2f})"
    if tau.n < LEAST_FOR_INTERVAL:
        return f" (no interval: it needs {LEAST_FOR_INTERVAL} models)"
    return " (no interval: a perfect order gives no variance to estimate it from)"


def _excess(row: MethodSpread) -> str:
    """The interval is over models: it speaks of these judges on other models, not of other
    judges.
    """
    name = METHOD_NAMES[row.method]
    if row.sd is None or row.excess is None:
        return f"{name}: unknown"
    if not row.excess.excludes(0):
        return f"{name} {row.sd.value:.0f}, not shown to differ"
    return (
        f"{name} {row.sd.value:.0f}, "
        f"{'more' if row.excess.value > 0 else 'less'} on other models too"
    )


def _sd(sd: Estimate) -> str:
    ends = f" ({max(sd.low, 0):.0f} to {sd.high:.0f})" if sd.has_interval else ""
    return f"{sd.value:.0f}{ends}"


def _tau(sd: Estimate) -> str:
    return f"{sd.value:.0f} points ({sd.low:.0f} to {sd.high:.0f})"


def _width(variance: float) -> float:
    return 1.96 * math.sqrt(variance)
