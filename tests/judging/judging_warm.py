"""Imported before processes that are going to be killed are forked, so that they start at once."""

import judging_killed  # noqa: F401

from core.collect import client

client.listed_price("none")
