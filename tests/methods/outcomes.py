"""Outcome counts for tests, made by pandas alone so that no query of ours is trusted."""

import numpy as np
import pandas as pd

from core.records import OutcomeCounts


def of_votes(item, confidence, right) -> OutcomeCounts:
    """One verdict an entry, collapsed to distinct (item, confidence)."""
    frame = pd.DataFrame({"item": list(item), "confidence": list(confidence), "right": list(right)})
    frame = frame.astype({"item": np.int64, "confidence": float, "right": np.int64})
    rows = (
        frame.groupby(["item", "confidence"], dropna=False)["right"]
        .agg(["size", "sum"])
        .reset_index()
    )
    return OutcomeCounts(
        item=rows["item"].to_numpy(np.int64, copy=True),
        confidence=rows["confidence"].to_numpy(float, copy=True),
        n=rows["size"].to_numpy(np.int64, copy=True),
        correct=rows["sum"].to_numpy(np.int64, copy=True),
    )


def of_judge(shared_data, name, judge) -> OutcomeCounts:
    """Every vote of a judge on comparisons with gold, rule `single`, from a real file."""
    votes = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz")
    votes = votes[(votes["judge"] == judge) & votes["gold"].notna() & votes["vote"].notna()]
    return of_votes(
        pd.factorize(votes["item_id"])[0], votes["confidence"], votes["vote"] == votes["gold"]
    )
