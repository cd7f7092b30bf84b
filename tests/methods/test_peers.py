"""The benchmark beside other packages: what it plants is there, and its table counts what was said."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FAULTS, NAMES, named, ours, rows_of, table


def test_pairs_have_the_planted_fault_and_no_other() -> None:
    rng = np.random.default_rng(0)
    first = {}
    for fault in ("none", "first slot", "coin"):
        rows = rows_of("pairs", fault, 4000, rng)
        first[fault] = np.mean([row["slot"] == "A" for row in rows])
        right = np.mean([row["choice"] == row["gold"] for row in rows])
        assert (right < 0.55) == (fault == "coin")
    assert abs(first["none"] - 0.5) < 0.02
    assert first["first slot"] > 0.6
    longer = [
        (row["choice"] == "A") == (row["length_a"] > row["length_b"])
        for row in rows_of("pairs", "length", 4000, rng)
    ]
    assert np.mean(longer) > 0.65


def test_our_audit_names_what_is_planted_and_leaves_a_clean_judge_alone() -> None:
    for kind, fault in (("scores", "lenient one level"), ("passed", "always passes")):
        flags, _ = ours(kind, rows_of(kind, fault, 300, np.random.default_rng(1)))
        assert named("ours", kind, fault) in flags
        assert not ours(kind, rows_of(kind, "none", 300, np.random.default_rng(1)))[0]


def test_the_table_counts_flags_that_name_the_fault() -> None:
    found = [
        {"file": f"scores-inverted-60-{k}", "tool": "judgekeeper", "flags": flags, "seconds": 0.5}
        for k, flags in enumerate((["not_trustworthy"], [], ["x"]))
    ]
    lines = table(found, 3)
    (row,) = (line for line in lines if line.startswith("| scores: inverted"))
    assert "2 of 3" in row
    assert "0.500" in lines[-1]
    for tool, names in NAMES.items():
        faults = {fault for each in FAULTS.values() for fault in each}
        assert {name.split(" ", 1)[-1] if name.startswith(("passed", "pairs")) else name
                for name in names} <= faults, tool  # fmt: skip
