"""What the package needs, what its extras bring, and what it says where one is absent."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from patience import LONG
from places import REPOSITORY
from wheels import Environment, closure, environment, link, run, size

from core.__main__ import main
from core.extras import EXTRA_OF, require
from core.installation import leave_out
from core.simulate.votes import write_demo

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE: list[str] = PROJECT["dependencies"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
PRODUCT = ("app", "collect", "ratings", "report")
ENGINES = ("postgres", "clickhouse", "spark", "warehouse")
DATA = REPOSITORY / "data"
MOST_BYTES, MOST_DISTRIBUTIONS = 500e6, 12
HEAVY = ("scipy.stats", "scipy.optimize", "pyarrow.dataset", "numpy.f2py.f2py2e")
"""What takes a tenth of a small audit's time to import, or more."""
# Runs a command of its own process, and says which packages of extras it imported and which hosts
# it looked for.
WATCHED = """
import json, sys
reached = []
sys.addaudithook(lambda event, given: event in ("socket.connect", "socket.getaddrinfo")
                 and reached.append(str(given[-1])))
from core.__main__ import main
code = main(sys.argv[2:], alone=True)
named = json.loads(sys.argv[1])
print(json.dumps([code, [name for name in named if name in sys.modules], reached]), file=sys.stderr)
"""
PAGES = """
import sys
from core.extras import EXTRA_OF
from core.installation import leave_out
for package, extra in EXTRA_OF.items():
    if extra in ("collect", "ratings"):
        leave_out(package)
import app as launcher
from streamlit.testing.v1 import AppTest
for page in ("collect.py", "leaderboard.py"):
    app = AppTest.from_file(sys.argv[1], default_timeout=float(sys.argv[2]))
    app.query_params["tab"] = "Other ratings"
    app.run()
    app.switch_page(page).run()
    assert not app.exception, app.exception
    print(*(text.value for text in app.text if "not installed" in text.value))
"""


def lines(file: Path) -> set[str]:
    """Requirements of a file, and of those that it names."""
    found: set[str] = set()
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found |= lines(file.parent / line[3:])
        elif line and line[0] != "#":
            found.add(line)
    return found


def test_requirements_are_all_that_the_product_needs() -> None:
    named = [*BASE, *(line for extra in PRODUCT for line in EXTRAS[extra])]
    assert lines(REPOSITORY / "requirements.txt") == set(named)
    assert not set(BASE) & {line for extra in EXTRAS.values() for line in extra}
    for extra in ENGINES:
        assert lines(REPOSITORY / "requirements" / f"{extra}.txt") == set(EXTRAS[extra])


def test_all_is_every_extra() -> None:
    (line,) = EXTRAS["all"]
    assert Requirement(line).extras == {*PRODUCT, "warehouse"}
    assert set(EXTRAS) == {*PRODUCT, *ENGINES, "all"}


@pytest.mark.parametrize("lock", sorted((REPOSITORY / "requirements").glob("*.lock")))
def test_locks_hold_what_is_asked_for(lock: Path) -> None:
    """Every line has its exact version with hashes, within what it allows."""
    text = lock.read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", text, flags=re.MULTILINE))
    file = lock.with_suffix(".txt")
    asked = lines(file if file.exists() else REPOSITORY / "requirements.txt")
    for requirement in map(Requirement, asked):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert requirement.specifier.contains(locked[name]), (lock.name, str(requirement))
    for block in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        assert not block.strip() or block.startswith("#") or "--hash=sha256:" in block, block[:80]
    for named in re.findall(r"-[rc] (\S+)", text):
        assert (REPOSITORY / named).is_file(), (lock.name, named)


def module_of(package: str) -> str:
    return {"markdown-it-py": "markdown_it"}.get(package, package.replace("-", "_"))


def test_every_package_of_an_extra_is_known() -> None:
    brings = {
        extra: {module_of(Requirement(line).name) for line in EXTRAS[extra]} for extra in PRODUCT
    }
    assert set(EXTRA_OF) == set().union(*brings.values())
    for package, extra in EXTRA_OF.items():
        assert package in brings[extra]


def test_the_light_package_is_light() -> None:
    brought = closure(BASE)
    assert len(brought) < MOST_DISTRIBUTIONS
    ours = sum(
        path.stat().st_size
        for folder in ("core", "pages", "data", "distribution")
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and not path.suffix.startswith((".duckdb", ".pyc"))
    )
    # Its byte code takes about what its source takes.
    assert sum(map(size, brought)) + 2 * ours < MOST_BYTES


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file of simulated votes."""
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    write_demo(path, items=4)
    return path


@pytest.fixture(scope="module")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel with its dependencies, and without any extra."""
    made = environment(tmp_path_factory.mktemp("light") / "venv", wheel)
    link(closure(BASE), made.packages)
    return made


@pytest.mark.thorough
def test_without_extras_files_are_audited_and_stores_kept(
    light: Environment, votes: Path, tmp_path: Path
) -> None:
    store, made = tmp_path / "own.duckdb", tmp_path / "made"
    made.mkdir()
    outputs = {"json": "audit.json", "junit": "audit.xml", "markdown": "audit.md"}
    options = ["--splits", "5"]
    given = [f"--{kind}={made / name}" for kind, name in outputs.items()]
    audited = run(light, tmp_path, "audit", str(votes), *options, *given)
    assert audited.returncode == 0, audited.stderr
    there = tmp_path / "there"
    there.mkdir()
    assert (
        main(
            ["audit", str(votes), *options]
            + [f"--{kind}={there / name}" for kind, name in outputs.items()]
        )
        == 0
    )
    for name in outputs.values():
        assert (made / name).read_bytes() == (there / name).read_bytes(), name
    loaded = run(light, tmp_path, "import", str(votes), "--store", str(store), "--dataset", "demo")
    assert loaded.returncode == 0, loaded.stderr
    for name in ("out.csv", "out.parquet"):
        written = run(light, tmp_path, "export", name, "--store", str(store))
        assert written.returncode == 0, written.stderr
        again = run(light, tmp_path, "import", name, "--store", str(tmp_path / f"{name}.duckdb"))
        assert again.returncode == 0, again.stderr


@pytest.mark.thorough
def test_without_extras_every_other_command_answers(
    light: Environment, votes: Path, tmp_path: Path
) -> None:
    """Each as a process of its own; what it says is tested where it runs in process."""
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    for path in (old, new):
        path.write_bytes(votes.read_bytes())
    (tmp_path / "appellate.toml").write_text("splits = 0\n", encoding="utf-8")
    one_call = "import appellate; print(appellate.audit('new.csv', splits=0))"
    python = [str(light.scripts / "python"), "-c", one_call]
    called = subprocess.run(
        python, cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True, check=False
    )
    assert called.returncode == 0, called.stderr
    assert "sim-judge" in called.stdout.splitlines()[0]
    for arguments, said in (
        (["audit", "new.csv", "--against", "old.csv"], "Against"),
        (["audit", "new.csv", "--against", "old.csv", "--json", "-"], '"against"'),
        (["demo"], "Planted: sim-judge-first-slot"),
        (["doctor", "new.csv"], "audit"),
        (["label", "new.csv", "--count", "3"], "to be labelled"),
        (["simulate", "made.csv.gz", "--items", "4"], "rows of simulated"),
        (["audit", "made.csv.gz", "--strict", "--fail-if", "accuracy<0"], "sim-judge"),
    ):
        done = run(light, tmp_path, *arguments)
        assert done.returncode == 0, (arguments, done.stderr)
        assert said in done.stdout, (arguments, done.stdout)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["report", "votes.csv", "--html", "out.html"], "report"),
        (["app"], "app"),
        (["collect", "items.csv", "--store", "own.duckdb", "--model", "openai/x"], "collect"),
        (["audit", "--warehouse", "postgresql://127.0.0.1/x", "--table", "votes"], "postgres"),
    ],
)
def test_a_command_names_its_extra(
    light: Environment, tmp_path: Path, arguments: list[str], extra: str
) -> None:
    done = run(light, tmp_path, *arguments)
    assert done.returncode == 2
    assert f"pip install 'appellate[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.thorough
def test_python_names_the_extra(light: Environment, tmp_path: Path) -> None:
    code = (
        "from appellate.core.errors import AppellateError\nfrom appellate.core.stats.estimate "
        "import data_frame\ntry: data_frame([[1]])\nexcept AppellateError as error: print(error)"
    )
    done = subprocess.run(
        [str(light.scripts / "python"), "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert "pip install 'appellate[app]'" in done.stdout, done.stderr


def test_require_names_the_first_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for name in ("evalica", "glicko2"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    require("evalica", "glicko2")
    leave_out("glicko2")
    with pytest.raises(Exception, match=r"^Ratings needs glicko2, .*\[ratings\]"):
        require("evalica", "glicko2", purpose="Ratings")


def watched(folder: Path, *arguments: str, named: tuple[str, ...] = ()) -> list[object]:
    """Exit code of a command, what it imported of the packages of extras, of collecting and of
    what is named, and hosts that it looked for.
    """
    modules = json.dumps([*EXTRA_OF, "core.collect", *named])
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, modules, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )
    return list(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.thorough
def test_commands_import_no_more_than_they_need(votes: Path, tmp_path: Path) -> None:
    """Also where everything is installed; nothing looks for another machine."""
    audit = ["audit", str(votes), "--splits", "0", "--json", "a.json"]
    assert watched(tmp_path, *audit, named=HEAVY) == [0, [], []]
    assert watched(tmp_path, "import", str(votes), "--store", "own.duckdb") == [0, [], []]
    assert watched(tmp_path, "export", "out.csv.gz", "--store", "own.duckdb") == [0, [], []]
    report = ["report", *audit[1:-2], "--html", "a.html"]
    assert watched(tmp_path, *report) == [0, ["plotly"], []]


@pytest.fixture(scope="module")
def sixty_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes of two judges on thirty items, with gold and confidence."""
    path = tmp_path_factory.mktemp("sixty") / "votes.csv"
    rows = [
        f"q{item},x,y,{judge},{'AB'[(item + k) % 3 == 0]},0.{60 + item},A"
        for item in range(30)
        for k, judge in enumerate(("one", "two"))
    ]
    path.write_text(
        "\n".join(["item_id,model_a,model_b,judge,vote,confidence,gold", *rows]), encoding="utf-8"
    )
    return path


def test_a_small_audit_imports_what_it_needs(sixty_rows: Path, tmp_path: Path) -> None:
    """Its time is that of its imports."""
    assert watched(tmp_path, "audit", str(sixty_rows), named=HEAVY) == [0, [], []]


def test_the_package_itself_imports_none_of_its_libraries() -> None:
    libraries = ("numpy", "scipy", "pyarrow", "duckdb")
    code = f"import core, sys; print([name for name in {libraries} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.thorough
def test_pages_name_the_extra_that_they_need(store_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PAGES, str(REPOSITORY / "pages" / "main.py"), str(LONG)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "APPELLATE_STORE": str(store_path)},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    collect, ratings = done.stdout.splitlines()
    assert collect.startswith("Collecting votes needs litellm, which is not installed: ")
    assert re.match(r"(Bradley–Terry|Glicko-2) needs \w+, which is not installed: ", ratings)
