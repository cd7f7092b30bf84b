"""Words of headers and cells as data, in seven languages: the one list that reading shares.

What a word decides is in `roles`; a word alone decides nothing (see `plan`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


WHO = {
    "gold": _set(
        "gold golden truth groundtruth expected true referenz reference erwartet attendu esperado "
        "soll"
    ),
    "person": _set(
        "human humans people person persons annotator annotators reviewer reviewers expert experts "
        "crowd worker turker labeler labeller mensch menschen menschlich menschliche experte "
        "humain humaine humano humana umano annotateur anotador gutachter prufer majority "
        "individual"
    ),
    "judge": _set(
        "judge judges llm gpt chatgpt claude gemini llama mistral qwen deepseek gemma grader "
        "autograder evaluator scorer autorater eval ai ki ia juge juez giudice richter mixtral "
        "rater raters"
    ),
}
"""Whose a judgement is."""

WHAT = {
    "verdict": _set(
        "verdict verdicts winner winners vote votes voted preference preferred pref pick picked "
        "choice chosen decision better judgment judgement judgments judgements prediction "
        "predicted label labels annotation annotations win wins outcome urteil gewinner sieger "
        "entscheidung wahl gagnant choix ganador veredicto eleccion vincitore winnaar oordeel "
        "vencedor says"
    ),
    "score": _set(
        "score scores rating ratings grade grades points stars note noten bewertung punkte "
        "punktzahl puntuacion puntaje nota notation voto cijfer beoordeling avaliacao"
    ),
    "pass": _set(
        "passed pass passes ok success correct accepted approved valid bestanden reussi aprobado "
        "correcto correctness"
    ),
    "confidence": _set(
        "confidence conf certainty probability prob konfidenz sicherheit confiance confianza "
        "fiducia zekerheid"
    ),
    "reason": _set(
        "reason reasons reasoning rationale explanation explanations comment comments critique "
        "feedback notes motivation justification begrundung kommentar raison justificacion "
        "commentaire comentario spiegazione why remark remarks bemerkung bemerkungen raw"
    ),
    "prompt": _set(
        "prompt prompts question questions query instruction instructions input task frage anfrage "
        "eingabe pregunta consigne requete domanda vraag problem"
    ),
    "answer": _set(
        "response responses answer answers output outputs completion completions reply replies "
        "generation text antwort antworten ausgabe reponse respuesta salida risposta antwoord "
        "resposta"
    ),
    "order": _set(
        "order position swap swapped flipped orientation shown presented reihenfolge ordre orden "
        "ordine presentation"
    ),
    "run": _set(
        "run runs repeat repetition repetitions sample samples trial attempt try seed iteration "
        "epoch rep reps lauf wiederholung durchlauf versuch essai intento replicate"
    ),
    "item": _set(
        "id ids item key idx index nr no number case ticket uid uuid guid hash example instance "
        "record nummer fall vorgang numero caso row document pair"
    ),
    "metric": _set(
        "metric metrics criterion criteria dimension aspect attribute rubric kriterium merkmal "
        "critere criterio"
    ),
    "time": _set("date time timestamp created datum zeit zeitpunkt fecha at started judged heure"),
    "status": _set("status state error errors errored finish"),
    "model": _set(
        "method approach strategy model models system systems generator assistant fighter fw "
        "contestant candidate policy bot engine agent modell modele modelo systeme variant version "
        "arm player"
    ),
    "category": _set(
        "category categories subset topic domain type genre lang language thema kategorie source "
        "split group difficulty tags tag team channel scenario dataset kind priority segment "
        "release"
    ),
    "book": _set(
        "cost usd eur price latency ms sec seconds token tokens duration elapsed len length chars "
        "words count counts num cached cache flagged flag rank size bytes temperature wall retries "
        "page weight fingerprint url path payload request truncated"
    ),
    "aggregate": _set(
        "pearson spearman kendall mae rmse mse se var lower upper pvalue alpha icc krippendorff "
        "entropy values ci95 mean avg average std stdev sd total overall sum diff delta median min "
        "max pct percent share rate kappa corr correlation acc accuracy ndcg mrr precision recall "
        "rouge bleu f1 agreed agreement majority consensus final similarity"
    ),
    "cluster": _set("conversation session thread dialog dialogue chat gesprach sitzung user"),
}
"""What a column holds."""

LABELS = _set("label labels annotation annotations")
"""Names of what anybody may have given."""

MODELS = _set("gpt chatgpt claude gemini llama mistral qwen deepseek gemma mixtral")
"""Names of models, which in the name of a column name a judge."""
JUDGED = _set("verdict vote score scores rating winner label urteil note passed")
"""Words beside the name of a judge in the name of its column."""
HARM = _set(
    "toxicity toxic hallucination hallucinations hallucinated harm harmful harmfulness unsafe "
    "offensive violation jailbreak leak leakage attack injection profanity insult hate spam "
    "contradiction toxizitat toxicite alucinacion"
)
"""Metrics of which less is better."""

ORDERS = {
    word: place
    for place, words in enumerate(
        (
            "ab original normal forward fwd first 1 orig unswapped direct order1 noswap false 0 "
            "left",
            "ba swapped reversed reverse rev flipped backward second 2 swap inverted inverse true "
            "right",
        )
    )
    for word in words.split()
}
"""Words of the two orders in which two answers are shown: 0 as they stand, 1 turned."""
CLEAR_ORDERS = _set(
    "ab ba original swapped normal reversed forward fwd rev backward orig swap unswapped flipped "
    "reverse noswap"
)
"""Those that mean nothing else in the name of a column."""
SUCCESS = _set(
    "ok success succeeded successful completed complete done finished 200 true stop end_turn fertig"
)
FAILURE = _set(
    "error failed failure fail timeout timed_out exception 400 401 403 404 408 422 429 500 502 503 "
    "504 cancelled aborted fehler"
)
REFUSED = _set("refused refusal content_filter")
UNPARSED = _set("unparsed invalid length")
HUMANS = _set("human people person expert crowd annotator worker mensch reviewer humain humano")
MACHINES = _set("llm model ai machine auto judge automatic bot ki synthetic")
MISSING = _set(
    "nan none null na n/a #n/a nat <na> - -- – — ? . missing undefined nil k.a. n.a. #value! #ref! "
    "#div/0!"
) | {"", "k. a.", "n. a."}
"""Cells that stand for none."""
GRADES = {
    word: value
    for value, words in (
        (
            1.0,
            "pass passed yes y correct right true good up thumbs_up 👍 ✓ ✔ ✅ ja richtig bestanden "
            "oui si sí sim 是 对 accept accepted ok okay approved acceptable valid safe vrai "
            "verdadero correcto",
        ),
        (
            0.5,
            "partial partially partly partially_correct partly_correct teilweise unsure borderline",
        ),
        (
            0.0,
            "fail failed no n incorrect wrong false bad down thumbs_down 👎 ✗ ✘ ❌ × nein falsch "
            "nicht_bestanden non não 否 错 不 reject rejected not_ok not_okay nicht_ok "
            "unacceptable invalid unsafe faux falso incorrecto",
        ),
    )
    for word in words.split()
}
"""Words of pass and fail → what they are worth."""
LEVELS = {
    word: value
    for value, words in (
        (5, "excellent outstanding sehr_gut very_good perfect"),
        (4, "good gut bien"),
        (3, "fair average befriedigend moderate medium satisfactory"),
        (2, "poor weak mangelhaft ausreichend"),
        (1, "very_poor terrible awful ungenugend very_bad"),
    )
    for word in words.split()
}
SIDES = {
    word: side
    for side, words in enumerate(
        ("a 1 one first left erste links premier", "b 2 two second right zweite rechts deuxieme")
    )
    for word in words.split()
}
"""Words that name one of two: 0 the first, 1 the second."""
VERSIONS = (("old", "new"), ("baseline", "candidate"), ("base", "tuned"), ("alt", "neu"))
PLACES = _set("first second left right erste zweite links rechts premier deuxieme")
"""Sides that say where an answer was shown and not what it is called."""
NOUNS = _set(
    "ans resp sys out model response answer output assistant system option candidate text bot "
    "completion antwort reponse respuesta modell the is better wins win preferred choice chosen "
    "summary besser gewinnt ist final verdict winner one fighter"
)
"""Words beside a side that say nothing."""

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def fold(text: str) -> str:
    """Lower case, without accents."""
    text = text.replace("ß", "ss")
    plain = unicodedata.normalize("NFKD", text)
    return "".join(each for each in plain if not unicodedata.combining(each))


@lru_cache(maxsize=4096)
def tokens(name: str) -> tuple[str, ...]:
    """Words of a name.

    >>> tokens("KI-Note (1-5)"), tokens("judgeScore2")
    (('ki', 'note', '1', '5'), ('judge', 'score', '2'))
    """
    return tuple(word.lower() for word in _TOKEN.findall(fold(name)))


def _meant(words: tuple[str, ...], table: dict[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(meaning for meaning, of in table.items() if of & set(words))


@lru_cache(maxsize=4096)
def who(name: str) -> frozenset[str]:
    """Whose the name says a column is."""
    return _meant(tokens(name), WHO)


@lru_cache(maxsize=4096)
def what(name: str) -> frozenset[str]:
    """What the name says a column holds; of a dotted path the last part that says anything."""
    for part in reversed(name.split(".")):
        if meant := _meant(tokens(part), WHAT):
            return meant
    return frozenset()


@lru_cache(maxsize=4096)
def stem(name: str) -> tuple[str, ...]:
    """Words of a name that say neither whose nor what it is: what is judged."""
    told = frozenset().union(
        *WHO.values(), *(WHAT[each] for each in ("verdict", "score", "pass", "run"))
    )
    return tuple(word for word in tokens(name) if word not in told and not word.isdigit())


def clean(cell: str) -> str:
    """A word of a cell without case, accents, and the brackets, stars and quotes around it."""
    return fold(cell).strip().strip("[](){}*\"'`.:!_ ").casefold()


_TIES = _set(
    "tie ties tied same draw equal both neither bothbad both_bad both_good bothgood unentschieden "
    "gleich gleichstand egal egalite empate pareggio nul gelijkspel beide c a=b b=a even remis"
)
_TIES_OF_TWO = {"tie (bothbad)", "tie(bothbad)", "both bad", "both good", "gleich gut"}
TIES = frozenset(map(clean, _TIES | _TIES_OF_TWO | {"no preference"}))
"""Words of a tie, as `clean` leaves them."""
