"""What `action.yml` runs: an audit with gates, its Markdown in the job's summary, its files in one
folder.

Everything comes in environment variables, so that no text of a workflow becomes a command:

- AUDIT_FILES: paths or patterns, one per line
- AUDIT_FAIL_IF: gates, one per line; AUDIT_STRICT: true or false
- AUDIT_OPTIONS: further flags of `appellate audit`, one per line (`--gold humans`)
- AUDIT_OUT: the folder for audit.json, junit.xml, summary.md and report.html

Exits as the audit does: 0 passed, 1 a gate failed, 2 unusable input, 70 an error that nobody
foresaw.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

# -P: a module of the folder must not stand in for one of the packages.
COMMAND = [sys.executable, "-P", "-m", "appellate"]


def lines(name: str) -> list[str]:
    """Lines of a variable that are not blank."""
    return [line.strip() for line in os.environ.get(name, "").splitlines() if line.strip()]


def main() -> int:
    """Audit, report, summarise; return the audit's exit code."""
    out = Path(os.environ["AUDIT_OUT"])
    out.mkdir(parents=True, exist_ok=True)
    # A pattern goes on as it is: files of one are read together.
    files = lines("AUDIT_FILES")
    further = [word for line in lines("AUDIT_OPTIONS") for word in shlex.split(line)]
    gates = [f"--fail-if={gate}" for gate in lines("AUDIT_FAIL_IF")]
    strict = ["--strict"] if os.environ.get("AUDIT_STRICT", "").lower() == "true" else []
    written = {"json": "audit.json", "junit": "junit.xml", "markdown": "summary.md"}
    outputs = [f"--{kind}={out / name}" for kind, name in written.items()]
    audit = subprocess.run(
        [*COMMAND, "audit", *further, *gates, *strict, *outputs, "--", *files],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    print(audit.stderr, end="", file=sys.stderr, flush=True)
    # Python itself ends with 1 where it has no such package; no gate was asked then.
    written_any = (out / written["json"]).is_file()
    code = 70 if audit.returncode == 1 and not written_any else audit.returncode
    said = [line for line in audit.stderr.splitlines() if line.startswith("appellate: ")]
    summary = out / written["markdown"]
    text = summary.read_text(encoding="utf-8") if summary.is_file() else "## Judges\n"
    if code not in (0, 1):
        text = "## Judges could not be audited\n\n" + fenced("\n".join(said[-20:]))
    where = os.environ.get("GITHUB_STEP_SUMMARY")
    if where:
        with open(where, "a", encoding="utf-8") as file:
            file.write(text + "\n")
    if code in (0, 1):
        page = [f"--html={out / 'report.html'}"]
        subprocess.run(
            [*COMMAND, "report", *further, *page, "--", *files], stdout=sys.stderr, check=False
        )
    return code


def fenced(text: str) -> str:
    """Text in Markdown as it is, whatever it holds."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}\n"


if __name__ == "__main__":
    sys.exit(main())
