"""The forms in which judges state a verdict or a score, and what makes a statement none.

A verdict in prose is read by a short list of whole forms, the same few in English, German, French,
Spanish and Chinese, from the beginning of a sentence to its value: `Verdict: A`, `The better
response is B.`, `Response A wins.` A word before the name of a verdict makes it another's
(`Reference verdict`), a criterion's (`Style winner`) or a passing one (`Initial verdict`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

NAME = (
    r"(?:the\s+)?(?:ai\s+)?(?:response|assistant|answer|option|candidate|model|output|reply|solution|"
    r"(?:die\s+)?antwort|(?:la\s+)?respuesta|(?:la\s+)?r[ée]ponse|asistente|回答|回复|答案|选项|助手|模型)"
)
"""What a response is called before its letter."""
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
    r"good)?|both are equal|equally (?:good|bad)|no (?:clear )?(?:difference|winner|preference)|"
    r"neither(?: response)?(?: is)?(?: better)?|"
    r"unentschieden|gleichstand|gleichwertig|beide gleich(?: gut)?|keine(?: von beiden)?|"
    r"empate|ninguna|iguales|[ée]galit[ée]|match nul|aucune|"
    r"平局|平手|相同|一样好?|不分上下|引き分け|pareggio)(?:\s*\(\s*(?:c|both bad|both good)\s*\))?\Z"
)
LABELLED_TIE = re.compile(r"c\s*[(:\-–—,]\s*(?:it is )?(?:a )?(?:tie|neither|draw|equal)\w*\)?\Z")
EDGES = " \t\n\r*_\"'`“”„«».,;:!。，！$()[]{}"
"""Stripped from around a verdict."""
SCORE = re.compile(r"(\d{1,3})(?:\.0+)?(?:\s*(?:/|out of|von|de|sur)\s*(\d{1,3}))?\Z")


def choice(words: str) -> int | None:
    """The vote that a few words state: +1 A, −1 B, 0 tie; None if they state none or two."""
    level = step(words)
    if level is not None:
        return (level > 0) - (level < 0)
    text = _bare(words)
    found = CHOICE.fullmatch(text) or ORDINAL.fullmatch(text)
    if found is not None:
        return {"a": 1, "first": 1, "b": -1, "second": -1, "c": 0}[found.group(1)]
    return 0 if TIES.fullmatch(text) or LABELLED_TIE.fullmatch(text) else None


def step(words: str) -> int | None:
    """Steps of a five-level verdict: +2 for `A>>B`, 0 for `A=B`, −2 for `B>>A`; None if it is
    none.
    """
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
        group `v` holds the words.  alone : what the whole of a line may be.
    sentence : what the last sentence of a text may be.
    loose : what may be a statement: it takes nothing, but one that differs leaves a reply unparsed.
    """

    keys: tuple[str, ...]
    read: Callable[[str], int | None]
    inline: tuple[re.Pattern[str], ...]
    last: tuple[re.Pattern[str], ...]
    alone: re.Pattern[str]
    sentence: tuple[re.Pattern[str], ...] = ()
    loose: tuple[re.Pattern[str], ...] = ()


WRAP = r"[\s*_\"'`“”(\[$]{0,12}"
"""What may stand around a verdict within a line."""
AFTER = (
    r"(?![a-zA-Z0-9_>À-ÿ])(?!{w}[(]?[?？])(?!{w}(?:or|and|oder|und|o|y|ou|et|/|\||[,;&]|vs\.?|或|和){w}(?:response\s+)?[ABC]\b)"
    r"(?={w}(?:\Z|\n|\0|[.;,!)\]}}—–。，；（(<:：]|(?<=[ \t])-[ \t-]|because\b|since\b|as\b(?! in\b)|for its\b|weil\b|"
    r"da\b|porque\b|car\b|is (?:clearly |slightly |much )?better|wins\b|更好|更优|更准|胜出))"
).format(w=r"[ \t*_\"'`”)\]}$]{0,12}")
"""What may follow a letter: the end, a mark, a reason. `A-` is a grade."""
LETTER = rf"(?:(?i:{NAME})[\s_\-:#]*)?[*_\"'`“(\[]*[ABCＡＢＣ]"
TIE = r"(?:[Nn]either|[Tt]ied?|[Aa] tie|[Dd]raw|[Uu]nentschieden|[Gg]leichstand|[Ee]mpate|[ÉéEe]galité|平局|平手)"
VALUE = rf"(?P<v>{LETTER}\s*(?:>>|>|<<|<|==|=)\s*[AB]|{LETTER}|{TIE}){AFTER}"
VERDICT_NAMES = (
    r"(?:verdict|decision|judge?ment|winner|choice|preference|conclusion|better response|"
    r"best response|preferred response|"
    r"urteil|entscheidung|gewinner|fazit|"
    r"veredicto|decisi[óo]n|ganador|conclusi[óo]n|"
    r"d[ée]cision|gagnant|"
    r"结论|判定|判断|裁决|评判结果|选择)(?:\s+finale?)?"
)
BEFORE = r"(?:(?:the|my|our|so|thus|hence|therefore|final|overall|mein|das|el|mi|le|mon)[ ,]\s*|最终|最后){0,4}"
"""The only words that may stand before the name of a verdict."""
BEGUN = (
    r"(?:^[^\w\n]{0,20}(?:\d{1,2}[.)][^\w\n]{1,8})?|(?<=[.!?;。！？；\0])\s*|"
    r"(?<=[,，])\s*(?=(?:the|my|our|das|mein|el|mi|le|mon|最终)\b))"
)
"""Where a statement begins: a line, a sentence, or a clause that says `the` or `my`."""
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
END = r"(?=[\s*_\"'`”)\].!。$]*\Z)"
ANSWERED = (
    rf"(?i:^[^\w\n]{{0,20}}{BEFORE}(?:answer|choice|pick|vote|antwort|respuesta|réponse|答案){WRAP}{IS})"
    rf"{WRAP}{VALUE}"
)

VERDICT = Form(
    keys=(
        *("verdict", "final_verdict", "finalverdict", "winner", "choice", "decision"),
        *("preference", "judgement", "judgment", "better", "better_response", "preferred"),
        *("preferred_response", "overall_verdict", "best_response", "overall_winner"),
        *("final_decision", "urteil", "veredicto", "结论"),
    ),
    read=choice,
    inline=(
        TAG,
        ELEMENT,
        RESULT,
        OUTPUT,
        re.compile(rf"(?im:{BEGUN}{BEFORE}{VERDICT_NAMES}{WRAP}{IS}){WRAP}{VALUE}"),
        re.compile(
            rf"(?im:^[^\w\n]{{0,20}}{BEFORE}{VERDICT_NAMES})[^\w\n]{{0,20}}\n\s{{0,8}}{WRAP}{VALUE}"
        ),
    ),
    last=(ANSWER_ELEMENT, BOXED, re.compile(ANSWERED + END)),
    alone=re.compile(
        rf"[\s*_\"'`“(\[#\-→$]*(?P<v>(?i:{LETTER})|{TIE}|[AB]\s*(?:>>|>|=)\s*[AB])[\s*_\"'`”)\].$!]*\Z"
    ),
    sentence=(
        re.compile(
            rf"(?i:(?:[^.!?\n,，]{{0,60}}[,，]|therefore|thus|so|hence|also|daher|donc|por tanto|因此|所以)?"
            rf"\s*)(?:(?i:{NAME})\s*)?[*_]*(?P<v>[AB])[*_]*\s*"
            r"(?:(?:is|was)\s+(?:clearly |definitely |overall |therefore |slightly |much )?(?:better|"
            r"superior|preferable|stronger|the winner|the (?:better|stronger)(?: response| answer| "
            r"one| choice)?)|wins|ist besser|gewinnt|es mejor|gana|est meilleure?|gagne|更好|更优|胜出)"
            r"(?:\s+(?:overall|than\s+(?:(?:Response|Assistant|Answer)\s+)?[AB]))?[*_]*[.!。]?[*_]*\Z"
        ),
        re.compile(
            rf"(?i:(?:overall|therefore|thus|so|hence)?,?\s*the better (?:response|answer|one) is )[*_]*"
            rf"(?:(?i:{NAME})\s+)?[*_]*(?P<v>[AB])[*_]*[.!]?[*_]*\Z"
        ),
        re.compile(
            rf"(?i:(?:[^.!?\n,]{{0,60}}[,;]\s*)?(?:(?:overall|therefore|thus|so|hence),?\s*)?I "
            rf"(?:prefer|choose|pick|select|vote for|go with) )[*_]*(?:(?i:{NAME})\s+)?[*_]*(?P<v>[AB])"
            r"[*_]*[.!]?[*_]*\Z"
        ),
    ),
    loose=(
        re.compile(
            rf"(?i:{VERDICT_NAMES}|overall|total|in all|gesamt|en total|总体){WRAP}{IS}"
            rf"{WRAP}(?P<v>{LETTER})(?![\w'’>])"
        ),
        re.compile(
            rf"(?:(?i:{NAME})\s+|(?<!\w))(?P<v>[AB])[*_]*\s+(?:(?:is|was)\s+(?:clearly )?(?:better|superior|"
            r"preferable|stronger|the winner)|wins)[*_]*(?:[.!]|\Z|\n)"
        ),
        re.compile(
            r"(?i:\b(?:should|must|ought to|would) (?:be|go to|have been)|change(?:d)? (?:this |it |that |"
            r"my verdict )?to|go(?:ing)? with|prefer|choose|in favou?r of|hence|therefore|thus|muss|"
            r"debe(?:ría)? ser|doit être|应为|改为)"
            rf"{WRAP}(?P<v>{LETTER})(?![\w'’>])"
        ),
    ),
)

POINTS = r"(?P<v>\d{1,3}(?:\.\d+)?(?:\s*/\s*\d{1,3})?)(?![\w/%]|\.\d|\s*(?:-|–|to|or|bis)\s*\d)"
SCORE_NAMES = (
    r"(?:score|rating|grade|bewertung|punktzahl|note|puntuaci[óo]n|nota|评分|得分|分数|总分)"
    r"(?:\s+(?:finale?|globale?|total))?"
)


def score_form(low: int, high: int) -> Form:
    """How whole scores of a range are stated."""
    return Form(
        keys=(
            *("score", "rating", "final_score", "overall_score", "overall", "grade"),
            *("bewertung", "puntuación", "note", "评分"),
        ),
        read=lambda words: whole_score(words, low, high),
        inline=(
            TAG,
            ELEMENT,
            RESULT,
            re.compile(rf"(?im:{BEGUN}{BEFORE}{SCORE_NAMES}{WRAP}{IS}){WRAP}{POINTS}"),
        ),
        last=(ANSWER_ELEMENT, BOXED),
        alone=re.compile(
            r"[\s*_\"'`(\[#]*(?P<v>\d{1,3}(?:\.\d+)?(?:\s*/\s*\d{1,3})?)[\s*_\"'`)\].!]*\Z"
        ),
        loose=(
            re.compile(rf"(?i:(?:final|overall|total)\s+{SCORE_NAMES}{WRAP}{IS}){WRAP}{POINTS}"),
        ),
    )


KEY_OF_VERDICT = re.compile(
    r"verdict|winner|decision|choice|prefer|judge?ment|urteil|veredicto|结论", re.IGNORECASE
)
"""Of an object: a key that has such a word in it may hold the verdict that was meant."""
CRITERION_KEYS = ("criterion", "dimension", "aspect", "metric", "category", "item", "step")
"""Keys of an object that speaks of one criterion."""
REMARK_KEYS = ("note", "notes", "remark", "comment", "correction", "caveat", "update", "edit")
"""Keys of an object under which a verdict may be taken back."""
CRITERION = re.compile(
    r"\b(?:on|in terms of|regarding|concerning|as for|as to|for|bei|in puncto|en cuanto a|en|pour|"
    r"sur)\s+(?!balance|the whole|reflection|(?:the )?e?nd\b|these|this|that|those|all\b|general|me\b|"
    r"sum\b)(?:the\s+)?\w+(?:\s+\w+)?\s*[,，]?\s*\Z",
    re.IGNORECASE,
)
"""What a clause begins with that speaks of one criterion."""
WORSE = re.compile(
    r"\b(?:worse|worst|weaker|inferior|loser|losing|rejected|schlechter\w*|peor|pire|moins bonne)\b"
    r"(?:\s+(?:one|response|answer|verdict|choice))?(?:\s+(?:is|was|ist|es|est))?\W{0,6}\Z|较差\W{0,4}\Z",
    re.IGNORECASE,
)
"""Words right before a letter that is the other's."""
CONDITION = re.compile(
    r"\b(?:if(?! (?:i|we) (?:must|have to|had to))|unless|provided|assuming|otherwise|depending|wenn|"
    r"falls|sofern|sonst|si|salvo|sauf|à moins|a menos)\b|如果|若",
    re.IGNORECASE,
)
POSSIBLE = re.compile(
    r"\b(?:might|could|perhaps|maybe|possibly|would have|vielleicht|quizás?|peut-être)\b|也许|可能",
    re.IGNORECASE,
)
GOES_ON = re.compile(
    r"[ \t*_\"'`”)\]]*(?:(?!because\b|since\b|as\b|for its\b|weil\b|da\b|porque\b|car\b|is (?:\w+ )?better\b|"
    r"wins\b)[^\W\dA-Z_\u4e00-\u9fff]+\b|[(]?[?？]|→)"
)
"""Behind a tag: the sentence that it is a part of goes on, as in `[[A]] is what it asks for`."""
LOWER = re.compile(r"[^\n]*\n\s*(?!because\b|since\b)[a-zà-ÿ]")
"""Behind a statement on a line of its own: the sentence goes on in the next."""
CORRECTED = re.compile(
    r"(?<!\w)(?:correction|erratum|edit\s*[:：]|update\s*[:：]|wait\b(?=[,.!:—–… -])|scratch that|"
    r"strike that|disregard|never ?mind|on (?:further |second |closer )?(?:reflection|thoughts?|"
    r"inspection)|i (?:misread|mixed (?:\w+ )?up|misspoke|meant|was wrong|take (?:that|it|this) back|"
    r"(?:would|will|must|have to) (?:change|revise|correct))|actually\b(?=[,:]? (?:no|it|my|the|i|[ab])\b)"
    r"|no, (?:wait|disregard|sorry)|revis(?:e|ed|ing|ion)\b|reconsider|my mistake|too close to call|"
    r"ignore (?:the|this|my)|(?:give|have|there is) no (?:verdict|view)|give none|an example\b|the format\b|"
    r"did not (?:pick|choose)|applies to the|cannot (?:fill|judge|tell|choose)|could not (?:read|judge)|"
    r"oops|typo\b|\bhmm|swapped|self-check|recount|cannot be right|can['’]t be right|sorry\b|"
    r"korrektur|berichtigung|moment[,:]|ich meinte|doch nicht|"
    r"je voulais dire|en fait\b|rectification|"
    r"corrección|quise decir|en realidad|mejor dicho|rectifico)|更正|修正|等等|应为|应该是|改为|不对",
    re.IGNORECASE,
)
"""Behind a statement: it is taken back."""
ONLY_OTHER = (
    r"(?<!\w)(?:but|however|instead|rather|should be|must be|should have been|aber|jedoch|sondern|mais|"
    r"pero|sino|但|然而|而是)(?!\w)[^.!?\n。]{{0,90}}?(?<!\w){other}(?![\w'’])"
)
"""Behind a statement, with the other letter: which of the two is meant is not clear."""
ALIKE = (
    r"(?:^|[\n,;.。，；)）|/]|\band\b|\bund\b|\by\b|\bet\b|\bwhile\b)[\s*_\"'`#>\-•]*(?:{name}[\s_]*)?"
    r"{other}[*_\"'`]*\s*(?:[(（:：,，=–—]|-\s|\d)"
)
"""Behind a letter with a mark: the other letter with one, so that each has its own assessment."""

SPEAKER = (
    r"(?:responses?|assistant|answer|candidate|output|text|prompt|user|author|instructions?|comment|line|"
    r"message|code|first|second|former|latter|[AB]|antwort|sie|respuesta|réponse|回答|回复)"
)
SPEECH = (
    r"(?:says?|said|saying|claims?|claimed|contains?|containing|writes?|wrote|asks?|asked|tells?|told|"
    r"instructs?|instructed|demands?|includes?|including|inserts?|ends|begins|starts|reads|adds?|states|"
    r"repeats|requests?|orders|announces|declares|injects?|tries|attempts|wants|insists|urges|commands|"
    r"holds|prints|carries|with the (?:line|words?|text)|"
    r"sagt|schreibt|behauptet|verlangt|fordert|enthält|endet|steht|dice|escribe|afirma|pide|contiene|dit|"
    r"écrit|prétend|demande|contient|声称|写道|要求|包含|说)"
)
REPORTED = re.compile(
    rf"(?<![\w]){SPEAKER}(?![\w-])[^.!?\n]{{0,80}}?(?<!\w){SPEECH}(?![\w])"
    rf"|\b(?:it|es|elle?|sie) {SPEECH}(?![\w])|回[答复][ＡＢAB]?(?:声称|写道|要求|包含|说)"
    rf"|\bis what (?:it|they|he|she|the|response|answer)\b|\b(?:injection|manipulat|adversarial|jailbreak)"
    r"|\b(?:told|asked|instructed|supposed) to\b|\bfor example\b|\be\.g\.|\btemplate\b|\bpersuade me\b|\baccording to\b|"
    r"\bsaid\b|\bsomeone\b|\b(?:other|first|second|previous|another|earlier) judges?\b|\blaut\b|\bselon\b|\bsegún\b",
    re.IGNORECASE,
)
"""A sentence that says what another says."""
NEGATED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bneither|\bnor|\binstead of|\brather than|\bnicht|\bkein\w*|"
    r"\bno es|\bne\b[^.]{0,20}\bpas|不是|并非)[^.,;:!?\n\0]{0,40}\Z",
    re.IGNORECASE,
)
OWN = re.compile(
    r"(?:verdict|decision|choice|answer|winner|judge?ment|urteil|veredicto|结论|判定)\W{0,6}(?:\bis\b\W{0,6})?\Z",
    re.IGNORECASE,
)
BEGINS = 400
"""Characters of a reply in which a refusal is stated."""
REFUSAL = re.compile(
    r"(?:unfortunately,?\s+|apologies,?\s+(?:but\s+)?|no[,.]\s+)*"
    r"(?:(?:i['’]?m|i am|we are|we['’]re)?\s*(?:very\s+|so\s+|truly\s+)?(?:sorry|afraid)\b.{0,80}?"
    r"\b(?:can(?:no|['’])t|unable|not able|won['’]t|not comfortable|must decline)\b"
    r"|i\s+(?:can(?:no|['’])t|can not|won['’]t|will not|must(?: respectfully)? (?:decline|refuse)|"
    r"(?:respectfully )?decline|refuse|am unable|am not able|['’]m unable|am not comfortable|"
    r"do(?:n['’]t| not) feel comfortable|have to decline|need to decline)\b(?! (?:decide|tell|choose|say)\b)"
    r"|i['’]m (?:unable|not able|not comfortable|going to have to decline|not going to)\b"
    r"|as an ai\b.{0,80}?\b(?:can(?:no|['’])t|unable|not able)\b"
    r"|(?:this|the|your) (?:request|content|material|conversation|prompt|text)\b.{0,60}?\b(?:violates?|"
    r"goes against|is against|was flagged|has been flagged|conflicts with)\b"
    r"|(?:es )?tut mir (?:sehr |wirklich )?leid\b.{0,80}?\b(?:nicht|kein\w*)\b"
    r"|(?:leider )?(?:kann|darf|möchte|werde) ich\b.{0,60}?\b(?:nicht|kein\w*)\b"
    r"|ich (?:kann|darf|möchte|werde)\b.{0,60}?\b(?:nicht|kein\w*)\b"
    r"|(?:lo siento|lo lamento|disculpa)\b.{0,80}?\bno\b|no puedo\b|lamento no poder\b"
    r"|(?:je suis (?:vraiment )?d[ée]sol[ée]e?|d[ée]sol[ée]e?)\b.{0,80}?\b(?:ne|n['’])|je ne "
    r"(?:peux|suis) pas\b|(?:抱歉|对不起|很抱歉|非常抱歉).{0,30}?(?:无法|不能|不便|不可以)|我(?:无法|不能))",
    re.IGNORECASE | re.DOTALL,
)
"""How a reply declines to judge, in several languages; the provider's own word counts apart from
this.
"""


def declined(words: str) -> bool:
    """Whether a text begins with a refusal."""
    return REFUSAL.match(words[:BEGINS].lstrip(" \t\r\n\"'*>#")) is not None


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message in OpenAI's chat format: content as a text or as parts, then the
    arguments of its tool calls. Parts of thinking are no text.

    >>> text_of({"content": None, "function_call": {"name": "f", "arguments": '{"verdict": "A"}'}})
    '{"verdict": "A"}'
    """
    content = message.get("content") or ""
    if not isinstance(content, str):
        parts = [part for part in content if isinstance(part, Mapping) and not part.get("thought")]
        spoken = [part for part in parts if part.get("type", "text") in ("text", "output_text")]
        content = "".join(p["text"] for p in spoken if isinstance(p.get("text"), str))
    called = [call.get("function") for call in message.get("tool_calls") or ()]
    given = [
        call.get("arguments", call.get("parameters"))
        for call in (*called, message.get("function_call"))
        if isinstance(call, Mapping)
    ]
    calls = [each if isinstance(each, str) else json.dumps(each) for each in given if each]
    return "\n".join(filter(None, [content, *calls]))
