"""No key in what is shown or stored: neither one that was sent, nor what the environment calls a
secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .endpoint import NO_KEY, Destination
from .reading import storable

REMOVED = "[key]"
SHORT = 6
"""Characters below which a secret may be part of other words."""
SECRET_ENDINGS = (
    "_API_KEY",
    "_TOKEN",
    "_SECRET",
    "_SECRET_KEY",
    "_ACCESS_KEY",
    "_PASSWORD",
    "_CREDENTIALS",
)


def safe(message: str, places: Iterable[Destination]) -> str:
    """The message, without keys if it holds any."""
    scrubbed = scrub(storable(message), [place.key for place in places])
    return message if scrubbed == message else scrubbed


def scrub(text: str, keys: Iterable[str | None]) -> str:
    """The text without the keys, nor anything that the environment calls a secret."""
    secret = {value for name, value in os.environ.items() if name.upper().endswith(SECRET_ENDINGS)}
    # A short secret, unlike a key that was sent, may be a word by chance.
    removed = {*filter(None, keys), *(value for value in secret if len(value) >= SHORT)}
    for value in sorted(removed, key=len, reverse=True):
        text = scrub_key(text, value)
    return text


def scrub_key(text: str, key: str | None) -> str:
    """The text without a key that was sent; a short one counts as a whole word only."""
    if not key or key == NO_KEY:
        return text
    if len(key) >= SHORT:
        return text.replace(key, REMOVED)
    return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", REMOVED, text)
