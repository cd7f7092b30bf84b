"""Votes as integer keys in DuckDB: loading them, and every question that is asked of them."""

from .connection import DatasetInfo, Snapshot, Store, default_path

__all__ = ["DatasetInfo", "Snapshot", "Store", "default_path"]
