"""Words and forms in which judges state a verdict or a score, in several languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

NAME = (
    r"(?:the\s+)?(?:ai\s+)?(?:response|assistant|answer|option|candidate|model|output|reply|solution|"
    r"(?:die\s+)?antwort|(?:la\s+)?respuesta|(?:la\s+)?r[ée]ponse|asistente|回答|回复|答案|选项|助手|模型)"
)
BETTER = (
    r"(?:(?:is|was|wins|gewinnt|ist|es|est|gana|更|较)?\s*(?:the\s+)?(?:clearly|significantly|slightly|much|"
    r"far|marginally|deutlich|etwas)?\s*(?:better|best|winner|wins?|preferred|preferable|superior|stronger|"
    r"besser|mejor|meilleure?|好|更好|更优|胜出)(?:\s+(?:response|answer|one|overall))?)"
)
STEP = {"": 0, ">": 1, ">>": 2, "<": -1, "<<": -2, "=": 0, "==": 0, "≈": 0, "~": 0}
CHOICE = re.compile(rf"(?:{NAME}[\s_\-:#]*)?[\"'(\[]*([abc])[\"')\]]*(?:\s*{BETTER})?\Z")
LEVEL = re.compile(r"([ab])\s*(>>|>|<<|<|==|=|≈|~)\s*([ab])\Z")
ORDINAL = re.compile(r"(?:the\s+)?(first|second)(?:\s+(?:response|answer|one|assistant))?\Z")
TIES = re.compile(
    r"(?:it(?:'s| is)\s+)?(?:an?\s+)?(?:tie|tied|draw|even|equal|neither|both|both equal(?:ly "
    r"good)?|both are equal|"
    r"equally (?:good|bad)|no (?:clear )?(?:difference|winner|preference)|neither(?: "
    r"response)?(?: is)?(?: better)?|"
    r"unentschieden|gleichstand|gleichwertig|beide gleich(?: gut)?|keine(?: von "
    r"beiden)?|empate|ninguna|iguales|"
    r"[ée]galit[ée]|match nul|aucune|平局|平手|相同|一样好?|不分上下|引き分け|pareggio)"
    r"(?:\s*\(\s*(?:c|both bad|both good)\s*\))?\Z"
)
LABELLED_TIE = re.compile(r"c\s*[(:\-–—,]\s*(?:it is )?(?:a )?(?:tie|neither|draw|equal)\w*\)?\Z")
EDGES = " \t\n\r*_\"'`“”„«».,;:!。，！$()[]{}"
"""Stripped from around a verdict."""
SCORE = re.compile(r"(\d{1,3})(?:\.0+)?(?:\s*(?:/|out of|von|de|sur)\s*(\d{1,3}))?\Z")


def choice(words: str) -> int | None:
    """The vote that a few words state: +1 A, −1 B, 0 tie; None if they state none or more than one."""
    level = step(words)
    if level is not None:
        return (level > 0) - (level < 0)
    text = _bare(words)
    found = CHOICE.fullmatch(text) or ORDINAL.fullmatch(text)
    if found is not None:
        return {"a": 1, "first": 1, "b": -1, "second": -1, "c": 0}[found.group(1)]
    return 0 if TIES.fullmatch(text) or LABELLED_TIE.fullmatch(text) else None


def step(words: str) -> int | None:
    """Steps of a five-level verdict: +2 for `A>>B`, 0 for `A=B`, −2 for `B>>A`; None if it is none."""
    found = LEVEL.fullmatch(_bare(words))
    if found is None or found.group(1) == found.group(3):
        return None
    return STEP[found.group(2)] * (1 if found.group(1) == "a" else -1)


def whole_score(words: str, low: int, high: int) -> int | None:
    """A whole score in a range, such as `7`, `7.0` or `7/10`; None for anything else."""
    found = SCORE.fullmatch(_bare(words))
    if found is None or (found.group(2) is not None and int(found.group(2)) != high):
        return None
    score = int(found.group(1))
    return score if low <= score <= high else None


def _bare(words: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", words).strip(EDGES).lower().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a kind of verdict is stated.

    keys : of a JSON object, in lower case.  read : words → what they state, or None.
    inline : statements anywhere in a text; last : statements that count on its outer lines only;
        group `v`
        holds the words.  alone : what the whole of a text, or its last line, may be.
    prose : sentences that state a verdict where nothing else does.
    """

    keys: tuple[str, ...]
    read: Callable[[str], int | None]
    inline: tuple[re.Pattern[str], ...]
    last: tuple[re.Pattern[str], ...]
    alone: re.Pattern[str]
    prose: tuple[re.Pattern[str], ...] = ()


WRAP = r"[\s*_\"'`“”(\[$]{0,12}"
"""What may stand around a verdict within a line."""
AFTER = (
    r"(?![a-zA-Z0-9_>À-ÿ])(?!{w}(?:or|and|oder|und|o|y|ou|et|/|\||,|vs\.?|或|和){w}(?:response\s+)?[ABC]\b)"
    r"(?={w}(?:\Z|\n|\0|[.;,!)\]}}—–。，；（(<:|-]|because\b|since\b|as\b|for\b|weil\b|da\b|porque\b|car\b|"
    r"is (?:clearly |slightly |much )?better|wins\b|更好|更优|更准|胜出))"
).format(w=r"[ \t*_\"'`”)\]}$]{0,12}")
LETTER = rf"(?:(?i:{NAME})[\s_\-:#]*)?[*_\"'`“(\[]*[ABCＡＢＣ]"
TIE = r"(?:[Nn]either|[Tt]ied?|[Aa] tie|[Dd]raw|[Uu]nentschieden|[Gg]leichstand|[Ee]mpate|[ÉéEe]galité|平局|平手)"
VALUE = rf"(?P<v>{LETTER}\s*(?:>>|>|<<|<|==|=)\s*[AB]|{LETTER}|{TIE}){AFTER}"
VERDICT_NAMES = (
    r"(?:verdict|decision|judge?ment|winner|(?:my|final|overall)\s+choice|preference|conclusion|better response|"
    r"best response|preferred "
    r"response|urteil|entscheidung|gewinner|fazit|veredicto|decisi[óo]n|ganador|conclusi[óo]n|"
    r"verdict final|d[ée]cision|gagnant|结论|判定|判断|裁决|最终判断|最终结论|最终选择|评判结果|选择)"
)
IS = r"\s{0,4}(?:[:：]|=|\bis\b:?|\bist\b:?|\bes\b:?|\best\b:?|是[:：]?|为[:：]?)"
TAG = re.compile(r"\[\[\s*(?P<v>[^\[\]\n]{1,40}?)\s*\]\]|【\s*(?P<w>[^【】\n]{1,40}?)\s*】")
ELEMENT = re.compile(
    r"<(?P<n>verdict|winner|decision|choice|judge?ment|final_verdict|final|better|score|rating|result|"
    r"output)>\s*(?P<v>[^<>\n]{1,60}?)\s*</(?P=n)>",
    re.IGNORECASE,
)
ANSWER_ELEMENT = re.compile(
    r"<(answer|final_answer)>\s*(?P<v>[^<>\n]{1,60}?)\s*</\1>", re.IGNORECASE
)
RESULT = re.compile(r"\[RESULT\]\s*(?P<v>[^\n\0]{1,40}?)\s*(?:\n|\Z)", re.IGNORECASE)
BOXED = re.compile(
    r"\\boxed\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\{)?\s*(?P<v>[^{}\n]{1,40}?)\s*\}"
)
OUTPUT = re.compile(r"^\W{0,4}output\s*(?::|is)?\s*\((?P<v>\w)\)", re.IGNORECASE | re.MULTILINE)

VERDICT = Form(
    keys=(
        *(
            "verdict",
            "final_verdict",
            "finalverdict",
            "winner",
            "choice",
            "decision",
            "preference",
            "judgement",
        ),
        *(
            "judgment",
            "better",
            "better_response",
            "preferred",
            "preferred_response",
            "overall_verdict",
        ),
        *("best_response", "overall_winner", "final_decision", "urteil", "veredicto", "结论"),
    ),
    read=choice,
    inline=(
        TAG,
        ELEMENT,
        RESULT,
        OUTPUT,
        re.compile(
            rf"(?i:(?<!\w)(?:final\s+|overall\s+|my\s+){{0,3}}{VERDICT_NAMES}{WRAP}{IS}){WRAP}{VALUE}"
        ),
        re.compile(
            rf"(?i:^[^\w\n]{{0,20}}(?:final\s+|overall\s+|my\s+){{0,3}}{VERDICT_NAMES})[^\w\n]{{0,20}}\n"
            rf"\s{{0,8}}{WRAP}{VALUE}",
            re.MULTILINE,
        ),
    ),
    last=(
        ANSWER_ELEMENT,
        BOXED,
        re.compile(
            rf"(?i:^[^\w\n]{{0,20}}(?:the\s+|my\s+)?(?:final\s+)?(?:answer|choice|pick|vote|antwort|"
            rf"respuesta|réponse|答案){WRAP}{IS}){WRAP}{VALUE}[\s*_\"'`”)\].$]*\Z"
        ),
    ),
    alone=re.compile(
        rf"[\s*_\"'`“(\[#\-$]*(?P<v>(?i:{LETTER})|{TIE}|[AB]\s*(?:>>|>|=)\s*[AB])[\s*_\"'`”)\].$!]*\Z"
    ),
    prose=(
        re.compile(
            rf"(?:(?i:{NAME})\s+|(?<![\w]))(?P<v>[AB])[*_]*\s+(?:is|was)\s+(?:clearly |definitely |"
            rf"overall |therefore )?"
            r"(?:better|superior|preferable|stronger|the winner|the better(?: response| answer| "
            r"one| choice)?|"
            r"the stronger "
            r"(?:response|answer|one))(?:\s+(?:overall|than\s+(?:(?:Response|Assistant|"
            r"Answer)\s+)?[AB]))?[*_]*(?:[.!]|\Z|\n)"
        ),
        re.compile(
            rf"\b[Tt]he better (?:response|answer|one) is [*_]*(?:(?i:{NAME})\s+)?[*_]*(?P<v>[AB])[*_]*(?:[.!]|\Z|\n)"
        ),
        re.compile(
            rf"\bI (?:prefer|choose|pick|select|vote for|go with) [*_]*(?:(?i:{NAME})\s+)?[*_]*(?P<v>[AB])[*_]*"
            r"(?:[.!]|\Z|\n)"
        ),
    ),
)

POINTS = r"(?P<v>\d{1,3}(?:\.\d+)?(?:\s*/\s*\d{1,3})?)(?![\w/%]|\.\d|\s*(?:-|–|to|or|bis)\s*\d)"
SCORE_NAMES = (
    r"(?:score|rating|grade|overall score|final score|final "
    r"rating|bewertung|punktzahl|note|puntuaci[óo]n|"
    r"nota|评分|得分|分数|总分)"
)


def score_form(low: int, high: int) -> Form:
    """How whole scores of a range are stated."""
    return Form(
        keys=(
            *(
                "score",
                "rating",
                "final_score",
                "overall_score",
                "overall",
                "grade",
                "bewertung",
                "puntuación",
            ),
            *("note", "评分"),
        ),
        read=lambda words: whole_score(words, low, high),
        inline=(
            TAG,
            ELEMENT,
            RESULT,
            re.compile(
                rf"(?i:(?<![\w-])(?:final\s+|overall\s+|my\s+){{0,3}}{SCORE_NAMES}{WRAP}{IS}){WRAP}{POINTS}"
            ),
        ),
        last=(ANSWER_ELEMENT, BOXED),
        alone=re.compile(
            r"[\s*_\"'`(\[#]*(?P<v>\d{1,3}(?:\.\d+)?(?:\s*/\s*\d{1,3})?)[\s*_\"'`)\].!]*\Z"
        ),
    )
