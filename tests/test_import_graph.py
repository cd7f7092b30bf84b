"""Who may import whom: data moves one way (votes → counts → methods → verdicts and figures → pages)."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# A part of `core`, a module or a folder of it, imports parts of lower tiers only.
TIERS = (
    ("votes",),
    ("counts", "intervals", "labels"),
    ("draws",),
    ("binning", "inversion", "splits"),
    ("loss_intervals",),
    # Where votes come from and what is asked of them.
    ("importers", "store", "synthetic"),
    ("simulate",),
    ("simulate_tables",),
    # Methods on counts, which never know the store.
    ("aggregation", "bias"),
    ("agreement", "confidence", "experiments"),
    ("consensus", "leaderboard"),
    # What is said and drawn of results.
    ("figures", "words"),
    ("plots",),
    ("tables",),
    ("unknowns",),
    ("audit",),
    ("document", "gates", "summary"),
    ("report",),
    ("judging",),
    ("__main__",),
)
TIER = {part: tier for tier, parts in enumerate(TIERS) for part in parts}
METHODS = {"aggregation", "bias", "agreement", "confidence", "experiments", "consensus", "leaderboard"}
VOTES_SIDE = {"importers", "store", "simulate", "simulate_tables", "synthetic"}


def modules(folder: str) -> list[Path]:
    return sorted((REPOSITORY / folder).rglob("*.py"))


def imports(path: Path, *, runtime_only: bool = True) -> Iterator[tuple[str, bool]]:
    """Full names that a module imports, and whether at import time (not inside a function)."""

    def walk(node: ast.AST, lazy: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((name.name, lazy) for name in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative import"
                yield from ((f"{child.module}.{name.name}", lazy) for name in child.names)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING" and runtime_only:
                yield from (found for part in child.orelse for found in walk(part, lazy))
            else:
                inside = lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                yield from walk(child, inside)

    tree = ast.parse(path.read_text(encoding="utf-8"))
    return walk(tree, False)


def core_name(path: Path) -> str:
    """`core/importers/wide.py` → `importers`."""
    return path.relative_to(REPOSITORY / "core").parts[0].removesuffix(".py")


CORE = [path for path in modules("core") if core_name(path) != "__init__"]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_core_imports_only_downwards(path):
    name = core_name(path)
    for imported, _ in imports(path):
        parts = imported.split(".")
        other = parts[1] if parts[0] == "core" else name
        if other == name:
            continue
        assert TIER[other] < TIER[name], f"core.{name} imports core.{other}, which is not below it"
        assert not (name in METHODS and other in VOTES_SIDE), f"the method core.{name} knows the store"


def test_every_part_has_a_tier():
    assert {core_name(path) for path in CORE} == set(TIER)


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("streamlit", set()),
        ("plotly", {"core/figures.py"}),
        ("duckdb", {"core/store/database.py"}),
        ("litellm", {"core/judging/client.py"}),
    ],
)
def test_library_has_one_home(library, homes):
    users = {
        str(path.relative_to(REPOSITORY))
        for path in CORE
        for imported, _ in imports(path)
        if imported.split(".")[0] == library
    }
    assert users == homes


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "plotly", "litellm", "ibis"])
def test_heavy_libraries_are_imported_where_used(library):
    eager = [
        str(path.relative_to(REPOSITORY))
        for path in CORE
        for imported, lazy in imports(path)
        if imported.split(".")[0] == library and not lazy
    ]
    assert eager == []


def test_scipy_is_imported_where_used():
    eager = {
        (core_name(path), imported)
        for path in CORE
        for imported, lazy in imports(path)
        if imported.startswith("scipy") and not lazy
    }
    assert eager == set()


def test_pages_use_core_and_shared_pages_only():
    for path in modules("pages"):
        shared = "shared" in path.parts
        for imported, _ in imports(path):
            if imported.split(".")[0] == "pages":
                assert imported.startswith("pages.shared."), f"{path.name} imports {imported}"
            assert not imported.startswith(("duckdb", "plotly", "scipy")), f"{path.name} imports {imported}"
            assert not (shared and imported.startswith("core.report")), f"{path.name} imports {imported}"


def test_only_cached_caches():
    for path in modules("pages"):
        if path.name != "cached.py":
            assert "st.cache_" not in path.read_text(encoding="utf-8"), path.name


def test_importing_the_audit_stays_light():
    heavy = ("scipy.stats", "pandas", "plotly", "litellm", "streamlit")
    code = f"import core.audit, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
