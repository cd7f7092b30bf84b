"""Give back what a visit held, once nobody can return to it.

Streamlit lets go of a session that has lost its browser when another visit comes or goes, which on
a quiet server may be tomorrow, and with it of uploads and of what was read from them. Allocators
keep what is free for later use. Together a server stayed as large as the largest upload made it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from streamlit import config
from streamlit.runtime import exists, get_instance

from core.memory import give_back

GRACE = 1.0
"""Seconds beyond those for which a session is kept for a browser that comes back."""


class Tidying:
    """Tidies some time after a visit has ended; visits that end meanwhile are of the same turn."""

    def __init__(self) -> None:
        self._waiting: asyncio.TimerHandle | None = None
        self._last = 0.0

    def after_a_visit(self) -> None:
        """Plan a turn for when the session of a visit that has just ended is over."""
        loop = asyncio.get_running_loop()
        self._last = loop.time()
        if self._waiting is None:
            self._waiting = loop.call_later(_seconds(), self._turn)

    def _turn(self) -> None:
        loop = asyncio.get_running_loop()
        forget_sessions()
        loop.run_in_executor(None, give_back)
        rest = self._last + _seconds() - loop.time()
        # Visits that ended since the turn was planned have one of their own.
        self._waiting = loop.call_later(rest, self._turn) if rest > GRACE / 2 else None


def _seconds() -> float:
    return float(config.get_option("server.disconnectedSessionTTL")) + GRACE


def forget_sessions() -> None:
    """Drop sessions whose time to come back is over; on the thread that serves them.

    Streamlit has no public way to do at once what it does with the next visit, and its loop holds
    the last session until then: so that one is emptied.
    """
    if exists():
        runtime: Any = get_instance()
        for _, ended in runtime._session_mgr._session_storage._cache.expire():
            ended.session.shutdown()
            ended.session.session_state.clear()
