"""Spreadsheets of judged answers as people write them: who judged, what people said, and of what."""

import json
from shlex import split

import pytest

from core.errors import AppellateError, UnreadableFile
from core.importers import ReadOptions, read

NUMBERS = [("1", "2"), ("5", "4"), ("3", "3"), ("4", "4")] * 5
WORDS = [("Good", "Good"), ("Bad", "Good"), ("Good", "Bad"), ("Bad", "Bad")] * 5
THUMBS = [("up", "up"), ("down", "up"), ("up", "down"), ("down", "down")] * 5
GERMAN = [("bestanden", "bestanden"), ("nicht bestanden", "bestanden")] * 10
SIDES = [("1", "2"), ("2", "2"), ("1", "1"), ("2", "1")] * 5


def sheet(head, rows, separator=","):
    lines = [separator.join((str(k), *row)) for k, row in enumerate(rows)]
    return "\n".join((separator.join(("id", *head)), *lines)).encode()


@pytest.mark.parametrize(
    ("head", "rows", "judge"),
    [
        (("helpfulness_llm", "helpfulness_human"), NUMBERS, "llm"),
        (("Quality (GPT-4o)", "Quality (expert)"), NUMBERS, "GPT-4o"),
        (("gpt-4o score", "human score"), NUMBERS, "gpt-4o"),
        (("LLM verdict", "reviewer"), WORDS, "LLM"),
        (("judge thumbs", "user thumbs"), THUMBS, "judge"),
        (("model_pass", "expert_pass"), [("TRUE", "TRUE"), ("FALSE", "TRUE")] * 10, "model"),
        (("Urteil LLM", "Urteil Mensch"), GERMAN, "LLM"),
        (("case ok (claude)", "case ok (customer)"), WORDS, "claude"),
    ],
)
def test_a_judge_and_a_person_are_told_by_the_words_in_names_of_columns(head, rows, judge):
    (reading,) = read([("sheet.csv", sheet(head, rows))])
    assert (reading.kind, reading.n_rejected) == ("scores", 0)
    assert reading.votes["judge"].unique().to_pylist() == [judge]
    assert reading.votes["gold"].null_count == 0
    assert reading.mapping["gold"] == head[1]


def test_a_word_for_a_machine_makes_a_judge_of_a_reviewer():
    """`AI reviewer` was a person, and who reviewed was not used."""
    rows = [(one, f"{other} ", ("Maria", "Tom")[k % 2]) for k, (one, other) in enumerate(WORDS)]
    (reading,) = read([("sheet.csv", sheet(("AI reviewer", "Human verdict", "Reviewed by"), rows))])
    said = {(row["judge"], row["rater_type"]) for row in reading.votes.to_pylist()}
    assert said == {("sheet", "llm"), ("Maria", "human"), ("Tom", "human")}
    (reading,) = read([("sheet.csv", sheet(("LLM annotator", "expert annotator"), NUMBERS))])
    assert reading.mapping["gold"] == "expert annotator"


def test_two_words_of_a_verdict_are_asked_about_and_so_is_whose_the_other_column_is():
    """They were refused: no column holds verdicts."""
    rows = [
        (judge, "approve" if (k + place) % 3 else "reject", "approve" if k % 4 else "reject")
        for k in range(20)
        for place, judge in enumerate(("gpt-4o", "claude-3"))
    ]
    head = ("case", "grader model", "grader decision", "QA team decision")
    lines = [",".join((f"case-{k // 2}", *row)) for k, row in enumerate(rows)]
    data = "\n".join((",".join(head), *lines)).encode()
    with pytest.raises(AppellateError, match="which is good, 'approve' or 'reject'") as asked:
        read([("long.csv", data)])
    assert "'QA team decision' holds values as 'grader decision' does" in str(asked.value)
    options = ReadOptions(
        label_map=(("approve", "pass"), ("reject", "fail")), people=("QA team decision",)
    )
    (reading,) = read([("long.csv", data)], options)
    first = reading.votes.to_pylist()[0]
    assert (first["judge"], first["score"], first["gold"]) == ("gpt-4o", 0, 0)
    assert (reading.votes.num_rows, reading.n_rejected) == (40, 0)


def test_a_label_beside_its_annotator_is_a_persons_and_alone_is_asked_about():
    """It was read as a second metric of the judge, in silence."""
    records = [
        {
            "id": k,
            "input": f"What is {k}?",
            "output": f"A reply about {k}",
            "evaluation": {"passed": k % 3 > 0},
        }
        | {"annotation": {"label": "good" if k % 4 else "bad", "annotator": "kim"}}
        for k in range(40)
    ]
    (reading,) = read([("log.jsonl", lines_of(records))])
    said = {(row["judge"], row["rater_type"]) for row in reading.votes.to_pylist()}
    assert said == {("log", "llm"), ("kim", "human")}
    for record in records:
        del record["annotation"]["annotator"]
    with pytest.raises(AppellateError, match=r"^log.jsonl: 'annotation\.label' holds") as asked:
        read([("log.jsonl", lines_of(records))])
    assert "--people annotation.label" in str(asked.value)


def test_people_and_a_model_in_one_column_of_raters_are_asked_apart():
    """All three were judges, in silence."""
    rows = [
        (f"doc-{k}", rater, str(1 + (k + place) % 5))
        for k in range(20)
        for place, rater in enumerate(("gpt-4o", "anna", "ben"))
    ]
    data = "\n".join(map(",".join, [("document", "rater", "rating"), *rows])).encode()
    with pytest.raises(AppellateError, match="are 'anna', 'ben' people") as asked:
        read([("raters.csv", data)])
    assert "--people anna ben (people); --judges gpt-4o anna ben" in str(asked.value)
    for options, people in (
        (ReadOptions(people=("anna", "ben")), {"anna", "ben"}),
        (ReadOptions(judges=("gpt-4o", "anna", "ben")), set()),
    ):
        (reading,) = read([("raters.csv", data)], options)
        rows = reading.votes.to_pylist()
        assert len(rows) == 60
        assert {row["judge"] for row in rows if row["rater_type"] == "human"} == people


def test_columns_that_count_the_runs_of_a_judge_are_runs():
    """They were not used, and the file was of people alone."""
    rows = [(one, other, one, other) for one, other in SIDES]
    rows = [tuple("01"[cell == "1"] for cell in row) for row in rows]
    head = ("judge_run1", "judge_run2", "judge_run3", "human")
    (reading,) = read([("sheet.csv", sheet(head, rows))])
    assert reading.votes["judge"].unique().to_pylist() == ["sheet"]
    assert sorted(reading.votes["run"].unique().to_pylist()) == [0, 1, 2]
    assert reading.mapping["gold"] == "human"


def test_one_question_about_a_few_words_of_a_judge_and_of_gold():
    words = ["SUPPORTED", "REFUTED", "NOT ENOUGH INFO"]
    rows = [(words[k % 3], words[k % 2]) for k in range(30)]
    with pytest.raises(AppellateError, match="which is good") as asked:
        read([("claims.csv", sheet(("llm_verdict", "gold_verdict"), rows))])
    assert str(asked.value).count("which is good") == 1
    said = tuple((word, "pass" if word == "SUPPORTED" else "fail") for word in words)
    (reading,) = read(
        [("claims.csv", sheet(("llm_verdict", "gold_verdict"), rows))], ReadOptions(label_map=said)
    )
    first, second = reading.votes.to_pylist()[:2]
    assert (first["score"], first["gold"], second["score"], second["gold"]) == (1, 1, 0, 0)


def test_a_brace_in_the_name_of_a_column_is_asked_about_as_it_stands():
    rows = [("sure" if k % 3 else "maybe",) for k in range(30)]
    with pytest.raises(AppellateError) as asked:
        read([("sheet.csv", sheet(("judge {x} verdict",), rows))])
    assert "In 'judge {x} verdict', which is good" in str(asked.value)


def lines_of(records):
    return "\n".join(map(json.dumps, records)).encode()


def test_each_metric_has_its_gold():
    head = ("faithfulness_llm", "faithfulness_human", "relevance_llm", "relevance_human")
    rows = [(a, b, b, a) for a, b in NUMBERS]
    (reading,) = read([("sheet.csv", sheet(head, rows))])
    said = reading.votes.select(["judge", "metric", "score", "gold"]).to_pylist()
    assert {row["judge"] for row in said} == {"llm"}
    for row, metric in ((said[0], "faithfulness"), (said[1], "relevance")):
        assert row["metric"] == metric
    assert [(row["score"], row["gold"]) for row in said[:2]] == [(1, 2), (2, 1)]


def test_a_model_beside_three_people_is_the_judge():
    rows = [(a, b, b, a) for a, b in NUMBERS]
    (reading,) = read([("sheet.csv", sheet(("gpt4", "rater1", "rater2", "rater3"), rows))])
    kinds = {(row["judge"], row["rater_type"]) for row in reading.votes.to_pylist()}
    assert kinds == {("gpt4", "llm"), *((f"rater{k}", "human") for k in (1, 2, 3))}


def test_scores_of_answers_alone_are_read_for_people_to_label():
    rows = [("a question", f"an answer {k}", score) for k, (score, _) in enumerate(NUMBERS)]
    (reading,) = read([("bot.csv", sheet(("prompt", "response", "score"), rows))])
    assert (reading.kind, reading.votes.num_rows) == ("scores", 20)
    assert reading.votes["judge"].unique().to_pylist() == ["bot"]


def test_two_scales_are_refused_with_how_to_make_them_one():
    rows = [(str(20 * int(score)), person) for score, person in NUMBERS]
    with pytest.raises(UnreadableFile, match=r"from 1 to 5 .* 0 to 100: two scales.* / 4 \* 100"):
        read([("sheet.csv", sheet(("llm_score", "human_rating"), rows))])
    # Right and wrong beside levels are compared by other means.
    (reading,) = read(
        [("s.csv", sheet(("llm_score", "human_passed"), [(a, "1") for a, _ in NUMBERS]))]
    )
    assert reading.votes["gold"].null_count == 0


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        (("GPT-4 choice", "human choice"), SIDES),
        (("gpt-4 preferred", "human preferred"), [("0", "1"), ("1", "1")] * 10),
        (("claude says", "human says"), SIDES),
        (("judge_id", "annotator_id"), NUMBERS),
        (("llm confidence", "human confidence"), NUMBERS),
        (("gpt tokens", "user rank"), NUMBERS),
    ],
)
def test_what_may_compare_two_answers_or_is_about_who_scored_is_no_score(head, rows):
    try:
        (reading,) = read([("sheet.csv", sheet(head, rows))], ReadOptions())
    except AppellateError:
        return
    assert reading.kind == "votes"


def bots(head):
    """Rows of two bots' answers, and which a judge and a person prefer."""
    rows = [
        (f"text {k}", f"other {k}", *["old bot", "new bot"][:: 1 - 2 * (k % 2)]) for k in range(20)
    ]
    return sheet(head, rows)


def test_the_options_that_a_refusal_calls_likely_read_the_file():
    data = bots(("old bot", "new bot", "llm preferred", "human preferred"))
    with pytest.raises(UnreadableFile) as refused:
        read([("bots.csv", data)])
    option, _, typed = str(refused.value).partition("--map ")[2].rpartition("--map ")
    assert option
    mapping = tuple(tuple(pair.split("=", 1)) for pair in split(typed))
    (reading,) = read([("bots.csv", data)], ReadOptions(mapping=mapping))
    first = reading.votes.to_pylist()[0]
    assert (first["judge"], first["model_a"], first["model_b"]) == ("llm", "old bot", "new bot")
    assert (first["vote"], first["gold"], first["response_a"]) == (1, -1, "text 0")
    assert reading.n_rejected == 0


def test_the_judge_of_votes_is_called_as_its_column():
    head = ("answer a", "answer b", "GPT-4 choice", "human choice")
    rows = [("x", "y", *["A", "B"][:: 1 - 2 * (k % 2)]) for k in range(20)]
    (reading,) = read([("sheet.csv", sheet(head, rows))])
    assert reading.kind == "votes"
    assert reading.votes["judge"].unique().to_pylist() == ["GPT-4"]


PAIRS = [("A", "A"), ("B", "A"), ("tie", "B"), ("B", "B")] * 5


@pytest.mark.parametrize(
    "head",
    [("judge,preference,human"), ("judge,vote,expert verdict"), ("gpt,human"), ("gpt,rater 1")],
)
def test_what_one_person_says_of_pairs_is_gold(head):
    long = head.startswith("judge")
    rows = [("gpt", *pair) if long else pair for pair in PAIRS]
    (reading,) = read([("sheet.csv", sheet(head.split(","), rows))])
    assert reading.kind == "votes"
    assert {*reading.votes["judge"].to_pylist()} == {"gpt"}
    assert reading.votes["gold"].to_pylist() == [1, 1, -1, -1] * 5
    assert any("was read as gold" in note for note in reading.notes)
    # Who says otherwise is heard.
    without = ReadOptions(mapping=(("gold", ""),))
    (other,) = read([("sheet.csv", sheet(head.split(","), rows))], without)
    assert other.votes["gold"].null_count == len(other.votes)


def test_columns_of_several_people_beside_a_judge_are_peoples_votes():
    rows = [(a, b, a) for a, b in PAIRS]
    (reading,) = read([("sheet.csv", sheet(("gpt", "human 1", "human 2"), rows))])
    kinds = {(row["judge"], row["rater_type"]) for row in reading.votes.to_pylist()}
    assert kinds == {("gpt", "llm"), ("human 1", "human"), ("human 2", "human")}
    # Beside votes in rows too.
    beside = [("gpt", *row) for row in rows]
    (long,) = read([("sheet.csv", sheet(("judge", "vote", "human 1", "human 2"), beside))])
    assert {(row["judge"], row["rater_type"]) for row in long.votes.to_pylist()} == kinds
    assert long.votes.num_rows == 60


def test_whoever_wrote_verdicts_judged_whatever_the_column_is_called():
    rows = [("gpt", *pair) for pair in PAIRS]
    (reading,) = read([("sheet.csv", sheet(("judge", "vote", "annotator"), rows))])
    assert reading.votes["gold"].to_pylist() == [1, 1, -1, -1] * 5


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        # Whether a person voted, and labels of another kind.
        (("judge", "vote", "human"), [("gpt", "1", "1"), ("gpt", "-1", "0")] * 5),
        (("judge", "vote", "human"), [("gpt", "A", "yes"), ("gpt", "B", "no")] * 5),
    ],
)
def test_a_column_of_people_that_says_something_else_is_no_gold(head, rows):
    (reading,) = read([("sheet.csv", sheet(head, rows))])
    assert reading.votes["gold"].null_count == len(reading.votes)
