"""Votes that stay on the engine of their owner: PostgreSQL, ClickHouse, Spark, or files that DuckDB
reads.
"""

from .session import Warehouse, look_at

__all__ = ["Warehouse", "look_at"]
