"""What a table of a stranger shows is enough to read it, to ask about it, or to say what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import AmbiguousLabels, UnreadableFile
from core.importers import inspect, read
from core.importers.by_plan import answered
from core.reading.facts import side
from core.schema import ImportResult

N = 40
IDS = [f"q{k}" for k in range(N)]
TEXTS = [f"The answer to question number {k} is that it depends on the case" for k in range(N)]
LEVELS = [k % 5 + 1 for k in range(N)]
WORDS = ("correct", "contradictory", "incomplete", "irrelevant", "off topic")


def sheet(**columns: Any) -> bytes:
    """A CSV file: a list per column, or one cell for all rows."""
    every = [c if isinstance(c, list) else [c] * N for c in columns.values()]
    rows = [",".join(map(str, row)) for row in zip(*every, strict=True)]
    return "\n".join([",".join(columns), *rows]).encode()


def asked(data: bytes, *, option: str) -> tuple[str, ImportResult]:
    """The only question about a file, and what its answer by an option that it offers reads."""
    (question,) = inspect(data, "file.csv").questions
    assert option in [typed for typed, _ in question.choices]
    with pytest.raises(AmbiguousLabels):
        read([("file.csv", data)])
    (reading,) = read([("file.csv", data)], answered(option))
    return question.text, reading


def test_numbers_that_stand_for_words_are_asked_about() -> None:
    data = sheet(
        id=IDS, response=TEXTS, judge_label=LEVELS, judge_name_of_it=[WORDS[k - 1] for k in LEVELS]
    )
    text, reading = asked(data, option="--metrics judge_label")
    assert "codes of categories" in text
    assert reading.votes.num_rows == N
    with pytest.raises(UnreadableFile):
        read([("file.csv", data)], answered("--unused judge_label"))


def test_categories_beside_gold_are_named_and_not_read() -> None:
    said = [WORDS[k % 3] for k in range(N)]
    gold = [WORDS[k % 5 % 3] for k in range(N)]
    for data in (
        sheet(id=IDS, gold_label=gold, gemma=said),
        sheet(id=IDS, gold_label=gold, predicted=said),
    ):
        with pytest.raises(UnreadableFile, match="3 categories without an order"):
            read([("file.csv", data)])


def test_a_word_before_the_names_of_scores_is_asked_about() -> None:
    data = sheet(
        **{
            "Case ID": IDS,
            "Question": TEXTS,
            "Nova Clarity": LEVELS,
            "Nova Tone": LEVELS[::-1],
            "Orion Clarity": LEVELS[::-1],
            "Orion Tone": LEVELS,
        }
    )
    questions = inspect(data, "file.csv").questions
    assert any("'Nova', 'Orion'" in question.text for question in questions)
    (reading,) = read(
        [("file.csv", data)], answered("--map 'model=first word' --metrics Clarity Tone")
    )
    assert set(reading.votes["model"].to_pylist()) == {"Nova", "Orion"}
    assert set(reading.votes["metric"].to_pylist()) == {"clarity", "tone"}
    assert reading.votes.num_rows == 4 * N


def test_people_in_a_column_of_names_score_what_stands_beside_them() -> None:
    data = json.dumps(
        [
            {
                "id": k,
                "source": text,
                "marks": {
                    f"annotator_{who}": {"fluency": k % 3 + 1, "meaning": (k + who) % 3 + 1}
                    for who in (1, 2, 3)
                },
            }
            for k, text in enumerate(TEXTS)
        ]
    ).encode()
    (reading,) = read([("file.json", data)])
    assert set(reading.votes["rater_type"].to_pylist()) == {"human"}
    assert set(reading.votes["metric"].to_pylist()) == {"fluency", "meaning"}
    assert reading.votes.num_rows == 6 * N


def test_what_gold_says_in_other_words_is_no_judge() -> None:
    gold = ["A" if k % 3 else "B" for k in range(N)]
    data = sheet(
        id=IDS,
        model_a="cat",
        model_b="dog",
        prediction=["A\\n\\nfinal" if k % 4 else "B" for k in range(N)],
        ground_truth=gold,
        winner_a=[int(word == "A") for word in gold],
        winner_model=["cat" if word == "A" else "dog" for word in gold],
    ).replace(b"\\n\\nfinal", b"")
    (reading,) = read([("file.csv", data)])
    assert reading.votes.num_rows == N
    assert sum(vote == 1 for vote in reading.votes["vote"].to_pylist()) == N - N // 4
    assert reading.votes["gold"].null_count == 0


def test_two_words_of_gold_that_nobody_knows_are_asked_about() -> None:
    said = ["red team" if k % 3 else "blue team" for k in range(N)]
    gold = ["red team" if k % 4 else "blue team" for k in range(N)]
    data = sheet(
        id=IDS, ground_truth=gold, result=said, preference=[int(w[0] == "r") for w in said]
    )
    looks = inspect(data, "file.csv")
    assert looks.roles["preference"] == "not used"
    texts = " ".join(question.text for question in looks.questions)
    assert "'blue team', 'red team' in 'result'" in texts
    options = "--label-map 'red team=A' 'blue team=B' --judges result"
    (reading,) = read([("file.csv", data)], answered(options))
    assert sum(reading.votes["vote"].to_pylist()) == sum(1 if w[0] == "r" else -1 for w in said)


def test_two_scores_may_be_a_persons_and_a_judges() -> None:
    data = sheet(id=IDS, query=TEXTS, trec_judgment=LEVELS, o_score=LEVELS[::-1])
    text, reading = asked(data, option="--people trec_judgment --judges o_score")
    assert "people's, a judge's" in text
    assert reading.votes["gold"].to_pylist() == LEVELS
    assert reading.votes["score"].to_pylist() == LEVELS[::-1]


def test_few_rows_of_results_are_named_as_results() -> None:
    head = "model,flip_rate,accuracy,tie_rate,win_rate\n"
    with pytest.raises(UnreadableFile, match="table of results"):
        read([("file.csv", (head + "a,.1,.8,.1,.5\nb,.2,.7,.1,.4\n").encode())])


def test_one_question_is_put_once() -> None:
    data = sheet(
        id=[f"q{k // 2}" for k in range(N)],
        model=["x" if k % 2 else "y" for k in range(N)],
        is_biased=["True" if k % 3 else "False" for k in range(N)],
        is_rude=["True" if k % 5 else "False" for k in range(N)],
    )
    texts = [question.text for question in inspect(data, "file.csv").questions]
    assert len(texts) == len(set(texts))


def test_a_reply_says_what_its_first_line_says() -> None:
    assert [side(cell) for cell in ("ANSWER_A\n\nPROPOSED", "B\nA was long", "no\nA")] == [
        1,
        -1,
        None,
    ]


def test_sides_may_stand_beside_any_noun() -> None:
    data = sheet(
        id=IDS,
        judge="gpt",
        verdict=["Sentence A" if k % 3 else "Sentence B" for k in range(N)],
        text1=TEXTS,
        text2=[text.upper() for text in TEXTS],
    )
    (reading,) = read([("file.csv", data)])
    assert sum(reading.votes["vote"].to_pylist()) == sum(1 if k % 3 else -1 for k in range(N))


def test_a_key_that_is_joined_of_other_columns_names_no_item() -> None:
    columns: dict[str, Any] = {
        "run_key": [f"q{k // 4}|{'cot' if k % 2 else 'plain'}|{k // 2 % 2}" for k in range(N)],
        "question_id": [f"q{k // 4}" for k in range(N)],
        "model_a": "cat",
        "model_b": "dog",
        "judge_model": "gpt-4o",
        "style": ["cot" if k % 2 else "plain" for k in range(N)],
        "repeat": [k // 2 % 2 for k in range(N)],
        "winner": ["A" if k % 3 else "B" for k in range(N)],
    }
    text, reading = asked(sheet(**columns), option="--version style")
    assert "'style'" in text
    assert len(set(reading.votes["item_id"].to_pylist())) == N // 4


def test_temperatures_that_tell_rows_apart_are_asked_about() -> None:
    data = sheet(
        question_id=[f"q{k // 2}" for k in range(N)],
        model_a=["cat" if k // 2 % 2 else "fox" for k in range(N)],
        model_b="dog",
        human_winner=["model_a" if k // 2 % 3 else "model_b" for k in range(N)],
        temperature=[k % 2 for k in range(N)],
        model_name="google/gemma-3-1b",
        winner=["A" if k % 3 else "B" for k in range(N)],
    )
    text, reading = asked(data, option="--version temperature")
    assert "'temperature'" in text
    assert reading.votes.num_rows == N
    judges = {name.partition("@")[0] for name in reading.votes["judge"].to_pylist()}
    assert judges == {"google/gemma-3-1b"}


def test_numbers_of_sides_beside_words_of_ties_are_votes() -> None:
    said = ["tie" if k % 3 == 0 else str(k % 2 + 1) for k in range(N)]
    human = [k % 2 + 1 for k in range(N)]
    others = [f"{text} or not" for text in TEXTS]
    data = sheet(
        prompt=IDS, response_1=TEXTS, response_2=others, judge_choice=said, human_choice=human
    )
    (reading,) = read([("file.csv", data)])
    votes, gold = reading.votes["vote"].to_pylist(), reading.votes["gold"].to_pylist()
    meant = {"1": 1, "2": -1, "tie": 0}
    assert votes == [meant[each] for each in said]
    assert gold == [meant[str(each)] for each in human]
    assert any("1 the first is better, 2 the second is better" in note for note in reading.notes)


def test_pass_and_fail_that_nobody_claims_are_asked_about() -> None:
    said = ["correct" if k % 3 else "incorrect" for k in range(N)]
    right = ["y" if k % 4 else "n" for k in range(N)]
    data = sheet(ticket=IDS, reply=TEXTS, auto_eval=said, **{"correct?": right})
    text, reading = asked(data, option="--people 'correct?'")
    assert "'correct?'" in text
    assert reading.votes["gold"].to_pylist() == [float(each == "y") for each in right]


def test_a_flag_of_a_fault_passes_what_has_none() -> None:
    flags = [int(k % 3 == 0) for k in range(N)]
    data = sheet(summary=TEXTS, hallucination_judge=flags, hallucination_human=flags[::-1])
    (reading,) = read([("file.csv", data)])
    assert reading.votes["lower_is_better"].to_pylist() == [1] * N
    assert any("0 is pass and 1 is fail; less is better" in note for note in reading.notes)


def test_letters_under_a_grade_are_grades_and_no_sides_of_two() -> None:
    for letters, worth in (
        ("ABC", {"A": 5, "B": 4, "C": 3}),
        ("ABDF", {"A": 5, "B": 4, "D": 2, "F": 1}),
    ):
        said = [letters[k % len(letters)] for k in range(N)]
        human = [letters[k // 3 % len(letters)] for k in range(N)]
        data = sheet(essay=TEXTS, llm_grade=said, human_grade=human)
        (reading,) = read([("file.csv", data)])
        assert reading.kind == "scores"
        assert reading.votes["score"].to_pylist() == [worth[letter] for letter in said]
        assert reading.votes["gold"].to_pylist() == [worth[letter] for letter in human]
    data = sheet(
        response_a=TEXTS,
        response_b=TEXTS[::-1],
        llm_grade=[*"ABC" * 13, "A"],
        human_grade=["A"] * N,
    )
    (reading,) = read([("file.csv", data)])
    assert reading.kind == "votes"


def test_columns_of_models_are_judges_of_one_metric() -> None:
    columns = ("score_gpt4o", "score_gpt-4o-mini", "score_claude-3-5-sonnet")
    data = sheet(
        prompt=IDS,
        completion=TEXTS,
        **{
            name: [f"{level}/5" for level in LEVELS[i:] + LEVELS[:i]]
            for i, name in enumerate(columns)
        },
        score_human=LEVELS,
    )
    (reading,) = read([("file.csv", data)])
    assert set(reading.votes["metric"].to_pylist()) == {"score"}
    judges = set(reading.votes["judge"].to_pylist())
    assert judges == {"gpt4o", "gpt-4o-mini", "claude-3-5-sonnet"}
    assert reading.votes["gold"].to_pylist().count(None) == 0


def test_verdicts_in_the_same_words_are_asked_about_whatever_they_are_called() -> None:
    said = ["✅" if k % 3 else "❌" for k in range(N)]
    data = sheet(msg=IDS, reply=TEXTS, **{"bot check": said, "team check": said[::-1]})
    _, reading = asked(data, option="--people 'team check' --judges 'bot check'")
    assert reading.votes["gold"].to_pylist() == [float(each == "✅") for each in said[::-1]]


def test_graders_beside_models_are_asked_about_and_raters_are_people() -> None:
    """Two people were judges, in silence."""
    levels = {name: LEVELS[i:] + LEVELS[:i] for i, name in enumerate(("x_gpt_4o", "x_claude"))}
    others = {"grader_1": LEVELS, "grader_2": LEVELS[2:] + LEVELS[:2]}
    data = sheet(id=IDS, answer=TEXTS, **levels, **others)
    text, reading = asked(data, option="--people grader_1 grader_2")
    assert text.startswith("'grader_1', 'grader_2' hold values as 'x_gpt_4o' does")
    people = {r["judge"] for r in reading.votes.to_pylist() if r["rater_type"] == "human"}
    assert people == {"grader_1", "grader_2"}


def test_a_person_says_beside_names_of_graders_is_of_those_who_are_named() -> None:
    votes = ["A", "B", "tie"] * N
    data = sheet(
        question_no=[k // 2 for k in range(N)],
        grader=["ann", "bob"] * (N // 2),
        annotator_says=votes[:N],
        certainty_pct=[50 + k for k in range(N)],
    )
    text, reading = asked(data, option="--judges ann bob")
    assert text == "'grader': are 'ann', 'bob' people?"
    assert {*reading.votes["judge"].to_pylist()} == {"ann", "bob"}
    assert {*reading.votes["rater_type"].to_pylist()} == {"llm"}


@pytest.mark.parametrize("column", ["is_correct", "passed", "historical_score"])
def test_nobody_is_called_as_the_file_where_a_column_says_more_or_less_than_a_score(
    column: str,
) -> None:
    said = LEVELS if "score" in column else [("yes", "no")[k % 3 > 0] for k in range(N)]
    data = sheet(id=IDS, question=[f"What is {k} please?" for k in range(N)], answer=TEXTS)
    data = b"\n".join(
        line + f",{cell}".encode()
        for line, cell in zip(data.split(b"\n"), [column, *said], strict=True)
    )
    text, reading = asked(data, option=f"--judges {column}")
    assert text.startswith(f"'{column}' holds values")
    assert reading.votes.num_rows == N


def test_a_number_of_few_values_beside_a_judges_score_is_no_score_unasked() -> None:
    data = sheet(
        pid=IDS,
        judge=["gpt-4o", "claude-3"] * (N // 2),
        correct=[("true", "false")[k % 3 > 0] for k in range(N)],
        rotation=[k % 4 for k in range(N)],
    )
    text, reading = asked(data, option="--unused rotation")
    assert text.startswith("'rotation' holds values as 'correct' does")
    assert reading.votes.num_rows == N


def test_a_verdict_that_names_one_of_several_is_no_vote() -> None:
    models = ["m/a", "m/b", "m/c"]
    turned = [models[k % 3 :] + models[: k % 3] for k in range(N)]
    columns = {f"order_{i}": [row[i] for row in turned] for i in range(3)}
    data = sheet(
        pid=IDS,
        judge="gpt-4o",
        **columns,
        winner_model=[row[k % 2] for k, row in enumerate(turned)],
    )
    with pytest.raises(UnreadableFile, match="'winner_model' names one of 'order_0', 'order_1', "):
        read([("file.csv", data)])


def test_a_row_of_two_winners_is_rejected_alone() -> None:
    """The whole file was refused."""
    marks = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]
    rows = [marks[k % 3] for k in range(N)]
    rows[7] = ["1", "1", "0"]
    names = ("winner_model_a", "winner_model_b", "winner_tie")
    data = sheet(
        question_id=IDS,
        model_a="x",
        model_b="y",
        **{name: [row[i] for row in rows] for i, name in enumerate(names)},
    )
    (reading,) = read([("file.csv", data)])
    assert reading.votes.num_rows == N - 1
    (row,) = reading.rejects.to_pylist()
    assert row["row"] == 8
    assert "winner_model_b 1" in row["value"]


def test_keys_that_are_joined_are_columns() -> None:
    names = ("gpt-4", "claude")
    cells = [(k, name) for k in range(N) for name in names]
    scored = {str((f"q{k}", name)): {"score": (k + len(name)) % 5} for k, name in cells}
    with pytest.raises(AmbiguousLabels, match=r"'part 2' \('gpt-4', 'claude'\) returns for each"):
        read([("runs.json", json.dumps(scored).encode())])
    (reading,) = read(
        [("runs.json", json.dumps(scored).encode())], answered("--map 'judge=part 2'")
    )
    assert {*reading.votes["judge"].to_pylist()} == {*names}
    assert len({*reading.votes["item_id"].to_pylist()}) == N
    # Of values alone nothing says what they are.
    alone = {f"q{k}": k % 5 for k in range(N)}
    with pytest.raises(UnreadableFile, match="If 'value' holds verdicts or grades"):
        read([("alone.json", json.dumps(alone).encode())])


def test_workers_of_mechanical_turk_score_answers() -> None:
    rows = [(k, worker) for k in range(20) for worker in ("A1", "A2")]
    data = sheet(
        HITId=[f"H{k}" for k, _ in rows],
        AssignmentId=[f"S{i}" for i in range(N)],
        WorkerId=[worker for _, worker in rows],
        **{
            "Input.output": [TEXTS[k] for k, _ in rows],
            "Answer.fluency": LEVELS,
            "Answer.adequacy": LEVELS[2:] + LEVELS[:2],
        },
    )
    (reading,) = read([("batch.csv", data)])
    assert {*reading.votes["rater_type"].to_pylist()} == {"human"}
    assert {*reading.votes["judge"].to_pylist()} == {"A1", "A2"}
    assert {*reading.votes["metric"].to_pylist()} == {"fluency", "adequacy"}
    assert len({*reading.votes["item_id"].to_pylist()}) == 20


def test_a_code_of_a_verdict_and_one_number_in_every_row_are_no_verdicts() -> None:
    said = [("correct", "incorrect")[k % 3 > 0] for k in range(N)]
    data = sheet(
        eval_id=IDS,
        jury_verdict=said,
        sys_label=[int(each == "correct") for each in said],
        label=[1] * N,
    )
    text, reading = asked(data, option="--judges jury_verdict --unused label")
    assert text.startswith("'jury_verdict', 'label' hold values")
    assert reading.votes["score"].to_pylist() == [float(each == "correct") for each in said]


def test_zero_and_one_beside_a_judges_pass_and_fail_are_no_sides() -> None:
    said = ["correct" if k % 3 else "incorrect" for k in range(N)]
    data = sheet(
        question=IDS,
        answer=TEXTS,
        judge_verdict=said,
        judge_conf=[f"{50 + k}%" for k in range(N)],
        human_label=[int(k % 4 > 0) for k in range(N)],
    )
    (reading,) = read([("file.csv", data)])
    assert reading.kind == "scores"
    assert reading.votes["gold"].to_pylist() == [float(k % 4 > 0) for k in range(N)]
    assert reading.votes["confidence"].null_count == 0


def test_a_judges_words_that_are_a_persons_words_are_no_names() -> None:
    words = ("minor", "major", "critical")
    llm, human = ([words[k // width % 3] for k in range(N)] for width in (1, 2))
    data = sheet(id=IDS, output=TEXTS, severity_llm=llm, severity_human=human)
    (question,) = inspect(data, "file.csv").questions
    assert "'severity_llm', 'severity_human'" in question.text
    answer = "--label-map minor=pass critical=fail major=fail"
    assert answer in [typed for typed, _ in question.choices]
    (reading,) = read([("file.csv", data)], answered(answer))
    assert reading.votes["gold"].to_pylist() == [float(word == "minor") for word in human]


def test_a_column_called_qa_is_no_question_beside_its_answer() -> None:
    data = sheet(q=TEXTS, qa=TEXTS[::-1], llm_score=LEVELS, human_score=LEVELS)
    (reading,) = read([("file.csv", data)])
    assert reading.votes["response"].null_count == N


def test_q_and_a_are_a_question_and_its_answer() -> None:
    data = json.dumps(
        [
            {"q": f"Why is question {k} asked by so many people today", "a": TEXTS[k], "llm": k % 2}
            | {"human": k % 3 % 2}
            for k in range(N)
        ]
    )
    (reading,) = read([("file.json", data.encode())])
    assert reading.votes["response"].to_pylist() == TEXTS
    assert reading.votes["prompt"].null_count == 0


def test_columns_of_one_judge_are_not_its_runs_unasked() -> None:
    """Four scores were runs of one judge, and the decision another judge's."""
    data = sheet(
        case_index=IDS,
        judge_decision=[("pass", "fail")[k % 3 > 1] for k in range(N)],
        **{
            f"judge_scores.{name}": LEVELS[i:] + LEVELS[:i]
            for i, name in enumerate(("correctness", "correct"))
        },
    )
    with pytest.raises(AmbiguousLabels, match="hold whole verdicts in one vocabulary"):
        read([("file.csv", data)])


def test_a_judges_own_zero_and_one_are_asked_about_beside_pass_and_fail() -> None:
    data = sheet(
        id=IDS,
        prompt=[f"Why is question {k} asked by so many people today" for k in range(N)],
        weak_response=TEXTS,
        strong_response=TEXTS[::-1],
        weak_llama_guard_safe=[str(k % 5 > 0) for k in range(N)],
        strong_llama_guard_safe=[str(k % 7 > 0) for k in range(N)],
        weak_judge_verdict=[k % 2 for k in range(N)],
        strong_judge_verdict=[k % 3 % 2 for k in range(N)],
    )
    assert inspect(data, "file.csv").questions
    with pytest.raises(AmbiguousLabels):
        read([("file.csv", data)])


def test_a_metric_whose_name_says_a_verdict_has_its_people() -> None:
    names = ("Helpfulness (LLM)", "Helpfulness (Human)", "Correctness (LLM)", "Correctness (Human)")
    columns = {name: LEVELS[k:] + LEVELS[:k] for k, name in enumerate(names)}
    (reading,) = read([("file.csv", sheet(ID=IDS, **columns))])
    votes = reading.votes
    for k, metric in ((0, "helpfulness"), (2, "correctness")):
        own = [row for row in votes.to_pylist() if row["metric"] == metric]
        assert [row["score"] for row in own] == columns[names[k]]
        assert [row["gold"] for row in own] == columns[names[k + 1]]
    assert set(votes["judge"].to_pylist()) == {"LLM"}


def test_columns_that_no_reading_uses_are_named() -> None:
    said = ["pass" if k % 3 else "fail" for k in range(N)]
    data = sheet(item_id=IDS, judge="gpt", score=LEVELS, team="red", shift=said)
    (reading,) = read([("file.csv", data)])
    assert "Not used: 'team', 'shift'; kept beside the rows." in reading.told


def test_numbers_of_a_preference_beside_two_answers_are_no_scores_of_one() -> None:
    llm, human = [k % 5 - 2 for k in range(N)], [k // 3 % 5 - 2 for k in range(N)]
    data = sheet(id=IDS, response_a=TEXTS, response_b=TEXTS[::-1], llm_pref=llm, human_pref=human)
    more_is_first = "--label-map=-2=B --label-map=-1=B --label-map 0=tie 1=A 2=A"
    text, reading = asked(data, option=more_is_first)
    assert "Which end" in text
    assert reading.kind == "votes"
    assert reading.votes["vote"].to_pylist() == [(n > 0) - (n < 0) for n in llm]
    assert reading.votes["gold"].to_pylist() == [(n > 0) - (n < 0) for n in human]


@pytest.mark.parametrize(("top", "typed"), [(7, "4=tie"), (10, "5=A 6=B")])
def test_a_scale_without_a_middle_has_no_tie(top: int, typed: str) -> None:
    said = [k % top + 1 for k in range(N)]
    data = sheet(response_a=TEXTS, response_b=TEXTS[::-1], llm_pref=said, human_pref=said)
    (question,) = inspect(data, "file.csv").questions
    assert typed in question.choices[0][0]
    assert question.choices[0][0].endswith(f"{top}=B")


def test_a_column_that_says_who_is_a_person_parts_judges_from_people() -> None:
    names = ("gpt-4", "ann1", "ann2")
    rows = [(item, name) for item in IDS for name in names]
    lines = [
        f"{item},{name},{'model' if name == 'gpt-4' else 'human'},{'AB'[k % 2]},{k % 5 + 1}"
        for k, (item, name) in enumerate(rows)
    ]
    for verdict, without in (("preference", 4), ("score", 3)):
        head = ["example", "annotator", "annotator_type", "preference", "score"]
        kept = [k for k in range(5) if k != without]
        text = [",".join(line.split(",")[k] for k in kept) for line in (",".join(head), *lines)]
        (reading,) = read([("file.csv", "\n".join(text).encode())])
        kinds = set(
            zip(*(reading.votes[n].to_pylist() for n in ("judge", "rater_type")), strict=True)
        )
        assert kinds == {("gpt-4", "llm"), ("ann1", "human"), ("ann2", "human")}, verdict


def test_battles_by_side_keep_their_models_and_who_voted() -> None:
    models = ("gpt-4o", "claude", "gemini")
    left, right = ([models[(k + s) % 3] for k in range(N)] for s in (0, 1))
    winner = ["left" if k % 3 else "right" if k % 2 else "draw" for k in range(N)]
    voter = ["human" if k % 2 else "gpt-4-judge" for k in range(N)]
    data = sheet(battle_id=IDS, left=left, right=right, winner=winner, voter=voter)
    (reading,) = read([("file.csv", data)])
    for row, k in zip(reading.votes.to_pylist(), range(N), strict=True):
        assert (row["model_a"], row["model_b"], row["judge"]) == (left[k], right[k], voter[k])
        assert row["vote"] == {"left": 1, "right": -1, "draw": 0}[winner[k]]
        assert (row["rater_type"] == "human") == (voter[k] == "human")
