"""Confidences of several kinds of one judge are never put together; plain pandas says what is
counted.
"""

import numpy as np
import pandas as pd
import pytest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.importers import read
from core.questions.confidence.calibration_error import calibration
from core.records import OutcomeCounts
from core.schema import Selection
from core.store import Store
from core.store.marks import Mark, count_behind
from core.store.vote_queries import confidence_counts, outcomes, weighed_votes

ALL = Selection()


def mixed(seed: int = 0) -> pd.DataFrame:
    """Judge m says what it believes on 120 items, its votes on 60 other items and its tokens on 30
    are far too sure; judge s states itself only, judge u what is not named.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for judge, kinds in (("m", ("self", "multi", "logprob")), ("s", ("self",)), ("u", ("",))):
        item = 0
        for kind, items in zip(kinds, (120, 60, 30), strict=False):
            for _ in range(items):
                sure = rng.choice([0.6, 0.7, 0.8, 0.9])
                right = rng.random() < (sure if kind in ("self", "") else 0.5)
                stated = sure if kind in ("self", "") else 0.99
                rows += [
                    (f"q{item}", "a", "b", judge, 0, order, 1 if right else -1, stated, kind, 1)
                    for order in ("ab", "ba")
                ]
                item += 1
    columns = ["item_id", "model_a", "model_b", "judge", "run", "position", "vote"]
    return pd.DataFrame(rows, columns=[*columns, "confidence", "confidence_kind", "gold"])


def stored(frame: pd.DataFrame) -> Store:
    store = Store.open(None)
    store.load(read([("votes.csv", frame.to_csv(index=False).encode())])[0])
    return store


def by_confidence(counts: OutcomeCounts) -> dict[float | None, tuple[int, int]]:
    table = pd.DataFrame({"c": counts.confidence, "n": counts.n, "k": counts.correct})
    summed = table.groupby("c", dropna=False)[["n", "k"]].sum()
    return {None if np.isnan(c) else c: (row.n, row.k) for c, row in summed.iterrows()}


def test_only_the_kind_with_most_items_is_counted() -> None:
    frame = mixed()
    with stored(frame) as store:
        counts = outcomes(store, ALL)
    kept = frame[frame["judge"] == "m"].assign(right=lambda rows: rows["vote"] == rows["gold"])
    kept["confidence"] = kept["confidence"].where(kept["confidence_kind"] == "self")
    wanted = kept.groupby("confidence", dropna=False)["right"].agg(["size", "sum"])
    assert by_confidence(counts["m"]) == {
        None if np.isnan(c) else c: (row["size"], row["sum"]) for c, row in wanted.iterrows()
    }
    kinds = {judge: (one.kind, one.other_kinds) for judge, one in counts.items()}
    assert kinds == {"m": ("self", ("multi", "logprob")), "s": ("self", ()), "u": (None, ())}
    # No verdict is lost: only what it states.
    assert counts["m"].n.sum() == 420
    assert (counts["m"].with_confidence().kind, counts["m"].with_confidence().n.sum()) == (
        "self",
        240,
    )


def test_the_ece_is_that_of_one_kind() -> None:
    """Pooled it is far from the one of `self`, which a selection of that kind has."""
    frame = mixed()
    one_kind = Selection(where=(("confidence_kind", "self"),))
    with stored(frame) as store:
        ece = calibration(outcomes(store, ALL)["m"].with_confidence()).ece
        alone = calibration(outcomes(store, one_kind)["m"]).ece
        other = outcomes(store, Selection(where=(("confidence_kind", "multi"),)))["m"]
    assert ece == pytest.approx(alone)
    assert (other.kind, other.other_kinds) == ("multi", ())
    own = frame[frame["judge"] == "m"]
    pooled = OutcomeCounts(
        item=np.arange(len(own)),
        confidence=own["confidence"].to_numpy(),
        n=np.ones(len(own), dtype=np.int64),
        correct=(own["vote"] == own["gold"]).to_numpy().astype(np.int64),
    )
    assert calibration(pooled).ece > ece + 0.05


def test_items_with_gold_decide_which_kind_it_is() -> None:
    frame = mixed()
    frame = frame[frame["judge"] == "m"].astype({"gold": object})
    frame.loc[frame["confidence_kind"] == "self", "gold"] = ""
    with stored(frame) as store:
        counts = outcomes(store, ALL)["m"]
    assert (counts.kind, counts.other_kinds) == ("multi", ("logprob", "self"))


def test_a_pair_of_orders_of_two_kinds_states_nothing() -> None:
    frame = mixed()
    changed = (frame["judge"] == "m") & (frame["position"] == "ba") & (frame["item_id"] == "q3")
    frame.loc[changed, "confidence_kind"] = "multi"
    with stored(frame) as store:
        pairs = outcomes(store, ALL, rule="both_orders")["m"]
    assert pairs.n.sum() == 210
    assert pairs.with_confidence().n.sum() == 119


def test_weights_and_marks_see_the_same_confidences() -> None:
    frame = mixed()
    with stored(frame) as store:
        stated = confidence_counts(store, ALL)["m"]
        weighed = weighed_votes(store, ALL)["m"]
        sure = count_behind(store, ALL, mark=Mark(judge="m", confidence=(0.95, 1.0)))
        every = count_behind(store, ALL, mark=Mark(judge="m", confidence=(0.0, 1.0)))
    assert np.nanmax(stated.confidence) == 0.9
    assert stated.n[~np.isnan(stated.confidence)].sum() == weighed.stated.sum() == 240
    assert (sure, every) == (0, 240)


def test_an_audit_says_which_kind_it_measures() -> None:
    with stored(mixed()) as store:
        audited = audit(store, ALL, AuditOptions())
        alone = outcomes(store, Selection(where=(("confidence_kind", "self"),)))["m"]
    judge = next(one for one in audited.judges if one.judge == "m")
    assert judge.calibration.n == alone.n.sum()
    assert judge.calibration.ece == pytest.approx(calibration(alone).ece)
    notes = [note for note in audited.notes if "several kinds" in note]
    assert notes == [
        "m: its confidences are of several kinds, which are not put together: 'self', which most "
        "items have, is measured and 'multi' and 'logprob' left out; filter by confidence_kind for "
        "another."
    ]
