"""Overconfidence and fusers, item by item: [TH]."""

from __future__ import annotations

from . import confidence
from .record import PROMPTS, place

_reliability = place("TH", "calibration", "Reliability")
_near = place("TH", "th_score")
_collect = place("TH", "collect")
_juries = place("TH", "juries")
_SIX = ("accuracy", "ece", "ace", "brier", "mce", "nll")
_KINDS = ("judge", "confidence", *_SIX)
_NEAR = ("judge", "epsilon", "th", "share", "accuracy")

ITEMS = (
    _reliability(
        "Figures 1, 3, 6–10",
        "reliability diagrams",
        confidence.bins,
        ("judge", "low", "high", "confidence", "n"),
        field="judges.*.calibration.bins",
    ),
    _near(
        "Figure 3, gaps",
        "the gap in the high and the low region",
        confidence.near_certain,
        ("high_n", "high_accuracy", "low_n", "low_accuracy"),
    ),
    _reliability(
        "Figure 1, example", "an error with high confidence", confidence.surest_errors, ("judge",)
    ),
    _collect("§3.1, SC", "stated confidence at temperature 0", command="collect --preset th-self"),
    _reliability(
        "§3.1, MP",
        "share of repeated votes",
        confidence.measures,
        _KINDS,
        field="judges.*.confidences",
        ours="votes that split evenly are as sure as the share of either side",
    ),
    _collect(
        "§3.1, LogP",
        "largest token probability over the options",
        command="collect --confidence logprob",
        field="judges.*.confidences",
    ),
    place("TH", "papers")(
        "Figure 2",
        "one item under every setting",
        confidence.one_item,
        ("judge", "setting", "verdict", "confidence", "right"),
    ),
    _reliability(
        "Tables 1, 2, 6",
        "settings of one judge side by side",
        confidence.measures,
        _KINDS,
        field="judges.*.confidences",
    ),
    _reliability(
        "§3.2",
        "ECE, MCE, Brier score and NLL",
        confidence.measures,
        _KINDS,
        field="judges.*.calibration",
    ),
    _reliability(
        "Table 3, ACE",
        "adaptive calibration error",
        confidence.measures,
        ("ace",),
        field="judges.*.calibration.ace",
        ours="bins of equal mass that never split equal confidences: the paper leaves bins open",
    ),
    _reliability(
        "Table 1",
        "accuracy, six measures and TH-Score by judge",
        confidence.measures,
        (*_KINDS, "th_0.1"),
        field="judges.*.confidences",
    ),
    place("TH", "calibration")(
        "§3.3",
        "what counts as right",
        command="audit VOTES --correctness both_orders",
        ours="each vote alone, or both orders together: the paper does not say",
    ),
    _near(
        "§4.1",
        "TH-Score",
        confidence.near_certain,
        _NEAR,
        field="judges.*.calibration.th",
        ours="the formula; the printed tables hold half of it, beside as th_published",
    ),
    _near(
        "§4.1, bands",
        "verdicts nearly certain to be right, or wrong",
        confidence.near_certain,
        ("high_n", "low_n"),
    ),
    _near(
        "§4.2, Table 4",
        "TH-Score at ε .05, .10 and .15",
        confidence.near_certain,
        _NEAR,
        field="judges.*.calibration.th",
    ),
    _juries(
        "Table 3, ε", "ε .1 by default", confidence.jury, ("epsilon", "th"), field="jury.rows.th"
    ),
    _near(
        "§4.1, low",
        "accuracy of verdicts of low confidence",
        confidence.near_certain,
        ("low_n", "low_accuracy"),
    ),
    _juries(
        "§5",
        "a model fuses verdicts, confidences and critiques",
        confidence.jury,
        ("name", "kind", "accuracy"),
        field="jury.rows",
    ),
    _collect(
        "A.4", "prompt of the fuser", command="collect --protocol fuser", ours=PROMPTS, differs=True
    ),
    _collect(
        "A.2, A.3",
        "prompts of the settings",
        command="collect --preset th-multi",
        ours=PROMPTS,
        differs=True,
    ),
    _juries(
        "§5.1, majority",
        "majority, ties by the highest confidence",
        confidence.jury,
        ("name", "accuracy"),
        field="jury.rows",
    ),
    _juries(
        "§5.1, weights",
        "votes weighed by confidence and its square root",
        confidence.jury,
        ("name", "accuracy"),
        field="jury.rows",
    ),
    _juries(
        "§5.1, entropy",
        "votes weighed by inverse entropy",
        confidence.jury,
        ("name", "accuracy"),
        field="jury.rows",
        ours="weight c/(H(c) + 1e−6): the paper says no more than inverse entropy",
    ),
    _juries(
        "Tables 5, 7",
        "fusers and rules: accuracy, six measures, TH-Score",
        confidence.jury,
        ("name", "kind", "accuracy", "ece", "ace", "brier", "mce", "nll", "th"),
        field="jury.rows",
    ),
    _juries(
        "Tables 5, 7, change",
        "each fuser minus the same model alone, on all measures",
        confidence.fusers,
        ("fuser", "alone", *(f"{name}_change" for name in _SIX)),
        field="jury.rows.against_alone",
    ),
    _juries(
        "Figure 5, §5.3",
        "right and wrong departures from the majority",
        confidence.jury,
        ("differs", "right", "wrong"),
        field="jury.rows",
    ),
    place("TH", "juries", "Without one judge")(
        "§5.2",
        "a jury without one of its members",
        confidence.without,
        ("rule", "without", "change"),
        field="jury.without",
    ),
    place("TH", "calibration", "Threshold")(
        "§1",
        "accept by confidence, or hand to people",
        confidence.thresholds,
        ("judge", "threshold", "coverage", "bound"),
        ours="with a promise on the error, which the paper has not",
    ),
)
