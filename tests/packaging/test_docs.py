"""The documents keep up with the code: what they show runs, what they name exists, links lead
somewhere.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from levels import first_of
from patience import LONG
from places import REPOSITORY

import core
from core.__main__ import main
from core.places import LAB, NAMES, PLACES

DOCUMENTS = [
    REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md")
] + sorted((REPOSITORY / "docs").glob("*.md"))
TEXTS = {str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
README = TEXTS["README.md"]

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
# Commands that serve until they are stopped, or that do what other tests and the build server do.
NOT_RUN = ("make ", "uvx ", "cp ", ".venv/bin/streamlit ", "appellate app", "python -m benchmarks")
PLACEHOLDER = re.compile(r"(?<![\w/.\-])(?:FILE|OUT|HOST|NAME|URL|FOLDER)\b|…")


def blocks(name: str, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(TEXTS[name]) if kind == language]


def prose(name: str) -> str:
    return BLOCK.sub("", TEXTS[name])


def headings(name: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", prose(name), flags=re.MULTILINE)


def site_anchor(heading: str) -> str:
    """As the site makes it (Python-Markdown): ASCII letters only."""
    plain = (
        unicodedata.normalize("NFKD", heading.replace("`", "")).encode("ascii", "ignore").decode()
    )
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def repository_anchor(heading: str) -> str:
    """As code hosts make it: letters of every script, a hyphen for each blank."""
    return re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()).replace(" ", "-")


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_and_anchor_resolves(name: str) -> None:
    for link in LINK.findall(prose(name)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (REPOSITORY / name).parent / path if path else REPOSITORY / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            known = headings(str(target.resolve().relative_to(REPOSITORY)))
            assert anchor in map(site_anchor, known), f"{name}: {link}: the site has no such anchor"
            assert anchor in map(repository_anchor, known), (
                f"{name}: {link}: the repository has no such anchor"
            )


def test_the_site_lists_every_document() -> None:
    listed = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    for path in (REPOSITORY / "docs").glob("*.md"):
        assert re.search(rf"^ +- {re.escape(path.name)}$", listed, flags=re.MULTILINE), path.name


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_that_is_named_exists(name: str) -> None:
    made = {"data/votes.duckdb", "tests/checks/test_sides.py", "core/questions/sides/question.py"}
    for code in CODE.findall(prose(name)):
        if re.fullmatch(r"(?:core|pages|tests|data|docs|benchmarks)/[\w/.]+", code):
            assert code in made or (REPOSITORY / code).exists(), f"{name}: {code}"


def shown_commands(name: str) -> Iterator[str]:
    """Commands of console blocks that can run here: nothing to fill in, and no server."""
    for block in blocks(name, "console"):
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            if not command or PLACEHOLDER.search(command) or command.startswith(NOT_RUN):
                continue
            yield command


COMMANDS = [(name, command) for name in TEXTS for command in shown_commands(name)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the documents speak of: votes, items to judge, and stores."""
    made = tmp_path_factory.mktemp("files")
    *_, votes = blocks("README.md", "csv")
    items, answers = blocks("docs/collecting.md", "csv")
    for name in ("votes.csv", *(f"week{week:02}.csv" for week in range(2, 10))):
        (made / name).write_text(votes, encoding="utf-8")
    # Another file than votes.csv, if only by its bytes.
    (made / "last.csv").write_text(f"{votes}\n", encoding="utf-8")
    (made / "items.csv").write_text(items, encoding="utf-8")
    (made / "answers.csv").write_text(answers, encoding="utf-8")
    item = votes.splitlines()[1].split(",")[0]
    (made / "sheet.csv").write_text(f"item_id,label\n{item},A\n", encoding="utf-8")
    (made / "data").mkdir()
    # A process of its own, as a user starts it; the commands of the tests run in this one.
    done = subprocess.run(
        [sys.executable, "-m", "core", *words("python -m core import votes.csv --store my.duckdb")],
        cwd=made,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for store in ("backup.duckdb", "other.duckdb", "votes.duckdb"):
        shutil.copy(made / "my.duckdb", made / store)
    return made


@pytest.fixture
def folder(files: Path, tmp_path: Path) -> Path:
    """A copy of the files, so that commands do not depend on each other."""
    shutil.copytree(files, tmp_path / "files")
    return tmp_path / "files"


def words(command: str) -> list[str]:
    """Arguments of a command that is shown, patterns expanded as a shell does."""
    given = shlex.split(re.sub(r"^(?:\.venv/bin/)?(?:python -m core|appellate) ", "", command))
    return [name for word in given for name in (sorted(glob.glob(word)) or [word])]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[f"{n}: {c}" for n, c in COMMANDS])
def test_every_command_that_is_shown_runs(
    name: str,
    command: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert re.match(r"(?:\.venv/bin/)?(?:python -m core|appellate) ", command), f"{name}: {command}"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("APPELLATE_STORE", str(folder / "own.duckdb"))
    code = main(words(command))
    assert code == (1 if "--fail-if" in command else 0), (command, capsys.readouterr().err)


def test_the_documents_show_commands() -> None:
    assert {"audit", "report", "import", "export", "collect"} <= {
        word for _, command in COMMANDS for word in command.split()
    }


def helped(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `--help` prints."""
    with pytest.raises(SystemExit) as left:
        main([*command.split(), "--help"])
    assert left.value.code == 0
    return capsys.readouterr().out


def test_every_option_that_is_named_exists(capsys: pytest.CaptureFixture[str]) -> None:
    """Options in the prose of documents are options of some command or benchmark, or of the servers
    named beside them.
    """
    known = {"--server.address", "--server.allowedHosts", "--strict"}
    for path in (REPOSITORY / "benchmarks").glob("*.py"):
        known |= set(re.findall(r'"(--[a-z-]+)"', path.read_text(encoding="utf-8")))
    for command in re.findall(r"^    (\w+) +\w", helped("", capsys), flags=re.MULTILINE):
        known |= set(re.findall(r"--[\w-]+", helped(command, capsys)))
    for name, text in TEXTS.items():
        for code in CODE.findall(BLOCK.sub("", text)):
            for option in re.findall(r"(?<!\S)--\w[\w.-]*", code):
                assert option in known, f"{name}: {option}"


@pytest.mark.parametrize(
    "name",
    first_of(*(name for name in TEXTS if name != "CONTRIBUTING.md" and blocks(name, "python"))),
)
def test_python_that_is_shown_runs(name: str) -> None:
    for code in blocks(name, "python"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=REPOSITORY,
            env={**os.environ, "APPELLATE_STORE": os.devnull},
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 0, (name, done.stderr)
        assert done.stdout


def test_the_python_of_the_readme_is_short() -> None:
    (code,) = blocks("README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 6


def test_the_way_of_one_vote_names_few_files_and_each_exists() -> None:
    text = TEXTS["docs/architecture.md"]
    files = re.findall(
        r"^\| `([\w/.]+)` \|", text[text.index("## The way of one vote") :], re.MULTILINE
    )
    files = [name for name in files if name.startswith("core/")]
    assert 5 <= len(files) <= 8
    assert [name for name in files if not (REPOSITORY / name).is_file()] == []


def test_every_public_name_is_in_the_api() -> None:
    listed = re.findall(r"^::: core\.(\w+)$", TEXTS["docs/api.md"], flags=re.MULTILINE)
    assert sorted(listed) == sorted(set(core.__all__) - {"__version__"})


def test_every_page_is_in_the_readme() -> None:
    pages = {page.stem for page in (REPOSITORY / "pages").glob("*.py")} - {"__init__", "main"}
    assert pages == set(NAMES)
    assert all(f"| {name} |" in README for name in PLACES.values())
    assert all(name.casefold() in README.casefold() for name in LAB.values())


def test_the_readme_is_short_and_its_figures_are_those_of_the_results() -> None:
    assert len(README.encode()) <= 8000
    results = TEXTS["docs/results.md"]
    table = README[README.index("| rule |") : README.index("Regret is")]
    rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:]]
    assert len(rows) == 4
    for rule, *figures in rows:
        short = re.split(", | on ", rule)[0]
        mae, accuracy, regret, top = map(re.escape, figures)
        cells = rf"{mae} \| {accuracy} \| {regret} \| [^|]+ \| {top}"
        assert re.search(rf"^\| {short}[^|]* \| {cells} \|", results, flags=re.MULTILINE), rule


def test_every_table_of_the_results_has_a_command_that_exists() -> None:
    """A section names a command above its tables; its modules, options and files are there."""
    for section in re.split(r"^## ", TEXTS["docs/results.md"], flags=re.MULTILINE)[1:]:
        title = section.splitlines()[0]
        commands = list(re.finditer(r"python -m ([\w.]+)([^`\n]*)", section))
        assert commands, f"{title}: no command"
        table = f"{section}\n|".index("\n|")
        assert commands[0].start() < table, f"{title}: a table before its command"
        for module, arguments in (command.groups() for command in commands):
            if module == "pytest":
                missing = [name for name in arguments.split() if not (REPOSITORY / name).is_file()]
            else:
                source = (REPOSITORY / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
                options = re.findall(r" (--[a-z-]+)", arguments)
                missing = [option for option in options if f'"{option}"' not in source]
            assert missing == [], f"{title}: {module}{arguments}"


def test_every_section_that_the_code_cites_exists() -> None:
    """Docstrings cite the methods by section: `docs/methods.md §5`, `docs/methods.md §9.3`."""
    sections = {
        re.match(r"[\d.]*\d", heading)[0]
        for heading in headings("docs/methods.md")
        if heading[0].isdigit()
    }
    cited = {}
    for folder in ("core", "pages", "tests", "benchmarks"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            for section in re.findall(
                r"methods(?:\.md)? §(\d+(?:\.\d+)?)", path.read_text(encoding="utf-8")
            ):
                cited.setdefault(section, path)
    assert len(cited) > 5
    assert cited.keys() <= sections, {
        section: cited[section] for section in cited.keys() - sections
    }


def test_every_dependency_has_its_reason() -> None:
    text = TEXTS["docs/architecture.md"]
    table = text[text.index("## Dependencies") :]
    for file in (REPOSITORY / "requirements.txt", *(REPOSITORY / "requirements").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", "-")):
                assert re.split(r"[<>=!~\[; ]", line)[0] in table, f"{file.name}: {line}"


def test_nothing_names_a_machine_or_a_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.splitlines():
        path = REPOSITORY / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".lock", ".yml", "") and path.is_file():
            text = path.read_text(encoding="utf-8")
            found = re.search(
                r"(/work/main|/root/|/home/\w+/|https?://[\w.]*(pypi|pythonhosted)[\w.]*)", text
            )
            assert found is None or name == "tests/packaging/test_docs.py", (name, found)
