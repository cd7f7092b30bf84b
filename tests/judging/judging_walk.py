"""A judge that a careful prompt betters, and the answers that it judges, for those who walk from the
first collection to the proof, by clicks or by commands.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from judging_server import Server

BETTER = "llama3@v2 is better than llama3: where they part, it was right in"
"""What is said of a second prompt that says carefully."""


class Grader(Server):
    """Passes six in ten of the wrong answers, nine if its prompt says kindly, and none if it
    says carefully.
    """

    def _said(self, body):
        text = json.dumps(body["messages"])
        wrong = re.search(r"wrong (\d) ", text)
        passed = () if "carefully" in text else "012356789" if "kindly" in text else "012369"
        passes = wrong is None or wrong[1] in passed
        return json.dumps({"reason": "So it is.", "verdict": "PASS" if passes else "FAIL"}), None


def answers(path: Path, n: int, *, labelled: int) -> Path:
    """Write n answers. Half of them are wrong, and people failed those that they labelled."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("prompt", "response", "human_passed"))
        for k in range(n):
            text = f"It is wrong {k // 2 % 10} {k}." if k % 2 else f"It is {k}."
            out.writerow((f"Question {k}?", text, (k + 1) % 2 if k < labelled else ""))
    return path
