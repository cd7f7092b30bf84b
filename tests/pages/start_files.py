"""Files as people have them, small ones of our own making."""

from __future__ import annotations

import csv
import io
from typing import Any

from test_workbooks import workbook

N = 24
OLD, NEW = "The parcel is on its way to you, as of today.", "Please send a photo of the damage."


def table(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def pairs(*, gold: bool = True) -> list[dict[str, Any]]:
    """An export of a test of two bots, of which the judge and Anna say who is better."""
    says = ("New bot", "new bot", "Old bot", "NEW BOT", "tie", "Old")
    return [
        {
            "Ticket": f"T-{100 + i}",
            "Created": f"{1 + i % 28:02d}/08/2026",
            "Team": ("Delivery", "Tech")[i % 2],
            "Customer question": f"Where is my parcel number {i}, please?",
            "Old bot reply": f"{OLD} {i}",
            "New bot reply": f"{NEW} {i}",
            "GPT-4o verdict": says[i % 6],
            "GPT conf.": f"{60 + i}%",
            **({"Human (Anna)": says[(i * 5) % 6]} if gold else {}),
            "Shift": "late" if i % 7 == 3 else "",
            "Cost $": f"0.00{i + 10}",
        }
        for i in range(N)
    ]


def german_pairs() -> list[dict[str, Any]]:
    says = ("Neuer Bot", "neuer Bot", "Alter Bot", "Neu", "unentschieden", "Alt")
    return [
        {
            "Vorgang": f"V-{100 + i}",
            "Erstellt": f"{1 + i % 28:02d}.08.2026",
            "Kundenfrage": f"Wo ist mein Paket Nummer {i}, bitte?",
            "Antwort alter Bot": f"Das Paket ist heute auf dem Weg zu Ihnen. {i}",
            "Antwort neuer Bot": f"Bitte senden Sie uns ein Foto des Schadens. {i}",
            "Urteil GPT-4o": says[i % 6],
            "Sicherheit": f"{60 + i} %",
            "Mensch (Anna)": says[(i * 5) % 6],
            "Notizen": "dringend" if i == 3 else "",
        }
        for i in range(N)
    ]


def log() -> list[dict[str, Any]]:
    return [
        {
            "trace_id": f"5f1d{i:04x}",
            "release": ("v1", "v2")[i % 2],
            "user_input": f"Where is my parcel number {i}, please?",
            "assistant_output": f"{OLD} {i}",
            "llm_judge": "PASS" if i % 3 else "FAIL",
            "human_review": ("", "ok", "not ok", "ok")[i % 4],
            "channel": ("mail", "chat")[i // 2 % 2],
        }
        for i in range(N)
    ]


def levels() -> list[dict[str, Any]]:
    return [
        {
            "No": 1 + i,
            "Question": f"Where is my parcel number {i}, please?",
            "Assistant answer": f"{OLD} {i}",
            "AI score (1-5)": 1 + i % 5,
            "Human 1": 1 + (i * 2) % 5,
            "Human 2": 1 + (i * 3) % 5,
            "Comment": "check" if i == 3 else "",
        }
        for i in range(N)
    ]


def german_levels() -> list[dict[str, Any]]:
    return [
        {
            "Nr": 1 + i,
            "Frage": f"Wo ist mein Paket Nummer {i}, bitte?",
            "Antwort": f"{OLD} {i}",
            "KI-Note": 1 + i % 5,
            "Anna": 1 + (i * 2) % 5,
            "Ben": 1 + (i * 3) % 5,
            "Kommentar": "Bitte noch einmal ansehen." if i % 4 == 3 else "",
        }
        for i in range(N)
    ]


def researchers() -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{i // 4}",
            "judge_model": ("judge-large", "judge-small")[i % 2],
            "answer_a_model": "alpha-7b",
            "answer_b_model": "beta-7b",
            "presented": ("ab", "ba")[i // 2 % 2],
            "verdict": ("A>B", "B>A", "A>B", "A=B", "A>B")[i % 5],
            "verbalized_conf": f"0.{60 + i % 30}",
            "reference": ("A>B", "B>A")[i // 4 % 2],
        }
        for i in range(2 * N)
    ]


def rated() -> list[dict[str, Any]]:
    return [
        {
            "run_id": 10 + i,
            "input": f"Where is my parcel number {i % 3}, please?",
            "output": f"{OLD} {i}",
            "helpfulness": 1 + i % 5,
            "correctness": i % 2,
            "model": ("prod", "candidate")[i % 2],
        }
        for i in range(2 * N)
    ]


def book() -> bytes:
    rows = pairs()
    return workbook({"Tickets": [list(rows[0]), *(list(row.values()) for row in rows)]})


ROWS = {
    "ab.csv": pairs(),
    "ab.xlsx": pairs(),
    "ab-deutsch.csv": german_pairs(),
    "log.csv": log(),
    "levels.csv": levels(),
    "levels-deutsch.csv": german_levels(),
    "researcher.csv": researchers(),
    "no-gold-pairs.csv": pairs(gold=False),
    "no-gold-scores.csv": rated(),
}
FILES = {
    "ab.csv": (table(ROWS["ab.csv"]), "votes", N),
    "ab.xlsx": (book(), "votes", N),
    "ab-deutsch.csv": (table(ROWS["ab-deutsch.csv"], ";"), "votes", N),
    "log.csv": (table(ROWS["log.csv"]), "scores", N),
    "levels.csv": (table(ROWS["levels.csv"]), "scores", 3 * N),
    "levels-deutsch.csv": (table(ROWS["levels-deutsch.csv"], ";"), "scores", 3 * N),
    "researcher.csv": (table(ROWS["researcher.csv"]), "votes", 2 * N),
    "no-gold-pairs.csv": (table(ROWS["no-gold-pairs.csv"]), "votes", N),
    "no-gold-scores.csv": (table(ROWS["no-gold-scores.csv"]), "scores", 4 * N),
}
"""Name → the file, what it holds and how many judgements."""
ASKED = {"researcher.csv": 1, "levels-deutsch.csv": 1}
"""How often something is asked: where orders were turned, only their owner knows what a label names;
and of two columns of texts which is the answer.
"""
