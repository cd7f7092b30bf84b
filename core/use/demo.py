"""The simulated demo's audit in the terminal: what an audit says, before there is a file."""

from __future__ import annotations

import argparse

from ..installation import PROGRAM, ROOT

VOTES = ROOT / "data" / "demo_votes.csv.gz"
ABOUT = (
    "Simulated votes of seven raters with planted biases: one is overconfident, one prefers the "
    "first answer, one hardly ever ties."
)


def demo(options: argparse.Namespace) -> int:
    """Run the command."""
    from ..auditing.options import AuditOptions
    from ..auditing.run import audit
    from ..importers import read
    from ..reporting.text import shortened
    from ..schema import Selection
    from ..store import Store

    readings = read([(VOTES.name, VOTES)])
    with Store.open() as store:
        for each in readings:
            store.load(each, simulated=True)
        audited = audit(store, Selection(), AuditOptions(splits=0), readings=readings)
    print(
        f"{ABOUT}\n\n{shortened(audited)}\n\nNext: {PROGRAM} doctor FILE, with votes of your own."
    )
    return 0
