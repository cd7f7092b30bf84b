"""Makes the example files of `data/`, from simulated votes: `python tests/packaging/make_examples.py`.

Each has an honest judge and one with a planted fault; the second is written in words of its own, to
try how a file in another layout is read.
"""

import sys
from pathlib import Path

import pandas as pd
from places import REPOSITORY

from core.simulate.votes import write_demo

DATA = REPOSITORY / "data"
SEED, ITEMS, EACH = 11, 60, 2
HONEST = "sim-judge-careful"
FIRST_SHOWN, OVERCONFIDENT = "example_first_shown.csv", "example_overconfident.csv"
SAYS = {"ab": {1: "left", 0: "draw", -1: "right"}, "ba": {1: "right", 0: "draw", -1: "left"}}
"""Order shown → vote → which side it is for, as a person at the screen would write it."""


def votes(folder: Path, judge: str) -> pd.DataFrame:
    """One run in both orders of the honest judge and another, on two comparisons of each item."""
    write_demo(folder / "all.csv.gz", seed=SEED, items=ITEMS)
    frame = pd.read_csv(folder / "all.csv.gz")
    frame = frame[
        frame["judge"].isin([HONEST, judge]) & (frame["run"] == 0) & (frame["status"] == "ok")
    ]
    models = frame["model_a"] + frame["model_b"]
    place = models.groupby(frame["item_id"]).transform(lambda own: pd.factorize(own)[0])
    return frame[place < EACH].reset_index(drop=True)


def first_shown(folder: Path) -> pd.DataFrame:
    """The canonical columns, with texts."""
    names = [
        "item_id",
        "category",
        "model_a",
        "model_b",
        "judge",
        "position",
        "vote",
        "confidence",
        "gold",
    ]
    return votes(folder, "sim-judge-first-slot")[[*names, "prompt", "response_a", "response_b"]]


def overconfident(folder: Path) -> pd.DataFrame:
    """Columns and labels in other words; left and right are the places on the screen."""
    found = votes(folder, "sim-judge-boaster")
    left = [row.model_a if row.position == "ab" else row.model_b for row in found.itertuples()]
    right = [row.model_b if row.position == "ab" else row.model_a for row in found.itertuples()]
    says, truth = (
        [SAYS[order][label] for order, label in zip(found["position"], found[column], strict=True)]
        for column in ("vote", "gold")
    )
    return pd.DataFrame(
        {
            "grader": found["judge"],
            "question_no": found["item_id"],
            "left_system": left,
            "right_system": right,
            "grader_says": says,
            "certainty_pct": (100 * found["confidence"]).round().astype(int),
            "true_answer": truth,
        }
    )


def make(folder: Path, scratch: Path) -> None:
    first_shown(scratch).to_csv(folder / FIRST_SHOWN, index=False, lineterminator="\n")
    overconfident(scratch).to_csv(folder / OVERCONFIDENT, index=False, lineterminator="\n")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        make(DATA if len(sys.argv) < 2 else Path(sys.argv[1]), Path(place))
