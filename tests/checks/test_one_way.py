"""A count goes one way: from its query through its method to its check, in few changes of module."""

import sys

from places import REPOSITORY

from core.auditing.options import AuditOptions
from core.finding.evidence import Counted
from core.importers import read
from core.questions.order.check import POSITION
from core.schema import Selection
from core.store import Store
from core.store.browse import summary

LEAVES = ("stats/", "records.py", "finding/wording.py", "schema.py")
"""Helpers that every room calls and that call none."""
MOST_CHANGES = 10


def room(path: str) -> str:
    """The store is one place, whichever of its modules runs; elsewhere a module is one."""
    return "store" if path.startswith("store/") else path


def test_the_position_check_is_a_short_way_from_its_query() -> None:
    calls: list[str] = []

    def seen(frame, event, _):
        path = frame.f_code.co_filename.partition("/core/")[2]
        named = not frame.f_code.co_name.startswith("<")
        if event == "call" and path and named and not path.startswith(LEAVES):
            calls.append(path)

    file = REPOSITORY / "data" / "example_first_shown.csv"
    with Store.open(None) as store:
        for reading in read([(file.name, file)]):
            store.load(reading)
        with store.snapshot() as moment:
            about = summary(moment, Selection())
            counted = Counted(
                lambda query, **given: query(moment, Selection(), **given),
                about,
                AuditOptions(splits=0),
            )
            # A second thread's profile, if a debugger has set one, comes back.
            before = sys.getprofile()
            sys.setprofile(seen)
            try:
                result = POSITION.result(counted.of(about.judges[0].name))
            finally:
                sys.setprofile(before)
    assert result.sentence.startswith("The response shown first gains")
    way = [room(path) for path in calls[calls.index("store/vote_queries.py") :]]
    changes = [place for place, last in zip(way[1:], way, strict=False) if place != last]
    assert len(changes) <= MOST_CHANGES, changes
    assert changes[0] == "questions/order/method.py"
