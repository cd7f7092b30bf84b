"""What leaning on other labels does to a judge's error, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from core.aggregation.btd import Bounds, BTDFit
from core.aggregation.priors import Offer
from core.aggregation.shrinkage_gain import PairedChange, ShrinkageGain
from core.words.signed import signed, signed_span
from core.words.verdicts import percent

OFTEN = 0.25
"""Share of splits with ν on its bound from which so few labels are said not to settle it."""


def said(judge: str, offer: Offer, gain: ShrinkageGain, few: ShrinkageGain | None = None) -> str:
    """The change of error by leaning on a prior, with the share of labels and with the fewest, and beside
    the threshold."""
    value = gain.evaluation
    own, leaning, rule = (value.scores[key].mae for key in ("btd", "btd_shrunk", "threshold"))
    parts = [
        f"{judge}: with {percent(value.share)} of the items labelled ({value.calibration:,.0f} comparisons), "
        f"leaning on {offer.name} {_effect(gain.beside_btd, 'the error beside its own fit')}, from {own:.3f} "
        f"to {leaning:.3f} (n {value.n:,})."
    ]
    if few is not None:
        size = f"{few.evaluation.calibration:,.0f} labelled comparisons"
        parts.append(f"With {size} it {_effect(few.beside_btd, 'that error')}.")
    parts.append(f"Beside the plain threshold ({rule:.3f}) it {_effect(gain.beside_threshold, 'the error')}.")
    return " ".join(parts)


def helps(gain: ShrinkageGain) -> bool:
    """Whether the interval of the change beside BTD is below 0."""
    return gain.beside_btd.mae_high < 0


def bound(gain: ShrinkageGain, bounds: Bounds, whole: BTDFit | None = None) -> str:
    """How often ν ends on a bound, alone and with help: the sign that help is needed, unless more labels end
    there too.

    whole : own fit on every label, if there is one.
    """
    value = gain.evaluation
    low, high = bounds.nu
    counted = (
        f"ν, the pull towards ties, ends on a bound ({low:g} or {high:g}) in {gain.on_bound:,} of "
        f"{value.n_splits:,} own fits on {value.calibration:,.0f} labelled comparisons and in "
        f"{gain.on_bound_shrunken:,} of the shrunken ones."
    )
    if gain.on_bound < OFTEN * value.n_splits:
        return f"{counted} The labels settle it mostly by themselves."
    if whole is not None and "nu" in whole.at_bounds:
        return (
            f"{counted} So does the fit on all {whole.n_items:,} labels: this judge asks for it, and a prior "
            "of judges unlike it cannot help there."
        )
    return f"{counted} So few labels do not settle it alone: the sign that a prior may be needed."


def weighed(gain: ShrinkageGain) -> str:
    """How far cross-validation believed the prior, mean over the splits."""
    fits = gain.evaluation.shrunken
    assert fits is not None  # a gain has always compared it
    if len(fits.strengths) == 1:
        return f"λ is fixed at {fits.strengths[0]:g}: the prior counts the same whatever the labels say."
    weight = fits.to_frame()
    own, alone = float(weight["own_fit"].mean()), float(weight["prior_alone"].mean())
    between = max(0.0, 1 - own - alone)
    return (
        f"Cross-validation within the calibration sets gave the own fit {percent(own)} of the weight, the "
        f"prior alone {percent(alone)}, and fits between them {percent(between)} (mean of "
        f"{gain.evaluation.n_splits} splits)."
    )


def _effect(change: PairedChange, what: str) -> str:
    """The change in a verb, as far as its interval allows, and in numbers."""
    value, low, high = change.mae, change.mae_low, change.mae_high
    if high < 0:
        return f"lowers {what} by {_number(-value)} ({_number(-high)} to {_number(-low)})"
    if low > 0:
        return f"raises {what} by {_number(value)} ({_number(low)} to {_number(high)})"
    return f"is not shown to change {what} ({signed(value, 3)}, {signed_span(low, high, 3)})"


def _number(value: float) -> str:
    return f"{_rounded(value):.3f}"


def _rounded(value: float) -> float:
    # Adding 0 takes the sign from a rounded -0.
    return round(value, 3) + 0.0


def some(names: Sequence[str], *, most: int = 12) -> str:
    """Names in a row, the first ones if there are many."""
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more:,} more" if more > 0 else "")
