"""Replies that a full disk has no room for: a file beside the store, as large as what is in flight
may need, taken before anything is sent.

A process that ends does not take them with it: the next run of any job on the store reads them, and
pays for none again. The file is gone once the store has them.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ..errors import AppellateError
from ..store import Store
from ..store.ledger import Call, Reply

MARK = b"appellate replies 1\n"
BYTES_PER_TOKEN, BYTES_PER_REPLY = 8, 2_048
"""Room for one reply, packed: its text is kept twice, once as its rationale, and says four
characters with each token.
"""
LEAST, MOST = 2**18, 2**26


class Spare:
    """The file of one store.  path : of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def reserve(self, replies: int, tokens: int) -> None:
        """Take room for so many replies of at most so many tokens; what is in the file stays.

        Raises AppellateError: there is no room.
        """
        size = min(max(replies * (BYTES_PER_REPLY + BYTES_PER_TOKEN * tokens), LEAST), MOST)
        had = self.path.stat().st_size if self.path.exists() else 0
        if had >= size:
            return
        try:
            with self.path.open("ab") as file:
                # A file system that packs zeros would set nothing aside for them.
                file.write(os.urandom(size - had))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                os.truncate(self.path, had)
            raise AppellateError(
                f"{self.path} cannot be written ({error.strerror}), so nothing is sent: make room "
                f"for {size:,} bytes and for the replies, and try again"
            ) from None

    def keep(self, replies: Iterable[Reply], calls: Iterable[Call]) -> int:
        """Write these over what was kept; return how many of the replies found room."""
        fit, counted = list(replies), [asdict(call) for call in calls]
        while True:
            facts = {"calls": counted, "replies": [asdict(reply) for reply in fit]}
            packed = zlib.compress(json.dumps(facts).encode())
            try:
                with self.path.open("r+b" if self.path.exists() else "w+b") as file:
                    file.write(MARK + len(packed).to_bytes(8) + packed)
                    file.flush()
                    os.fsync(file.fileno())
                return len(fit)
            except OSError:
                if not fit:
                    return 0
                del fit[len(fit) * 3 // 4 :]

    def read(self) -> tuple[list[Reply], list[Call]]:
        """What was kept; nothing where nothing was, or where the file was not written to its
        end.
        """
        try:
            with self.path.open("rb") as file:
                if file.read(len(MARK)) != MARK:
                    return [], []
                facts = json.loads(zlib.decompress(file.read(int.from_bytes(file.read(8)))))
            return (
                [Reply(**reply) for reply in facts["replies"]],
                [Call(**call) for call in facts["calls"]],
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError, zlib.error):
            return [], []

    def remove(self) -> None:
        """Give the room back."""
        self.path.unlink(missing_ok=True)


def spare(store: Store) -> Spare | None:
    """The file of a store; None for one in memory."""
    return None if store.path is None else Spare(Path(f"{store.path}.unstored"))
