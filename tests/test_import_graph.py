"""Who may import whom: data moves one way (votes → counts → methods → verdicts and figures → pages)."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# A module imports modules of its own layer and of lower ones. The store and what serves it (layer 2) know
# votes and counts only; methods (3 and 4) never know the store.
LAYERS = {
    # what a vote is
    "votes": 0,
    "intervals": 0,
    "inversion": 0,
    # counts
    "counts": 1,
    "binning": 1,
    "splits": 1,
    "labels": 1,
    # the store and what it is asked
    "importers": 2,
    "loading": 2,
    "dictionaries": 2,
    "load_rows": 2,
    "row_scope": 2,
    "scope": 2,
    "export": 2,
    "by_value": 2,
    "evidence": 2,
    "inventory": 2,
    "orders": 2,
    "pairs": 2,
    "scores": 2,
    "rankings": 2,
    "replies": 2,
    "queries": 2,
    "receipt": 2,
    "runs": 2,
    "store": 2,
    "simulate": 2,
    "simulate_tables": 2,
    "synthetic": 2,
    # methods on counts
    "btd": 3,
    "btd_solver": 3,
    "stopping": 3,
    "aggregators": 3,
    "calibration": 3,
    "th_score": 3,
    "selective": 3,
    "recalibration": 3,
    "overconfidence": 3,
    "position": 3,
    "order_balance": 3,
    "fewer_votes": 3,
    "verbosity": 3,
    "confusion": 3,
    "agreement": 3,
    "alpha": 3,
    "repeatability": 3,
    "box_newton": 3,
    "direct_scores": 3,
    "debiased": 3,
    # methods on methods
    "shrinkage": 4,
    "shrinkage_gain": 4,
    "priors": 4,
    "held_out": 4,
    "ordinal": 4,
    "ordinal_solver": 4,
    "levels": 3,
    "position_solver": 4,
    "position_aware": 4,
    "confidence_weighted": 4,
    "weighing": 4,
    "protocol": 4,
    "sweeps": 4,
    "transfer": 4,
    "task_distance": 4,
    "comparison": 4,
    "parameter_grid": 4,
    "budget": 4,
    "budget_trial": 4,
    "guarantee": 4,
    "debiased_board": 4,
    "ratings": 4,
    "order_ratings": 4,
    "rating_spread": 4,
    "pooling": 4,
    "screening": 4,
    "abstention": 4,
    "outside": 4,
    "between_tasks": 4,
    "dispersion": 4,
    "proportional_odds": 4,
    "score_board": 4,
    "crossfit": 4,
    "dummies": 4,
    "raee": 4,
    "anchors": 4,
    "subsampling": 4,
    "ensembles": 4,
    "ensemble_scores": 4,
    "evaluation": 4,
    "labelling": 4,
    "leave_one_out": 4,
    "listwise": 4,
    "listwise_orders": 4,
    # words and figures
    "accord": 5,
    "experiment_sentences": 5,
    "verdicts": 5,
    "findings": 5,
    "recommendation": 5,
    "sentences": 5,
    "gold_sentences": 5,
    "standings": 5,
    "jury_sentences": 5,
    "list_sentences": 5,
    "board_sentences": 5,
    "raee_sentences": 5,
    "score_sentences": 5,
    "budget_sentences": 5,
    "held_out_sentences": 5,
    "shrinkage_sentences": 5,
    "tables": 5,
    "unknowns": 5,
    "figures": 5,
    "plots": 5,
    # the audit
    "audit": 6,
    # what is made of it
    "report": 7,
    "document": 7,
    "summary": 7,
    "gates": 7,
    "judging": 7,
    # the command line
    "__main__": 8,
}
STORE_SIDE = {name for name, layer in LAYERS.items() if layer == 2}
METHODS = {name for name, layer in LAYERS.items() if 3 <= layer <= 4}


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
        if parts[0] != "core" or len(parts) < 2 or name not in LAYERS or parts[1] not in LAYERS:
            continue
        other = parts[1]
        assert LAYERS[other] <= LAYERS[name], f"core.{name} imports core.{other} of a higher layer"
        assert not (name in METHODS and other in STORE_SIDE), f"the method core.{name} knows the store"


def test_every_module_has_a_layer():
    assert {core_name(path) for path in CORE} - set(LAYERS) == set()


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("streamlit", set()),
        ("plotly", {"figures"}),
        ("duckdb", {"store"}),
        ("litellm", {"judging"}),
    ],
)
def test_library_has_one_home(library, homes):
    users = {
        core_name(path) for path in CORE for imported, _ in imports(path) if imported.split(".")[0] == library
    }
    assert users <= homes


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


@pytest.mark.skipif(not (REPOSITORY / "core" / "audit.py").exists(), reason="core/audit.py is not here yet")
def test_importing_the_audit_stays_light():
    heavy = ("scipy.stats", "pandas", "plotly", "litellm", "streamlit")
    code = f"import core.audit, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
