"""The names that `core` promises: all there, known to type checkers, hidden by no module, imported
late.
"""

import ast
import re
import subprocess
import sys

import pytest
from places import REPOSITORY

import core


@pytest.mark.parametrize("name", core.__all__)
def test_name_is_there_and_documented(name: str) -> None:
    value = getattr(core, name)
    assert isinstance(value, str) or value.__doc__, name


def test_type_checkers_see_the_same_names() -> None:
    stub = ast.parse((REPOSITORY / "core" / "__init__.pyi").read_text(encoding="utf-8"))
    listed = [
        item.value
        for line in stub.body
        if isinstance(line, ast.Assign | ast.AugAssign) and isinstance(line.value, ast.List)
        for item in line.value.elts
        if isinstance(item, ast.Constant)
    ]
    assert sorted(listed) == sorted(core.__all__)
    assert len(set(listed)) == len(listed)


def test_no_module_hides_a_public_name() -> None:
    """A module below `core` becomes an attribute of it as soon as anybody imports it."""
    below = {
        path.stem
        for path in (REPOSITORY / "core").iterdir()
        if path.suffix == ".py" or path.is_dir()
    }
    assert not below & set(core.__all__)
    for name in core.__all__:
        home = getattr(getattr(core, name), "__module__", "")
        assert name not in home.split("."), f"{home} bears the name of a function in it"


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        core.nonsense  # noqa: B018


def test_import_is_light() -> None:
    heavy = ("numpy", "scipy", "pandas", "pyarrow", "duckdb", "plotly", "litellm", "streamlit")
    code = (
        f"import core, sys; print([name for name in {heavy!r} if name "
        "in sys.modules], len(dir(core)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("[] ")


def test_pages_show_python_of_the_public_api_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.shared import widgets

    strings = (
        (path.name, node.value)
        for path in (REPOSITORY / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    assert not [
        (name, text) for name, text in strings if re.search(r"^\s*(from|import) core", text, re.M)
    ]

    lines = (
        f"{widgets.OPEN_STORE}\nboard = read([(name, Path(name))]) "
        " # report\nprint(icc(board), rng)"
    )
    expected = (
        "from pathlib import Path\n\nfrom {} import Store, default_path, icc, read\n\n" + lines
    )
    assert widgets.script(lines) == expected.format("core")
    monkeypatch.setattr(widgets, "API", "appellate")
    assert widgets.script(lines) == expected.format("appellate")
    assert "read, report\n" in widgets.script(lines, "report")
    wide = widgets.script(f"print({', '.join(core.__all__)})")
    ast.parse(wide)
    assert max(map(len, wide.partition(")")[0].splitlines())) <= 110
