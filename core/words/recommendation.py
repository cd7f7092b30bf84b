"""Which rule should turn the votes of a judge into labels: an evaluation in, one plain sentence out."""

from __future__ import annotations

from core.aggregation.evaluation import SIGNIFICANCE, Evaluation, MethodScore
from core.words.spans import span
from core.words.verdicts import Grade, Verdict, percent


def recommend(judge: str, value: Evaluation, *, most_votes: int) -> Verdict:
    """Say which rule errs least, whether majority would do, and what cannot be told apart from the best.

    `ok`: majority is in the top cluster, or a paired test does not tell it from the best rule, so nothing is
    to be changed. `warn`: another rule is better. `fail`: a dummy is in the top cluster, so no rule is shown
    to beat labels without any vote. `unknown`: an evaluation without resamples, which knows no cluster. Ours.
    most_votes : most votes that a comparison has; with one there is nothing to aggregate, and that is said.
    """
    scores = list(value.scores.values())
    best, majority = scores[0], value.scores["majority"]
    calibration = (
        "0 is always right, 2 always the opposite; "
        f"n {value.n:,} labelled comparisons, {value.calibration:,.0f} of them to calibrate on"
    )

    alone = (
        "" if most_votes > 1 else " No comparison has a second vote: a rule can only keep one or call a tie."
    )

    def verdict(grade: Grade, sentence: str) -> Verdict:
        return Verdict(judge=judge, check="aggregation", verdict=grade, sentence=sentence + alone)

    if best.top_cluster is None:
        against = "" if best is majority else f" against majority's {majority.mae:.3f}"
        return verdict("unknown", f"{best.name} errs least: average error {best.mae:.3f}{against}.")
    top = [score for score in scores if score.top_cluster]
    dummies = [score for score in top if score.dummy]
    if dummies:
        if best.dummy:
            found = f"{best.name} labels, without any vote, err least: average error {_error(best)}"
            found += f", majority's is {_error(majority)}"
        else:
            found = f"{best.name} has an average error of {_error(best)}"
            found += "".join(f", {score.name.lower()} labels {score.mae:.3f}" for score in dummies)
        return verdict("fail", f"No rule is shown to beat labels without any vote. {found} ({calibration}).")
    p = value.majority_p_value
    if majority.top_cluster or (p is not None and p > SIGNIFICANCE):
        if f"{best.mae:.3f}" == f"{majority.mae:.3f}":
            found = f"Majority is enough: no rule errs less than its average error of {_error(majority)}"
        else:
            found = (
                f"Majority is enough: its average error {_error(majority)} is not told apart from the least, "
                f"{best.mae:.3f} of {best.name}"
            )
        return verdict("ok", f"{found}{_btd(value, best)} ({calibration}).")
    less = 1 - best.mae / majority.mae
    found = (
        f"{best.name} labels better than majority: average error {_error(best)} against {_error(majority)}, "
        f"{percent(less)} less"
    )
    level = [score.name for score in top if score is not best and score.key != "btd"]
    if level:
        found += f"; not told apart from it: {', '.join(level)}"
    return verdict("warn", f"{found}{_btd(value, best)} ({calibration}).")


def _error(score: MethodScore) -> str:
    return f"{score.mae:.3f} ({span(score.mae_item_low, score.mae_item_high)})"


def _btd(value: Evaluation, best: MethodScore) -> str:
    """BTD's own place, where it is neither best nor left out."""
    btd = value.scores.get("btd")
    if btd is None or btd is best:
        return ""
    if btd.top_cluster:
        return f"; BTD is level with it at {btd.mae:.3f}"
    return f"; BTD is behind at {btd.mae:.3f}"
