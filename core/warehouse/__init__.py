"""Votes that stay on the engine of their owner: PostgreSQL, ClickHouse, Spark, or files that DuckDB reads."""

from .session import Warehouse

__all__ = ["Warehouse"]
