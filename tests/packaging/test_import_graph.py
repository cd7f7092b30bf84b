"""Who may import whom: data moves one way (votes → counts → methods → verdicts and figures →
pages).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from places import REPOSITORY

# A part of `core`, a module or a folder of it, imports parts of lower tiers only.
TIERS = (
    # Where the program runs from, and words as data.
    ("installation", "reading.words"),
    ("errors",),
    ("extras", "options"),
    ("files", "memory"),
    ("schema",),
    ("records", "labels"),
    ("stats",),
    ("finding.wording",),
    # How much one view holds.
    ("bounds",),
    # What the app's places are called.
    ("places",),
    # What a table holds, by evidence.
    ("reading",),
    # Where votes come from and what is asked of them.
    ("importers", "store", "simulate"),
    # The same questions, asked of other engines.
    ("warehouse",),
    # What is asked of a judge, the form in which every answer comes, and all answers of all judges.
    ("questions", "finding", "auditing"),
    ("labelling",),
    ("reporting", "papers"),
    ("use",),
    ("collect",),
    ("use.commands",),
    ("__main__",),
)
TIER = {part: tier for tier, parts in enumerate(TIERS) for part in parts}
VOTES_SIDE = {"importers", "store", "simulate", "warehouse"}
EXCEPTIONS = {("core.store.vote_queries", "core.questions.boards.ask")}
"""Imports upwards that are still to go; no new one."""
KNOW_VOTES = {"ask", "audit", "check", "words", "figure", "files", "series", "output", "results"}
"""Modules of a question that may ask the store; its others are methods on counts."""


@dataclass(frozen=True)
class Import:
    """One imported name. `lazy`: inside a function. `typing`: for type checkers only."""

    name: str
    lazy: bool
    typing: bool


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """All that a module imports, relative names resolved."""
    package = path.relative_to(REPOSITORY).parts[:-1]
    found: list[Import] = []

    def walk(node: ast.AST, lazy: bool, typing: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend(Import(name.name, lazy, typing) for name in child.names)
            elif isinstance(child, ast.ImportFrom):
                above = package[: len(package) - child.level + 1] if child.level else ()
                base = ".".join([*above, *([child.module] if child.module else [])])
                found.extend(Import(f"{base}.{name.name}", lazy, typing) for name in child.names)
            else:
                checking = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
                function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                walk(child, lazy or function, typing or checking)

    walk(tree_of(path), False, False)
    return tuple(found)


def modules(folder: str) -> list[Path]:
    return sorted((REPOSITORY / folder).rglob("*.py"))


def part(path: Path) -> str:
    """`core/importers/wide.py` → `importers`."""
    return part_of(dotted(path))


def part_of(name: str) -> str:
    """`core.finding.wording` → `finding.wording`, which has a tier of its own."""
    parts = name.split(".")[1:]
    two = ".".join(parts[:2])
    return two if two in TIER else parts[0] if parts else "__init__"


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


CORE = [path for path in modules("core") if dotted(path) != "core"]
MODULES = {dotted(path): path for path in CORE}


def module_of(name: str) -> str | None:
    """The module of ours that an imported name is, or is in."""
    return next((found for found in (name, name.rpartition(".")[0]) if found in MODULES), None)


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_core_imports_only_downwards(path: Path) -> None:
    name = part(path)
    for imported in imports(path):
        ours = imported.name.startswith("core.")
        other = part_of(imported.name) if ours else name
        if other == name or imported.typing or other not in TIER:
            continue
        if {name, other} <= {"questions", "finding", "auditing"}:
            continue
        if (dotted(path), imported.name.rpartition(".")[0]) in EXCEPTIONS:
            continue
        assert TIER[other] < TIER[name], f"core.{name} imports core.{other}, which is not below it"
        assert not (name == "questions" and path.stem not in KNOW_VOTES and other in VOTES_SIDE), (
            f"the method {dotted(path)} knows the store"
        )


def test_no_module_imports_itself_in_a_circle() -> None:
    """Imports for type checkers count: who reads a type has to read where it comes from."""
    graph = {
        name: {found for one in imports(path) if (found := module_of(one.name)) and found != name}
        for name, path in MODULES.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, with the circle


def test_core_imports_itself_relatively() -> None:
    for path in modules("core"):
        named = [
            n.module
            for n in ast.walk(tree_of(path))
            if isinstance(n, ast.ImportFrom) and not n.level and n.module
        ]
        assert not [name for name in named if name.split(".")[0] == "core"], path


def test_every_part_has_a_tier() -> None:
    assert {part(path) for path in CORE} == set(TIER)


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("streamlit", set()),
        ("plotly", {"core/finding/figure.py"}),
        (
            "duckdb",
            {
                "core/store/connection.py",
                "core/warehouse/engines.py",
                "core/importers/databases.py",
            },
        ),
        ("litellm", {"core/collect/client.py"}),
    ],
)
def test_library_has_one_home(library: str, homes: set[str]) -> None:
    users = {
        str(path.relative_to(REPOSITORY))
        for path in CORE
        for imported in imports(path)
        if imported.name.split(".")[0] == library and not imported.typing
    }
    assert users == homes


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "plotly", "litellm", "scipy", "jinja2"])
def test_heavy_libraries_are_imported_where_used(library: str) -> None:
    eager = [
        str(path.relative_to(REPOSITORY))
        for path in CORE
        for imported in imports(path)
        if imported.name.split(".")[0] == library and not (imported.lazy or imported.typing)
    ]
    assert eager == []


def test_sections_belong_to_one_page() -> None:
    """A page uses `core`, `pages.shared` and sections; sections use no others'."""
    for path in modules("pages"):
        of_sections = "sections" in path.parts
        own = f"pages.sections.{path.parent.name}." if of_sections else "pages.sections."
        for imported in imports(path):
            name = imported.name
            if not imported.typing:
                assert not name.startswith(("duckdb", "plotly", "scipy")), (
                    f"{path.name} imports {name}"
                )
            if name.startswith("pages."):
                assert f"{name}.".startswith(("pages.shared.", own)), f"{path} imports {name}"
            if path.parent.name == "shared" and path.stem != "share":
                assert not name.startswith(("core.reporting", "pages.sections")), (
                    f"{path.name} imports {name}"
                )


def test_only_cached_caches() -> None:
    for path in modules("pages"):
        if path.name != "cached.py":
            assert "st.cache_" not in path.read_text(encoding="utf-8"), path.name


def test_importing_the_audit_stays_light() -> None:
    heavy = ("scipy.stats", "pandas", "plotly", "litellm", "streamlit")
    code = (
        f"import core.auditing.run, sys; print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


ENTERED = {
    "order": {
        "core.papers.labels",
        "pages.sections.overview.first_screen",
        "pages.sections.position_bias.order",
    }
}
"""Question → the files outside all questions that import it. A list may only get shorter."""


def importers_of(question: str, *folders: str) -> set[str]:
    return {
        dotted(path)
        for folder in folders
        for path in modules(folder)
        for one in imports(path)
        if f"{one.name}.".startswith(f"core.questions.{question}.".replace("..", "."))
    }


@pytest.mark.parametrize("question", ENTERED)
def test_a_question_is_entered_from_its_pages_alone(question: str) -> None:
    outside = {
        name
        for name in importers_of(question, "core", "pages")
        if not name.startswith("core.questions.")
    }
    assert outside == ENTERED[question]


def test_the_form_of_answers_knows_no_question() -> None:
    named = {name for name in importers_of("", "core/finding") if name.startswith("core.finding.")}
    assert not named
