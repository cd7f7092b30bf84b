"""Stores that versions of earlier layouts wrote; see `data/stores/README.md`."""

import gzip
from pathlib import Path

from places import REPOSITORY

STORES = REPOSITORY / "tests" / "data" / "stores"


def unpacked(name: str, folder: Path) -> Path:
    """A store of the test data, as a file of its own."""
    path = folder / f"{name}.duckdb"
    path.write_bytes(gzip.decompress((STORES / f"{name}.duckdb.gz").read_bytes()))
    return path


def exported(name: str, kind: str) -> bytes:
    """What the version that wrote a store exported of it."""
    return gzip.decompress((STORES / f"{name}.{kind}.csv.gz").read_bytes())
