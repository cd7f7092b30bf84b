"""What all tests share: where the real votes and published tables are, if they are here."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from patience import LONG

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

# A busy machine is no defect: examples are bounded in number, not in time.
settings.register_profile("appellate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


@pytest.fixture(scope="module")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh store for the app; closed at the end so that nothing stays open."""
    import streamlit as st

    st.cache_resource.clear()
    yield tmp_path_factory.mktemp("store") / "votes.duckdb"
    st.cache_resource.clear()


@pytest.fixture
def app(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> "AppTest":
    """The app before its first run; the first run loads the demo into the store."""
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    return AppTest.from_file(str(REPOSITORY / "pages" / "main.py"), default_timeout=LONG)
