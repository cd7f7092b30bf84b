"""Votes of a table on another engine: PostgreSQL, ClickHouse, Spark, or files that DuckDB reads.

`fetching` asks for rows, `engines` sends statements, `answers` bounds what comes back, `sample`
draws whole items where there are too many, `session` holds what was fetched as a store does.
"""

from .fetching import Fetched, fetch, look_at
from .session import Warehouse

__all__ = ["Fetched", "Warehouse", "fetch", "look_at"]
