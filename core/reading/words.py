"""Words of headers and cells as data, in seven languages: the one list that reading shares.

What a word decides is in `roles`; a word alone decides nothing (see `planner`). What the canonical
columns, labels and grades are called elsewhere is here too.
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
        "rater raters voter voters"
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
        "eingabe kundenfrage nutzerfrage pregunta consigne requete domanda vraag problem"
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
    "time": _set(
        "date time timestamp created erstellt datum zeit zeitpunkt fecha at started judged heure"
    ),
    "status": _set("status state error errors errored finish"),
    "model": _set(
        "method approach strategy model models system systems generator assistant fighter fw "
        "contestant candidate policy bot engine agent modell modele modelo systeme variant version "
        "arm player"
    ),
    "category": _set(
        "category categories subset topic domain type genre lang language sprache thema kategorie "
        "source split group difficulty tags tag team channel scenario dataset kind priority "
        "segment release"
    ),
    "book": _set(
        "cost usd eur price latency ms sec seconds token tokens duration elapsed len length chars "
        "words count counts num cached cache flagged flag rank size bytes temperature wall retries "
        "page weight fingerprint url path payload request truncated"
    ),
    "aggregate": _set(
        "pearson spearman kendall mae rmse mse se var lower upper pvalue alpha icc krippendorff "
        "entropy values ci95 mean avg average std stdev sd total overall sum diff delta median min "
        "max pct percent share rate kappa tp tn fp fn corr correlation acc accuracy ndcg mrr "
        "auc ci precision recall rouge bleu f1 agreed agreement majority consensus final similarity"
    ),
    "cluster": _set("conversation session thread dialog dialogue chat gesprach sitzung user"),
}
"""What a column holds."""

ANYBODYS = _set("label labels annotation annotations")
"""Names of what anybody may have given."""

PREFERENCES = _set("winner winners preference preferred pref pick picked choice chosen better wins")
"""Names of verdicts that say which of two is better."""

MODELS = _set("gpt chatgpt claude gemini llama mistral qwen deepseek gemma mixtral")
"""Names of models, which in the name of a column name a judge."""
OF_MODELS = _set(
    "b chat coder flash haiku instruct it large latest lite medium mini moe nano opus plus preview "
    "pro r small sonnet thinking turbo ultra"
)
"""What stands behind the name of a model and belongs to it, beside numbers and single letters."""
ARTIFICIAL = MODELS | _set("llm ai ki ia auto automatic autograder autorater")
"""Words that make a judge of whatever noun they stand beside."""
NOUNS_OF_WORK = _set("annotator expert reviewer worker")
"""What people are called by what they do, and models too."""
WORK = _set("reviewed annotated labeled labelled checked")
"""What people do, where a name says by whom."""
RATERS = _set("rater raters voter voters")
ANY_RATERS = RATERS | _set("grader evaluator scorer")
"""What people who judge are called, and models too; raters beside models are people."""
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
VERSIONS = (
    ("x", "y"),
    ("old", "new"),
    ("baseline", "candidate"),
    ("base", "tuned"),
    ("alt", "neu"),
)
_ENDINGS = {
    word + ending: word for word in ("alt", "neu") for ending in ("e", "er", "es", "en", "em")
}
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


def without_ending(word: str) -> str:
    """A word of `VERSIONS` without a German ending, any other as it is.

    >>> without_ending("neuer"), without_ending("new")
    ('neu', 'new')
    """
    return _ENDINGS.get(word, word)


def _meant(words: tuple[str, ...], table: dict[str, frozenset[str]]) -> frozenset[str]:
    return frozenset(meaning for meaning, of in table.items() if of & set(words))


OF_WORKERS = "Answer."
"""Mechanical Turk's `Answer.fluency` is what a worker says, and no text of an answer."""


@lru_cache(maxsize=4096)
def who(name: str) -> frozenset[str]:
    """Whose the name says a column is."""
    words = frozenset(tokens(name))
    meant = _meant(tokens(name), WHO)
    if words & ARTIFICIAL and not words & HUMANS - NOUNS_OF_WORK:
        # An "AI reviewer" is no person, whatever the noun says.
        meant -= {"person"}
    if "by" in words and words & WORK:
        meant |= {"person"}
    return meant


@lru_cache(maxsize=4096)
def what(name: str) -> frozenset[str]:
    """What the name says a column holds; of a dotted path the last part that says anything."""
    for part in reversed(name.removeprefix(OF_WORKERS).split(".")):
        words = tokens(part)
        if words[:1] in (("n",), ("num",), ("count",)) and len(words) > 1:
            return frozenset({"book"})
        if meant := _meant(words, WHAT):
            return meant
    return frozenset()


OF_VERSIONS = WHO["judge"] | {"prompt", "rubric"}
"""Words before `version` in the name of a column of versions of a judge."""


def may_be_versions(name: str) -> bool:
    """Whether a name may be that of a column of versions of a judge.

    >>> [may_be_versions(name) for name in ("prompt_version", "version", "api_version")]
    [True, True, False]
    """
    *before, last = tokens(name) or ("",)
    return last == "version" and OF_VERSIONS.issuperset(before)


@lru_cache(maxsize=4096)
def stem(name: str) -> tuple[str, ...]:
    """Words of a name that say neither whose nor what it is: what is judged."""
    told = frozenset().union(
        *WHO.values(), *(WHAT[each] for each in ("verdict", "score", "pass", "run"))
    )
    left: list[str] = []
    of_model = False
    for word in tokens(name.removeprefix(OF_WORKERS)):
        # `gpt4o`, `claude-3-5-sonnet`: all of it is who judged.
        of_model = word in MODELS or (
            of_model and (len(word) == 1 or word.isdigit() or word in OF_MODELS)
        )
        if not (of_model or word in told or word.isdigit()):
            left.append(word)
    return tuple(left)


LETTERS = {
    letter + sign: min(value + third, 5.0)
    for letter, value in zip("abcdef", (5.0, 4.0, 3.0, 2.0, 1.0, 0.0), strict=True)
    for sign, third in (("", 0.0), ("+", 1 / 3), ("-", -1 / 3), ("−", -1 / 3))
}
"""Grades by letters, the best first."""
MARKS = _set("grade grades mark marks note noten")
"""Names of grades that may be letters."""


def clean(cell: str) -> str:
    """A word of a cell without case, accents, and the brackets, stars and quotes around it."""
    return fold(cell).strip().strip("[](){}*\"'`.:!_ ").casefold()


TIE_WORDS = frozenset(
    {"tie", "ties", "tied", "same", "draw", "equal", "both", "neither"}
    | {"tie (bothbad)", "bothbad", "both bad", "both_bad"}
    | {"tie (bothgood)", "bothgood", "both good", "both_good"}
    | {"unentschieden", "gleich", "gleich gut", "gleich schlecht", "gleichstand", "beide", "keine"}
)
"""Words that mean a tie in every vocabulary, of English and of German spreadsheets."""
TIES = frozenset(
    clean(word)
    for word in TIE_WORDS
    | _set("egal egalite empate pareggio nul gelijkspel c a=b b=a even remis")
    | {"tie(bothbad)", "no preference"}
) - {"keine"}
"""Words of a tie, as `clean` leaves them."""

SAID_OF_ONE = {
    **dict.fromkeys(("pass", "passed", "yes", "correct", "true", "1"), 1),
    **dict.fromkeys(("fail", "failed", "no", "incorrect", "false", "0"), 0),
}
"""Labels of single answers → 1 for a good one. Votes have some of them too."""
UNGRADED = {
    **dict.fromkeys(("n/a", "na", "not_applicable", "none", "null", "-"), "unparsed"),
    **dict.fromkeys(("unsure", "unknown", "undecided", "not_graded", "skipped"), "unparsed"),
    **dict.fromkeys(("refused", "refusal", "refuses"), "refused"),
    "error": "error",
}
"""Words that stand where a score would → the status of such a row: it is not graded, and no fail.
"""
LETTER_GRADES = {"c": 1.0, "p": 0.5, "i": 0.0, "partial_pass": 0.5}
"""C, P and I are Inspect's: correct, partial, incorrect. Its N is no answer, none that is right."""
YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
"""Cells of a flag."""
SHOWN_FIRST = {
    **dict.fromkeys(("a", "a first", "model_a", "left first"), "ab"),
    **dict.fromkeys(("b", "b first", "model_b", "right first"), "ba"),
}
"""Cells that name the one shown first → the order."""
LABELS: dict[str, dict[str, int]] = {
    "1/0/-1": {"1": 1, "0": 0, "-1": -1},
    "1/2/0": {"1": 1, "2": -1, "0": 0},
    "0/1/2": {"0": 1, "1": -1, "2": 0},
    "1/0": {"1": 1, "0": -1, "true": 1, "false": -1},
    "0/1": {"0": 1, "1": -1, "false": 1, "true": -1},
    "A/B": {"c": 0}
    | {
        f"{noun} {letter} {better}".strip(): vote
        for noun in ("", "assistant", "response", "answer", "option", "output", "antwort")
        for letter, vote in (("a", 1), ("b", -1))
        for better in ("", "better", "is better", "wins", "besser", "ist besser", "gewinnt")
    },
    "A>B": {"a>b": 1, "a>>b": 1, "a=b": 0, "b=a": 0, "b>a": -1, "b>>a": -1, "a<b": -1, "a<<b": -1}
    | {"a++": 1, "a+": 1, "b+": -1, "b++": -1},
    "model_a/model_b": {
        f"{noun}_{side}": vote
        for noun in ("model", "response", "text", "chosen")
        for side, vote in {"a": 1, "b": -1, "1": 1, "2": -1}.items()
    }
    | {"model a": 1, "model b": -1},
    "win/lose": {"win": 1, "wins": 1, "won": 1, "lose": -1, "loss": -1, "loses": -1, "lost": -1},
    "first/second": {"first": 1, "second": -1, "erste": 1, "zweite": -1},
    "left/right": {"left": 1, "right": -1, "links": 1, "rechts": -1},
}
"""Labels of a vote by the name of their vocabulary, see `core.labels`."""

SYNONYMS = {
    canonical: tuple(others.split())
    for canonical, others in {
        "item_id": "item question_id prompt_id pair_id example_id instance_id sample_id id",
        "category": "subset topic task",
        "model_a": "model_1 model1 generator_1 system_a",
        "model_b": "model_2 model2 generator_2 system_b",
        "judge": "judge_model rater annotator evaluator judge_name",
        "run": "repetition",
        "position": "first_shown shown_first",
        "vote": "winner verdict decision preference preferred choice",
        "confidence": "judge_confidence confidence_score score_confidence conf certainty",
        "gold": "gold_label ground_truth human_label human_says human_verdict human_vote "
        "human_winner human_choice human_preference true_label correct_answer",
        "prompt": "instruction question",
        "response_a": "output_1 response1 response_1 answer_a",
        "response_b": "output_2 response2 response_2 answer_b",
        "rationale": "reasoning explanation",
        "score_a": "score_1 score1 rating_a",
        "score_b": "score_2 score2 rating_b",
    }.items()
}
"""Other names of canonical columns, tried in this order where the canonical name itself is absent.
"""
_SHARED = {
    name: SYNONYMS[name] for name in ("item_id", "category", "judge", "run", "prompt", "rationale")
}
NUMBERED = ("rating", "grade", "judge_score", "judge_rating", "judge_grade", "llm_score")
PASSED = ("passed", "pass", "pass_fail", "is_passed", "judge_passed", "judge_pass", "llm_passed")
"""Columns of scores, and of pass and fail."""
CHANCES = (
    *("p_yes", "p(yes)", "p_pass", "p_true", "p_correct", "prob_yes", "prob_pass", "yes_prob"),
    *("judge_p_yes", "llm_p_yes", "probability", "prob"),
)
"""Columns of the probability that an answer passes."""
NAMES_OF_SCORES = _SHARED | {
    "item_id": (*SYNONYMS["item_id"], "case_id", "case", "test_case_id", "test_id", "trace_id"),
    "model": ("model_name", "model_id", "system", "generator", "response_model"),
    "metric": ("metric_name", "criterion", "criteria", "dimension", "aspect", "rubric"),
    "score": (*NUMBERED, *PASSED, *CHANCES),
    "response": ("output", "answer"),
    "length": ("response_length", "output_length", "answer_length"),
    "confidence": ("judge_confidence", "confidence_score", "score_confidence"),
}
_ORDERINGS = {"run": ("repetition", "perm_id", "permutation_id", "ordering")}
NAMES_OF_RANKINGS = (
    _SHARED
    | _ORDERINGS
    | {
        "candidate": ("candidate_id",),
        "slot": ("shown_slot", "slot_shown"),
        "calibrated_uncertainty": ("calibrated_uncertainty_flag", "calibrated"),
        "uncertain": ("uncertainty", "uncertain_flag", "uncertainty_flag"),
        "major_error": ("major_error_flag", "has_major_error"),
        "unsupported": (
            "unsupported_specificity",
            "unsupported_flag",
            "unsupported_specificity_flag",
        ),
        "chosen": ("picked", "is_chosen"),
        "is_best": ("best",),
    }
)
NAMES_OF_CHOICES = _SHARED | _ORDERINGS | {"dataset": ("benchmark",)}
"""The same of tables of scores, of rankings and of choices."""
PROMPTS = ("prompt", *SYNONYMS["prompt"], "input", "user_input")
"""Columns of prompts: as items they do not tell two comparisons on one prompt apart."""
ANSWERS = {"response", *NAMES_OF_SCORES["response"], "completion", "prediction", "actual_output"}
IDS = ("item_id", *NAMES_OF_SCORES["item_id"])
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
"""Columns of Chatbot Arena's tables, of which the one that is 1 names the winner."""
PEOPLE = re.compile(
    r"(?:crowd_?worker|worker|user|annotator|session|participant|labell?er|turker)"
    r"(?:_?(?:id|name|no|number))?_?[0-9]*"
)
"""Names of columns that name people."""
LABELLED = ("label", "gold", *SYNONYMS["gold"], *SYNONYMS["vote"], "vote", "score", "passed")
LABELLED_BY = ("labeled_by", "labelled_by", "person", "by", "who", *SYNONYMS["judge"], "judge")
"""Columns of a sheet of people's labels, and of who labelled."""

MEANT = {
    "judge": "judge grader evaluator",
    "llm": "llm ai auto",
    "model": (
        "automatic automated gpt chatgpt claude gemini llama mistral mixtral qwen deepseek grok "
        "prometheus"
    ),
    "critic": "critic marker referee richter gutachter bewerter",
    "rater": ("annotator reviewer labeler labeller rater assessor worker participant crowd prufer"),
    "raters": "annotators reviewers labelers labellers raters assessors workers participants",
    "human": "human humans people mensch menschen",
    "expert": "expert experts experte experten",
    "truth": "gold golden reference ground truth true",
    "score": "score scores rating ratings grade bewertung note",
    "verdict": (
        "verdict says said decision judgment judgement result outcome urteil entscheidung ergebnis"
    ),
    "choice": (
        "choice chosen winner wins won preferred preference prefers vote votes pick picked better "
        "best side selected gewinner"
    ),
    "number": "id ids no num nr number nummer idx index uid",
    "confidence": (
        "confidence conf certainty certain sure sureness probability prob sicherheit konfidenz"
    ),
    "reason": "rationale reason reasons reasoning explanation justification why comment begrundung",
    "order": "order position ordering reihenfolge",
    "run": "version run seed step epoch turn temperature",
    "size": "rank count length len",
    "call": (
        "time date timestamp year month day seconds sec ms latency duration token tokens cost "
        "price usd"
    ),
    "answer": "response output answer text completion reply antwort",
}
"""Words in the names of columns by what they mean, to tables that are read by names."""


def meaning(*meanings: str, more: str = "") -> frozenset[str]:
    """All words of some meanings, and more."""
    return _set(" ".join((*(MEANT[name] for name in meanings), more)))


_JUDGING = meaning("judge", "llm", "model") | {"model"}
_PART = re.compile(r"([^\w.-]+|_)")
"""What parts the words of a name; that of a model is one, whatever hyphens it has."""


def judge_named(column: str) -> str | None:
    """The judge by the name of the column of its judgements, as it is written there.

    >>> [judge_named(name) for name in ("gpt-4o score", "llm_judge_score", "tone")]
    ['gpt-4o', 'llm_judge', None]
    """
    parts = _PART.split(column)
    own = [k for k, part in enumerate(parts) if set(tokens(part)) & _JUDGING]
    return "".join(parts[own[0] : own[-1] + 1]) if own else None
