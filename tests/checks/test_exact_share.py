"""The exact share of an audit: items weigh alike, and its interval counts items."""

import numpy as np
import pandas as pd
import pytest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import read
from core.schema import Selection
from core.stats.intervals import wilson_by_item
from core.store import Store

VOTES = (1, 2, 4, 16)
"""Votes of an item, all alike: the fewer items, the more one of them can decide a share by vote."""


def audited(rng: np.random.Generator, items: int, right: float) -> tuple[pd.DataFrame, object]:
    n = rng.choice(VOTES, items, p=(0.4, 0.3, 0.2, 0.1))
    hit = rng.random(items) < right
    frame = pd.DataFrame(
        {
            "item_id": np.arange(items).repeat(n),
            "model_a": "a",
            "model_b": "b",
            "judge": "j",
            "run": np.concatenate([np.arange(k) for k in n]),
            "vote": np.where(hit, 1, -1).repeat(n),
            "gold": 1,
        }
    )
    with Store.open(None) as store:
        store.load(read([("votes.csv", frame.to_csv(index=False).encode())])[0])
        return frame, audit(store, Selection(), AuditOptions()).judges[0].exact


def test_the_share_of_an_audit_is_the_mean_over_items() -> None:
    frame, found = audited(np.random.default_rng(3), 40, 0.8)
    right = (frame["vote"] == frame["gold"]).groupby(frame["item_id"]).mean()
    assert found.value == pytest.approx(right.mean())
    assert abs(found.value - (frame["vote"] == frame["gold"]).mean()) > 0.005
    assert found.n == len(frame)
    n = frame.groupby("item_id").size().to_numpy()
    expected = wilson_by_item(np.arange(40), n, n * right.to_numpy())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
