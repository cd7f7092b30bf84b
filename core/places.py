"""Names and addresses of the app's places, and where what had another address is now."""

from __future__ import annotations

PLACES = {
    "start": "Start",
    "verdict": "Verdict",
    "examples": "Examples",
    "improve": "Improve",
    "compare": "Compare",
    "label": "Label",
    "collect": "Collect",
}
"""Address → name. *Verdict* opens at the bare address too."""
LAB = {
    "calibration": "Reliability diagrams",
    "th_score": "TH-Score sweep",
    "position_bias": "Position bias",
    "leaning": "Other biases",
    "confusion": "Confusion matrices",
    "scores": "Scores",
    "votes_to_labels": "Calibrated aggregation",
    "leaderboard": "Anchor-swap leaderboard",
    "juries": "Juries",
    "listwise": "Listwise consensus",
    "agreement": "Agreement",
    "planning": "How many votes",
    "papers": "Papers",
}
"""Address → name of each method's page."""
NAMES = PLACES | LAB

MOVED = {
    ("overview", ""): ("verdict", ""),
    ("data", ""): ("start", ""),
    ("errors", ""): ("examples", ""),
    ("position-bias", ""): ("position_bias", ""),
    ("votes-to-labels", ""): ("votes_to_labels", ""),
    ("calibration", "Near-certain votes"): ("th_score", ""),
    ("position_bias", "What order does"): ("position_bias", ""),
    ("agreement", "All raters"): ("agreement", ""),
    ("agreement", "Two judges"): ("compare", "Two judges"),
    ("planning", "Transfer"): ("votes_to_labels", "Transfer"),
    ("planning", "Parameters"): ("votes_to_labels", "Parameters"),
    ("planning", "Compare"): ("compare", "Settings"),
    ("leaderboard", "Debiased"): ("leaning", "Own family"),
}
"""Address and tab of before → those of now; a tab that is not named stays as it is."""


def now(address: str, tab: str = "") -> tuple[str, str]:
    """Address and tab at which a page of before is now; those that never moved stay.

    >>> now("planning", "Compare"), now("data"), now("juries", "Rules")
    (('compare', 'Settings'), ('start', ''), ('juries', 'Rules'))
    """
    if (address, tab) in MOVED:
        return MOVED[address, tab]
    return MOVED.get((address, ""), (address, ""))[0], tab
