"""Outcome counts for tests, made by numpy and pandas alone so that no query of ours is trusted."""

import numpy as np
import pandas as pd

from core.records import OutcomeCounts


def of_votes(item, confidence, right) -> OutcomeCounts:
    """One verdict an entry, collapsed to distinct (item, confidence), those without one last."""
    item, right = np.fromiter(item, np.int64), np.fromiter(right, np.int64)
    confidence = np.fromiter(confidence, float)
    order = np.lexsort((confidence, item))
    item, confidence, right = item[order], confidence[order], right[order]
    # By rank, as a missing confidence is NaN, which differs from itself.
    value = np.unique(confidence, return_inverse=True)[1]
    first = np.flatnonzero(np.diff(item, prepend=-1) | np.diff(value, prepend=-1))
    return OutcomeCounts(
        item=item[first],
        confidence=confidence[first],
        n=np.diff(first, append=len(item)),
        correct=np.add.reduceat(right, first) if len(first) else right,
    )


def of_judge(shared_data, name, judge) -> OutcomeCounts:
    """Every vote of a judge on comparisons with gold, rule `single`, from a real file."""
    votes = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz")
    votes = votes[(votes["judge"] == judge) & votes["gold"].notna() & votes["vote"].notna()]
    return of_votes(
        pd.factorize(votes["item_id"])[0], votes["confidence"], votes["vote"] == votes["gold"]
    )
