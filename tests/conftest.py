"""What all tests share: their data, and stores of their own."""

import gc
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from patience import LONG
from places import REPOSITORY

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from core.records import PairScores
    from core.store import Store

# As in the Makefile, before numpy is loaded: our matrices are small, and threads wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Images for containers often forbid byte code: then each of hundreds of processes compiles the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A busy machine is no defect: examples are bounded in number, not in time.
settings.register_profile("appellate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A build says the same of the same code; what is drawn elsewhere and fails is kept as an @example.
settings.register_profile("ci", settings.get_profile("appellate"), derandomize=True, database=None)
PROFILE = "ci" if os.environ.get("CI", "").casefold() in ("1", "true") else "appellate"
# What breaks a law mostly breaks it soon; `make test-all` tries as many as Hypothesis proposes.
settings.register_profile("short", settings.get_profile(PROFILE), max_examples=30)
settings.load_profile(PROFILE)

DEMO = [
    REPOSITORY / "data" / f"demo_{kind}.csv.gz"
    for kind in ("answers", "votes", "fuser", "scores", "rankings")
]


LONGEST = (
    "test_hostile_inputs.py",
    "test_browser_access.py",
    "test_browser_papers.py",
    "test_judging_kill.py",
    "test_all_writers.py",
    "test_score_writers.py",
    "test_warehouse.py",
    "test_wide_files.py",
    "test_sessions.py",
)
"""Files that take a minute or more each; begun last, one of them would be waited for alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_configure(config: pytest.Config) -> None:
    """A run without thorough tests draws fewer examples where a law does not say how many. Nothing
    that is loaded to collect the tests is garbage.
    """
    gc.disable()
    if config.option.markexpr == "not thorough":
        settings.load_profile("short")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A build server ends after a time of its own, and one machine is five times as slow as
    another: then what matters most has been tested, and what has not is said.
    """
    until = float(os.environ.get("APPELLATE_THOROUGH_UNTIL", "inf"))
    if time.time() > until and item.get_closest_marker("thorough"):
        pytest.skip("a thorough test for which this slow machine left no time")


def pytest_collection_finish() -> None:
    """From here on there is garbage."""
    gc.enable()


@pytest.fixture
def one_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """The split of a store into open and sealed items, which is drawn at random, is one and the
    same: of null edits one in twenty is called better or worse by chance.
    """
    fixed = SimpleNamespace(token_hex=lambda n: "ab" * n)
    monkeypatch.setattr("core.use.proving.secrets", fixed)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of large real files, votes (`votes/`) and native ones (`native/`); skips where it is
    absent.
    """
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is not in this checkout")
    return folder


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of published tables."""
    return REPOSITORY / "tests" / "data" / "published"


@pytest.fixture(scope="session")
def native() -> Path:
    """Folder of made-up files in the forms of other tools; `expected.csv` has their votes."""
    return REPOSITORY / "tests" / "data" / "native"


@pytest.fixture(scope="session", autouse=True)
def _no_default_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The visitor's own store, which the app may have open, is out of reach of tests and what they
    start.
    """
    import duckdb

    folder, connect = tmp_path_factory.mktemp("default"), duckdb.connect

    def guarded(
        database: object = ":memory:", *given: Any, **named: Any
    ) -> duckdb.DuckDBPyConnection:
        place = Path(str(database)).absolute()
        assert REPOSITORY / "data" not in place.parents, f"a test opens {place}"
        return connect(database, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPELLATE_STORE", str(folder / "votes.duckdb"))
        patch.setattr(duckdb, "connect", guarded)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _quick_stores(pytestconfig: pytest.Config) -> Iterator[None]:
    """Stores of this process keep the memory of a statement for the next one, as most of a test's
    time would go to give a few rows' back; and in `make test` no thread waits beside the one that
    works. Processes that tests start are as they are for users.
    """
    from core.store import connection

    threads = {"threads": "1"} if pytestconfig.option.markexpr == "not thorough" else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "FRUGAL", threads)
        yield


@pytest.fixture(scope="session", autouse=True)
def _unfolded() -> Iterator[None]:
    """What a page folds stands open where tests read its elements; browser tests open it by a
    click.
    """
    from pages.shared import folds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "OPEN_AT_FIRST", True)
        yield


@pytest.fixture(scope="session", autouse=True)
def _scanned_once() -> Iterator[None]:
    """Streamlit looks for components of its own in every installed package before the first run of
    each `AppTest`, which takes longer than most runs; a server looks once.
    """
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner,
            "scan_component_manifests",
            cache(manifest_scanner.scan_component_manifests),
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Every `AppTest` would compile the app's script and its page anew at each run; a server keeps
    them.
    """
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache
    from streamlit.testing.v1 import app_test, local_script_runner

    kept = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: kept)
        yield


@pytest.fixture(scope="module", autouse=True)
def _loaded_is_no_garbage() -> None:
    """Streamlit looks through all objects for garbage after each run of a page, and Python does now
    and then; with all that tests load, that takes longer than most runs.
    """
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At the end of the process all is garbage; DuckDB prints what is left."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _own_default_store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _no_default_store: Path
) -> None:
    """A test that names no store has a new one, so that none depends on what ran before."""
    digest = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    monkeypatch.setenv("APPELLATE_STORE", str(_no_default_store / f"{digest}.duckdb"))


@pytest.fixture
def one_blas_thread() -> Iterator[None]:
    """Thousands of tiny solves spend their time waiting for each other's threads on a busy machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the demo in it, to be copied."""
    from core.importers import read
    from core.store import Store

    path = tmp_path_factory.mktemp("demo") / "votes.duckdb"
    with Store.open(path) as store:
        for reading in read([(file.name, file) for file in DEMO]):
            store.load(reading, simulated=True)
    return path


@pytest.fixture(scope="session")
def demo_votes() -> "Iterator[Store]":
    """A store with the demo's votes and its fuser alone, for what reads them."""
    from core.importers import read
    from core.store import Store

    with Store.open() as store:
        for reading in read([(file.name, file) for file in DEMO[1:3]]):
            store.load(reading)
        yield store


@pytest.fixture(scope="session")
def demo_pairs(demo_votes: "Store") -> "dict[str | None, PairScores]":
    """Pair scores of the demo by judge, None pooled."""
    from core.schema import Selection
    from core.store.vote_queries import pair_scores

    return pair_scores(demo_votes, Selection(), pooled=True)


@contextmanager
def _served(demo_store: Path, folder: Path) -> Iterator[Path]:
    """A copy of the demo's store for the app; closed at the end so that nothing stays open."""
    import streamlit as st

    st.cache_resource.clear()
    yield Path(shutil.copy(demo_store, folder / "votes.duckdb"))
    st.cache_resource.clear()


@pytest.fixture(scope="module")
def store_path(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The store of the app, with the demo, for all tests of a module: they read it and leave it as
    it is.
    """
    from core.store import Store

    with _served(demo_store, tmp_path_factory.mktemp("store")) as path:
        with Store.open(path) as store:
            before = store.datasets()
        yield path
        with Store.open(path) as store:
            assert store.datasets() == before, (
                "a test changed the store of its module: it needs own_store_path"
            )


@pytest.fixture
def own_store_path(demo_store: Path, tmp_path: Path) -> Iterator[Path]:
    """The store of the app, with the demo, for one test to change."""
    with _served(demo_store, tmp_path) as path:
        yield path


@pytest.fixture
def app(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> "AppTest":
    """The app before its first run."""
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("APPELLATE_STORE", str(store_path))
    return AppTest.from_file(str(REPOSITORY / "pages" / "main.py"), default_timeout=LONG)
