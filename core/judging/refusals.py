"""Whether a reply declines to judge, in several languages; the provider's own word counts apart from this."""

from __future__ import annotations

import re

BEGINS = 400
"""Characters of a reply in which a refusal is stated."""
REFUSAL = re.compile(
    r"(?:unfortunately,?\s+|apologies,?\s+(?:but\s+)?|no[,.]\s+)*"
    r"(?:(?:i['’]?m|i am|we are|we['’]re)?\s*(?:very\s+|so\s+|truly\s+)?(?:sorry|afraid)\b.{0,80}?"
    r"\b(?:can(?:no|['’])t|unable|not able|won['’]t|not comfortable|must decline)\b"
    r"|i\s+(?:can(?:no|['’])t|can not|won['’]t|will not|must(?: respectfully)? (?:decline|refuse)|"
    r"(?:respectfully )?decline|refuse|am unable|am not able|['’]m unable|am not comfortable|"
    r"do(?:n['’]t| not) feel comfortable|have to decline|need to decline)\b"
    r"|i['’]m (?:unable|not able|not comfortable|going to have to decline|not going to)\b"
    r"|as an ai\b.{0,80}?\b(?:can(?:no|['’])t|unable|not able)\b"
    r"|(?:this|the|your) (?:request|content|material|conversation|prompt|text)\b.{0,60}?\b(?:violates?|"
    r"goes against|is against|was flagged|has been flagged|conflicts with)\b"
    r"|(?:es )?tut mir (?:sehr |wirklich )?leid\b.{0,80}?\b(?:nicht|kein\w*)\b"
    r"|(?:leider )?(?:kann|darf|möchte|werde) ich\b.{0,60}?\b(?:nicht|kein\w*)\b|ich (?:kann|darf|möchte|"
    r"werde)\b.{0,60}?\b(?:nicht|kein\w*)\b"
    r"|(?:lo siento|lo lamento|disculpa)\b.{0,80}?\bno\b|no puedo\b|lamento no poder\b"
    r"|(?:je suis (?:vraiment )?d[ée]sol[ée]e?|d[ée]sol[ée]e?)\b.{0,80}?\b(?:ne|n['’])|je ne (?:peux|"
    r"suis) pas\b|(?:抱歉|对不起|很抱歉|非常抱歉).{0,30}?(?:无法|不能|不便|不可以)|我(?:无法|不能))",
    re.IGNORECASE | re.DOTALL,
)


def declined(words: str) -> bool:
    """Whether a text begins with a refusal."""
    return REFUSAL.match(words[:BEGINS].lstrip(" \t\r\n\"'*>#")) is not None
