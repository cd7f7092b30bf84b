"""Words in the names of columns, by what they mean: the one list that rules about names share."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+|[0-9]+")

_MEANINGS = {
    # Who judges, and by whom a judge is measured.
    "judge": "judge grader evaluator",
    "llm": "llm ai auto",
    "model": (
        "automatic automated gpt chatgpt claude gemini llama mistral mixtral qwen deepseek grok "
        "prometheus"
    ),
    "critic": "critic marker referee richter gutachter bewerter",
    "rater": ("annotator reviewer labeler labeller rater assessor worker participant crowd prüfer"),
    "raters": "annotators reviewers labelers labellers raters assessors workers participants",
    "human": "human humans people mensch menschen",
    "expert": "expert experts experte experten",
    "truth": "gold golden reference ground truth true",
    # What is said.
    "score": "score scores rating ratings grade bewertung note",
    "verdict": (
        "verdict says said decision judgment judgement result outcome urteil entscheidung ergebnis"
    ),
    "choice": (
        "choice chosen winner wins won preferred preference prefers vote votes pick picked better "
        "best side selected gewinner"
    ),
    # What is told besides.
    "number": "id ids no num nr number nummer idx index uid",
    "confidence": (
        "confidence conf certainty certain sure sureness probability prob sicherheit konfidenz"
    ),
    "reason": "rationale reason reasons reasoning explanation justification why comment begründung",
    "order": "order position ordering reihenfolge",
    "run": "version run seed step epoch turn temperature",
    "size": "rank count length len",
    "call": (
        "time date timestamp year month day seconds sec ms latency duration token tokens cost "
        "price usd"
    ),
    "answer": "response output answer text completion reply antwort",
}


def words_of(column: str) -> set[str]:
    """The words of a column's name: `left_system`, `leftSystem` and `Left system` have two."""
    return {word.casefold() for word in _WORD.findall(column)}


def meaning(*meanings: str, more: str = "") -> frozenset[str]:
    """All words of some meanings, and more."""
    return frozenset(" ".join((*(_MEANINGS[name] for name in meanings), more)).split())
