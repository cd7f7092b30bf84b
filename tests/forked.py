"""What is tried in a process of its own, forked from one that has loaded everything: its memory and
its time are its own, and it starts at once.

The process that forks opens no store and draws nothing itself: what starts threads must not fork.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import os
import re
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from core.__main__ import main
from core.auditing.results import Audit
from core.use import commands

ADDRESS_SPACE, SECONDS = 4 * 1024**3, 120
"""Backstops, above what tests allow: what runs away ends itself."""

Done = dict[str, object]


def attempt(act: Callable[[], tuple[int, str]]) -> Done:
    """Exit code and words of an act, how its process ended, and the memory (bytes) and processor
    time (seconds) that it took.
    """
    answer, child_answers = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        try:
            code, said = act()
        except BaseException:
            code, said = -1, traceback.format_exc()
        with os.fdopen(child_answers, "wb") as file:
            file.write(f"{code}\n{said}".encode("utf-8", "replace"))
        os._exit(0)
    os.close(child_answers)
    with os.fdopen(answer, "rb") as file:
        exit_code, _, said = (file.read().decode() or "-2\ndied").partition("\n")
    _, status, used = os.wait4(child, 0)
    return {
        "code": int(exit_code),
        "said": said,
        "status": status,
        "resident": used.ru_maxrss * 1024,
        "cpu": used.ru_utime + used.ru_stime,
    }


def attempts(acts: Sequence[Callable[[], tuple[int, str]]]) -> Iterator[Done]:
    """What came of each of many small acts, see `attempt`: one process tries them in turn, as a
    server would, and says of each what it took; where it ends, the next one goes on behind the act
    that ended it.
    """
    begun = 0
    while begun < len(acts):
        answer, child_answers = os.pipe()
        child = os.fork()
        if not child:
            os.close(answer)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            # What one act has left reserved, the next one reserves anew.
            resource.setrlimit(resource.RLIMIT_AS, (2 * ADDRESS_SPACE, 2 * ADDRESS_SPACE))
            with os.fdopen(child_answers, "w", encoding="utf-8") as file:
                for act in acts[begun:]:
                    print(json.dumps(_measured(act)), file=file, flush=True)
            os._exit(0)
        os.close(child_answers)
        with os.fdopen(answer, encoding="utf-8") as file:
            for line in file:
                begun += 1
                yield json.loads(line)
        _, status, used = os.wait4(child, 0)
        if status:
            begun += 1
            yield {
                "code": -2,
                "said": "died",
                "status": status,
                "resident": used.ru_maxrss * 1024,
                "cpu": used.ru_utime + used.ru_stime,
            }


def _measured(act: Callable[[], tuple[int, str]]) -> Done:
    """What came of an act in this process: the most memory that was held during it, and its time."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(before) + SECONDS, resource.RLIM_INFINITY))
    try:
        code, said = act()
    except BaseException:
        code, said = -1, traceback.format_exc()
    cpu = time.process_time() - before
    peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert peak, "Linux names the peak of a process in /proc"
    said = said.encode("utf-8", "replace").decode()
    return {"code": code, "said": said, "status": 0, "resident": int(peak[1]) * 1024, "cpu": cpu}


def command(arguments: Sequence[str]) -> tuple[int, str]:
    """Exit code of a command of ours, and all that it said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(arguments)
    return code, said.getvalue()


def commands_of(files: Sequence[str], outputs: Mapping[str, Sequence[str]]) -> tuple[int, str]:
    """Verb, exit code and words of each command on the same files, as JSON, until one fails; what
    one has audited the next one shows.

    outputs : by verb, its further arguments.
    """
    audited, audits = commands._audited, []

    def audited_once(options: argparse.Namespace, then: object = None) -> Audit:
        if not audits:
            audits.append(audited(options, then))
        return audits[0]

    done: list[tuple[str, int, str]] = []
    with patch.object(commands, "_audited", audited_once):
        for verb, more in outputs.items():
            done.append((verb, *command([verb, *files, *more])))
            if done[-1][1]:
                break
    return 0, json.dumps(done)


def aside(act: Callable[[], object]) -> bool:
    """Whether an act that is not itself tried ends well, in a process of its own."""
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.wait4(child, 0)[1] == 0


def load_what_loads(act: Callable[[], tuple[int, str]]) -> None:
    """Import here what an act imports, or every child would, each for itself."""

    def loaded() -> tuple[int, str]:
        code, said = act()
        assert code == 0, said
        return code, "\n".join(sys.modules)

    done = attempt(loaded)
    assert done["code"] == 0, done["said"]
    for name in str(done["said"]).split("\n"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What is here before is no child's garbage, and no child copies it to look.
    gc.collect()
    gc.freeze()
