"""The ways in which the papers ask, as named options: their fields in the project's own words.

The words of the prompts are ours, and so is what a paper leaves to its reader; `--preset NAME` says
where they differ. Any option that is given besides wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InvalidOption
from .prompts import FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a name stands for.

    purpose : a sentence what it is for.  ours : where it differs from the paper, or fills it in.
    options : of a job, by the names of its fields.  prompt : file of its prompt; None: the
        project's own for the protocol.
    """

    purpose: str
    ours: str
    options: dict[str, Any]
    prompt: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Options as a command line gives them."""
        named = {} if self.prompt is None else {"prompt": str(FOLDER / "presets" / self.prompt)}
        return {**self.options, **named}

    @property
    def sentence(self) -> str:
        """What it is for, and what is ours."""
        return f"{self.purpose} {self.ours}"


PRESETS = {
    "btd-wmt": Preset(
        purpose="Translations compared with ties allowed, 12 votes in both orders, for labels by "
        "Bradley–Terry–Davidson.",
        ours="The words and a temperature of 1 are ours.",
        options={"protocol": "pairwise", "votes": 12, "orders": "balanced", "temperature": 1.0},
        prompt="btd-wmt.md",
    ),
    "th-self": Preset(
        purpose="One verdict with the confidence that the judge states itself, for calibration and "
        "the TH-Score.",
        ours="The words are ours, confidence is 0 to 1, and the responses stand in one order at "
        "temperature 0.",
        options={
            "protocol": "pairwise",
            "votes": 1,
            "orders": "ab",
            "confidence": "self",
            "temperature": 0.0,
        },
    ),
    "th-multi": Preset(
        purpose="Confidence as the share of repeated verdicts that agree.",
        ours="It repeats one prompt 8 times at temperature 1, half in each order, where the paper "
        "varies the prompt.",
        options={
            "protocol": "pairwise",
            "votes": 8,
            "orders": "balanced",
            "confidence": "multi",
            "temperature": 1.0,
        },
    ),
    "pcf": Preset(
        purpose="Lists scored and ranked in 7 orders, with flags for major errors and unsupported "
        "details, for a permutation consensus.",
        ours="The words and a temperature of 0 are ours.",
        options={"protocol": "listwise", "votes": 7, "temperature": 0.0},
    ),
    "raee-reference": Preset(
        purpose="A model against an anchor in both orders, with a reference answer in the prompt "
        "(column reference), for anchored Elo.",
        ours="The words, one vote in each order and a temperature of 0 are ours.",
        options={"protocol": "pairwise", "votes": 2, "orders": "balanced", "temperature": 0.0},
        prompt="raee-reference.md",
    ),
}


def preset(name: str) -> Preset:
    """The preset of a name. Raises InvalidOption if there is none."""
    if name not in PRESETS:
        raise InvalidOption(
            "{option} {name}: one of {known}", option="preset", name=name, known=sorted(PRESETS)
        )
    return PRESETS[name]
