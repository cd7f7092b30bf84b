"""Judgements in a DuckDB file: loading them, and every query that counts, lists or exports them."""

from .browse import DatasetInfo
from .connection import Database, Snapshot, default_path
from .store import Store

__all__ = ["Database", "DatasetInfo", "Snapshot", "Store", "default_path"]
