"""The simulated demo's audit in the terminal: what an audit says, before there is a file."""

from __future__ import annotations

import argparse

from ..installation import PROGRAM, ROOT

VOTES = ROOT / "data" / "demo_votes.csv.gz"


def demo(options: argparse.Namespace) -> int:
    """Run the command."""
    from ..auditing.options import AuditOptions
    from ..auditing.run import audit
    from ..importers import read
    from ..reporting.text import shortened
    from ..schema import Selection
    from ..simulate.votes import DEMO_DATASET
    from ..store import Store
    from .story import story

    readings = read([(VOTES.name, VOTES)])
    with Store.open() as store:
        for each in readings:
            store.load(each, simulated=True)
        audited = audit(
            store, Selection(datasets=(DEMO_DATASET,)), AuditOptions(splits=0), readings=readings
        )
    told = "\n".join(story(audited))
    print(f"{told}\n\n{shortened(audited)}\n\nNext: {PROGRAM} doctor FILE, with votes of your own.")
    return 0
