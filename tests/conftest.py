"""What all tests share: where the real votes and published tables are, if they are here."""

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no defect: examples are bounded in number, not in time.
settings.register_profile("appellate", deadline=None)
settings.load_profile("appellate")

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = REPOSITORY.parent / "shared"


def _shared_folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"../shared/{name} is not in this checkout")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real votes (`votes/`) and native files (`native/`); skips where it is absent."""
    return _shared_folder("data")


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of published tables; skips where it is absent."""
    return _shared_folder("golden")
