"""How long tests wait for what has to come."""

LONG = 180.0
"""Seconds that no test gets to, however slow or busy the machine: they bound a hang, and nothing
else.
"""
