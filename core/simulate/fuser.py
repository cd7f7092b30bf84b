"""A fuser beside the demo's votes: one model that reads what the judges said and decides.

The model (ours; [TH] §5 asks a language model). Of every judge k of a comparison it reads the label
l_k that most of its votes have and the mean confidence c_k of these votes. A label's weight is
W_l = Σ over judges with l_k = l of c_k/(H(c_k) + .05), H the binary entropy in nats. With chance
`FOLLOWS` the fuser says the label of the greatest weight, else what its own model says alone, l_f.
It states the share of the weight behind the label that it says, at least ⅓, rounded to .05.

So its accuracy is FOLLOWS·(that of the heaviest label) + (1 − FOLLOWS)·(that of its model), up to
chance: what it gains on its model alone is planted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidOption
from ..records import FloatArray
from .votes import DEMO_ITEMS, World, coded_words, demo_world, seeded, simulate, write_table

if TYPE_CHECKING:
    import pyarrow as pa

MODEL = "sim-judge-boaster"
FOLLOWS = 0.9
LABELS = (-1, 0, 1)
KEPT = ("dataset", "item_id", "category", "model_a", "model_b")


def weight(confidence: FloatArray) -> FloatArray:
    """c/(H(c) + .05): a verdict that is surer weighs more."""
    c = np.clip(confidence, 1e-9, 1 - 1e-9)
    return np.asarray(c / (0.05 - c * np.log(c) - (1 - c) * np.log(1 - c)))


def simulate_fuser(world: World, *, items: int, votes_seed: int, seed: int) -> pa.Table:
    """The fuser's verdict on every comparison of the world's votes with that seed.

    Raises InvalidOption for fewer than one item, and where the world has no judge of its name.
    """
    import pyarrow as pa

    if items < 1:
        raise InvalidOption(f"--items {items}: at least one item")
    if MODEL not in {judge.name for judge in world.judges}:
        raise InvalidOption(f"World: no judge {MODEL!r}, whose model the fuser is")
    judges = [judge.name for judge in world.judges if judge.states_confidence]
    votes = simulate(world, items=items, rng=seeded(votes_seed)).to_pandas()
    by_comparison = list(KEPT)
    stated = votes[votes["judge"].isin(judges) & (votes["status"] == "ok")]
    said = stated.groupby([*by_comparison, "judge", "vote"], sort=False)["confidence"].agg(
        ["size", "mean"]
    )
    # Of labels that equally many votes have, the surer one.
    said = said.reset_index().sort_values(["size", "mean"], kind="stable")
    said = said.drop_duplicates([*by_comparison, "judge"], keep="last")
    said["weight"] = weight(said["mean"].to_numpy())
    table = said.pivot_table(
        index=by_comparison, columns="vote", values="weight", aggfunc="sum", fill_value=0.0
    ).reindex(columns=list(LABELS), fill_value=0.0)
    own = said[said["judge"] == MODEL].set_index(by_comparison)["vote"].reindex(table.index)
    comparisons = votes.drop_duplicates(by_comparison).set_index(by_comparison)
    table, own = table.reindex(comparisons.index), own.reindex(comparisons.index)
    heavy, rng = table.to_numpy(), seeded(seed)
    leads = np.array(LABELS)[heavy.argmax(axis=1)]
    follows = (rng.random(len(leads)) < FOLLOWS) | own.isna().to_numpy()
    label = np.where(follows, leads, own.fillna(0).to_numpy()).astype(np.int64)
    share = heavy[np.arange(len(label)), label + 1] / heavy.sum(axis=1)
    rows = comparisons.reset_index()
    return pa.table(
        {name: pa.array(rows[name].tolist(), pa.string()) for name in KEPT}
        | {
            "judge": coded_words([f"fuser({MODEL})"], np.zeros(len(label), dtype=np.int64)),
            "vote": label,
            "confidence": np.round(np.maximum(share, 1 / 3) * 20) / 20,
            "confidence_kind": coded_words(["self"], np.zeros(len(label), dtype=np.int64)),
            "gold": rows["gold"].to_numpy(dtype=np.int64),
            "length_a": rows["length_a"].to_numpy(dtype=np.int64),
            "length_b": rows["length_b"].to_numpy(dtype=np.int64),
        }
    )


def write_demo_fuser(path: Path, *, seed: int, items: int = DEMO_ITEMS) -> int:
    """Write the demo's fuser, which read the votes of the same seed, and return its verdicts."""
    return write_table(
        simulate_fuser(demo_world(), items=items, votes_seed=seed, seed=seed + 1), path
    )
