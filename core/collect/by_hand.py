"""Replies that could not be read, settled by a person who reads them."""

from __future__ import annotations

import json
from dataclasses import replace

from ..errors import InvalidOption
from ..store import Store
from ..store.ledger import Reply
from .job import Job
from .ledger_rows import ledger_of

MOST_SHOWN = 200
"""Replies that are looked up at a time."""
SETTLED = {"settled": "by hand"}
"""What the ledger keeps in `body` of a reply whose verdict a person read."""


def unread(job: Job, store: Store, *, most: int = MOST_SHOWN) -> list[Reply]:
    """Replies of a job's judges that could not be read, by item, judge, order and run."""
    keys = store.query(
        """select key from replies
           where dataset = $dataset and task = 'vote' and status = 'unparsed'
             and judge in (select unnest($judges::varchar[]))
           order by item_id, judge, position, run limit $most""",
        {"dataset": job.dataset, "judges": list(job.voters), "most": most},
    )
    found = ledger_of(job, store).answered(keys.column("key").to_pylist())
    return sorted(found.values(), key=lambda r: (r.item_id, r.judge, r.position, r.run))


def settle(job: Job, store: Store, key: str, slot_vote: int) -> Reply:
    """Make a vote of a reply that could not be read; its text, model and cost stay with it.

    slot_vote : +1 the response shown first is better, −1 the second, 0 a tie.

    Raises InvalidOption: there is no such reply, it was settled or read meanwhile, or the job has
    no ties.
    """
    if slot_vote not in (-1, 0, 1) or (slot_vote == 0 and not job.ties):
        raise InvalidOption(f"A vote of {slot_vote}: it is 1, −1, or 0 where ties are allowed")
    ledger = ledger_of(job, store)
    kept = ledger.answered([key]).get(key)
    if kept is None or kept.status != "unparsed":
        raise InvalidOption("This reply is not one that waits to be read")
    body = json.loads(kept.body or "{}") | SETTLED
    vote = -slot_vote if kept.position == "ba" else slot_vote
    settled = replace(kept, status="ok", vote=vote, body=json.dumps(body))
    ledger.look([key], {kept.judge})
    ledger.write([settled])
    return settled
