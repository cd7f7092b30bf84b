"""Judgements of single answers are no votes between two; ties alone are an answer; and columns that
name people name judges.
"""

import pytest

from core.__main__ import main
from core.errors import AmbiguousLabels, AppellateError
from core.importers import ReadOptions, inspect, read


def table(head, rows):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows), ""])


def read_one(text, **options):
    return read([("votes.csv", text.encode())], ReadOptions(**options))[0]


WORDS = {
    "pass": "fail",
    "Passed": "Failed",
    "yes": "no",
    "correct": "incorrect",
    "true": "false",
    "TRUE": "0",
}


@pytest.mark.parametrize("good", WORDS)
@pytest.mark.parametrize("column", ["vote", "verdict"])
def test_words_for_one_answer_are_scores_and_no_votes(good, column):
    labels = [good, WORDS[good], good]
    text = table(
        f"item_id,judge,{column},gold", ((i, "j", label, good) for i, label in enumerate(labels))
    )
    reading = read_one(text)
    assert reading.kind == "scores"
    assert reading.votes["score"].to_pylist() == [1, 0, 1]
    assert set(reading.votes["model"].to_pylist()) == {None}
    assert any("judge single answers" in note and "no votes" in note for note in reading.notes)
    looks = inspect(text.encode(), "votes.csv")
    assert (looks.kind, looks.missing, looks.questions) == ("scores", (), ())
    # As the page asks for it, and as a column of another name is named.
    assert read_one(text, format="direct_scores").votes.equals(reading.votes)
    other = text.replace(column, "says", 1)
    assert read_one(other, mapping=(("vote", "says"),)).votes["score"].to_pylist() == [1, 0, 1]


def test_the_models_of_single_answers_are_kept():
    rows = ((i, "j", f"m{k}", "pass" if k else "fail") for i in range(3) for k in range(2))
    reading = read_one(table("item_id,judge,model,verdict", rows))
    assert reading.votes["model"].to_pylist() == ["m0", "m1"] * 3
    assert reading.votes["score"].to_pylist() == [0, 1] * 3


def test_scores_in_words_are_scores():
    reading = read_one(
        table("item_id,judge,model,score", [(1, "j", "m", "pass"), (2, "j", "m", "fail")])
    )
    assert reading.votes["score"].to_pylist() == [1, 0]
    mixed = read_one(
        table("item_id,judge,model,score", [(1, "j", "m", "pass"), (2, "j", "m", "7")])
    )
    assert (mixed.votes["score"].to_pylist(), mixed.n_rejected) == ([7], 1)


@pytest.mark.parametrize(
    "options",
    [{"label_map": (("pass", "A"), ("fail", "B"))}, {"format": "canonical"}, {"labels": "A/B"}],
)
def test_no_option_makes_votes_of_them(options):
    text = table("item_id,judge,vote", ((i, "j", ("pass", "fail")[i % 2]) for i in range(4)))
    with pytest.raises(AmbiguousLabels, match=r"judge single answers.* --format direct_scores"):
        read_one(text, **options)
    # But what is compared can be said.
    named = (("model_a", "=x"), ("model_b", "=y"))
    meant = (("pass", "A"), ("fail", "B"))
    votes = read_one(text, mapping=named, label_map=meant).votes
    assert votes["vote"].to_pylist() == [1, -1, 1, -1]


def test_zero_and_one_alone_are_asked_about(tmp_path, capsys):
    text = table("item_id,judge,vote", ((i, "j", i % 2) for i in range(4)))
    with pytest.raises(
        AmbiguousLabels, match="If each row judges one answer alone, they are no votes"
    ):
        read_one(text)
    file = tmp_path / "votes.csv"
    file.write_text(text)
    asked = ("--format", "direct_scores", "--map", "score=vote", "model==m")
    store = ("--store", str(tmp_path / "store.duckdb"))
    assert main(["import", str(file), *asked, *store]) == 0
    assert "4 direct scores loaded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("head", "more"),
    [
        ("model_a,model_b", ("x", "y")),
        ("response_a,response_b", ("good", "bad")),
        ("position", ("ab",)),
        ("system_a,system_b", ("x", "y")),
    ],
)
@pytest.mark.parametrize(("one", "zero"), [("1", "0"), ("true", "false")])
def test_comparisons_in_zero_and_one_are_votes(head, more, one, zero):
    text = table(
        f"item_id,judge,vote,{head}", ((i, "j", (zero, one)[i % 2], *more) for i in range(4))
    )
    with pytest.raises(AmbiguousLabels) as raised:
        read_one(text)
    assert "one answer alone" not in str(raised.value)
    assert read_one(text, labels="1/0").votes["vote"].to_pylist() == [-1, 1, -1, 1]


def test_a_column_of_winners_compares():
    text = table("item_id,judge,winner", ((i, "j", ("true", "false")[i % 2]) for i in range(4)))
    with pytest.raises(AmbiguousLabels, match="labels"):
        read_one(text)


def test_an_audit_of_single_answers_says_what_they_are(tmp_path, capsys):
    file = tmp_path / "checks.csv"
    file.write_text(
        table("item_id,judge,vote", ((i, "j", ("pass", "fail")[i % 2]) for i in range(40)))
    )
    assert main(["audit", str(file), "--splits", "0"]) == 0
    out, err = capsys.readouterr()
    assert "'fail' and 'pass' judge single answers" in err
    assert "It passes 50 % of 40 answers, and nobody has checked it: label 20 of them." in out


@pytest.mark.parametrize("label", ["0", "tie", "Same", "0.0"])
@pytest.mark.parametrize("head", ["item_id,judge,vote", "item_id,judge,winner"])
def test_ties_alone_are_ties(label, head):
    rows = ((i, "j", label, ("ab", "ba")[i % 2]) for i in range(6))
    reading = read_one(table(f"{head},position", rows))
    assert reading.votes["vote"].to_pylist() == [0] * 6
    assert "Every label is a tie, so no vote is for either side." in reading.notes


def test_a_lone_zero_is_what_an_option_says_it_is():
    text = table("item_id,judge,vote,model_a,model_b", ((i, "j", 0, "x", "y") for i in range(3)))
    assert read_one(text, labels="1/0").votes["vote"].to_pylist() == [-1] * 3
    assert read_one(text, label_map=(("0", "A"),)).votes["vote"].to_pylist() == [1] * 3


@pytest.mark.parametrize(
    "column",
    [
        "worker",
        "Worker ID",
        "user",
        "user_id",
        "annotator",
        "annotator_id",
        "session",
        "session-id",
    ],
)
def test_a_column_of_people_names_the_judges(column):
    rows = [(f"q{i // 4}", (1, -1, 0)[i % 3], f"p{i % 7}") for i in range(40)]
    reading = read_one(table(f"item_id,vote,{column}", rows))
    assert reading.mapping["judge"] == column
    assert reading.votes["judge"].to_pylist() == [who for *_, who in rows]
    assert set(reading.votes["rater_type"].to_pylist()) == {"human"}
    # No repetition is made of the votes of many.
    assert set(reading.votes["run"].to_pylist()) == {0}
    said = read_one(table(f"item_id,vote,{column}", rows), rater_type="llm")
    assert set(said.votes["rater_type"].to_pylist()) == {"llm"}


def test_who_judges_is_a_column_of_judges_before_one_of_people():
    reading = read_one(
        table("item_id,vote,judge,user", [(1, 1, "gpt", "u1"), (2, -1, "gpt", "u2")])
    )
    assert reading.mapping["judge"] == "judge"
    assert set(reading.votes["rater_type"].to_pylist()) == {"llm"}


def test_a_turn_of_a_conversation_names_nobody():
    rows = [(1, 1, "Why?", "Because."), (2, -1, "How?", "So.")]
    reading = read_one(table("item_id,vote,user,assistant", rows))
    assert reading.mapping["judge"] == "=votes"
    long = [(1, 1, "Why " * 40), (2, -1, "How " * 40)]
    assert read_one(table("item_id,vote,user", long)).mapping["judge"] == "=votes"


def test_a_column_per_annotator_is_a_column_per_person():
    text = table(
        "item_id,annotator_1,annotator_2", [(1, "model_a", "model_b"), (2, "tie", "model_a")]
    )
    votes = read_one(text).votes
    assert set(votes["rater_type"].to_pylist()) == {"human"}
    assert votes["judge"].to_pylist() == ["annotator_1", "annotator_2"] * 2


def test_battles_of_an_arena_are_those_of_people():
    rows = [(f"s{i}", "x", "y", ("model_a", "tie", "model_b")[i % 3]) for i in range(6)]
    reading = read_one(table("evaluation_session_id,model_a,model_b,winner", rows))
    assert set(reading.votes["rater_type"].to_pylist()) == {"human"}
    assert set(reading.votes["judge"].to_pylist()) == {"arena"}
    assert set(reading.votes["run"].to_pylist()) == {0}


def test_what_is_missing_beside_words_for_one_answer_is_said():
    with pytest.raises(AppellateError, match="no column for judge"):
        read_one(table("item_id,vote", [(1, "pass"), (2, "fail")]))


@pytest.mark.parametrize("words", [("A", "B"), ("pass", "fail")])
def test_rows_that_were_not_read_are_no_fault_of_the_judge(words, tmp_path, capsys):
    """A fourth of the rows, of votes and of single answers."""
    file = tmp_path / "votes.csv"
    columns = "vote,gold" if words == ("A", "B") else "score,human"
    rows = ((i, "j", words[i % 2], words[i % 2]) for i in range(90))
    bad = ((i, "j", "perhaps not", words[0]) for i in range(90, 120))
    file.write_text(table(f"item_id,judge,{columns}", [*rows, *bad]))
    given = ("--labels", "A/B") if words == ("A", "B") else ()
    assert main(["audit", str(file), "--splits", "0", *given]) == 0
    out = capsys.readouterr().out
    assert "cannot be judged: 25 % of the rows were not read" in out
    assert "gives no verdict" not in out


def test_questions_and_reasons_under_other_names_are_read_and_the_rest_is_listed():
    head = "id,input,output,Human label,LLM verdict,LLM reason,Human notes"
    said = [("Good" if k % 3 else "Bad", "Good" if k % 2 else "Bad") for k in range(60)]
    rows = [
        (k, f"Question {k}?", f"Answer {k}.", *both, f"Reason {k}.", "")
        for k, both in enumerate(said)
    ]
    reading = read_one(table(head, rows))
    assert reading.votes["prompt"].to_pylist()[:2] == ["Question 0?", "Question 1?"]
    assert reading.votes["rationale"].to_pylist()[:2] == ["Reason 0.", "Reason 1."]
    assert reading.votes["score"].to_pylist()[:3] == [0, 1, 0]
    assert any("Not used" in note and "'Human notes'" in note for note in reading.notes)


def test_thumbs_beside_a_grade_are_asked_about():
    rows = [
        (k, f"Answer {k} of some length.", "👍" if k % 3 else "👎", f"{40 + k * k % 53}%")
        for k in range(60)
    ]
    text = table("id,output,thumbs,grader score", rows)
    with pytest.raises(AppellateError, match="'thumbs' holds values as 'grader score' does"):
        read_one(text)
    reading = read_one(text, people=("thumbs",))
    assert reading.votes["gold"].to_pylist()[:3] == [0, 1, 1]
