"""What columns of unknown names may be: by names and values together, confirmed or not taken."""

import re

import pytest

from core.__main__ import main
from core.errors import AmbiguousLabels, InvalidOption, UnreadableFile
from core.importers import ReadOptions, inspect, read

HEADERS = "grader,question_no,annotator_says,certainty_pct,order_shown,left_system,right_system"
SIDES = (
    f"{HEADERS}\ng1,q1,left,90,AB,m1,m2\ng1,q1,right,80,BA,m1,m2\ng1,q2,draw,55,left_first,m1,m2\n"
    "g1,q2,left,70,right first,m1,m2\n"
).encode()


def suggested(text: str) -> dict[str, str]:
    return dict(inspect(text.encode(), "t.csv").suggested)


def test_all_columns_of_a_file_in_other_words_are_suggested() -> None:
    looks = inspect(SIDES, "sides.csv")
    assert looks.mapping == {}
    assert looks.suggested == {
        "judge": "grader",
        "item_id": "question_no",
        "vote": "annotator_says",
        "confidence": "certainty_pct",
        "position": "order_shown",
        "model_a": "left_system",
        "model_b": "right_system",
    }
    again = inspect(SIDES, "sides.csv", ReadOptions(mapping=tuple(looks.suggested.items())))
    assert (again.missing, again.suggested, again.vocabulary) == ((), {}, "left/right")


def test_a_suggestion_is_never_taken_by_read() -> None:
    with pytest.raises(UnreadableFile, match="no column for item_id"):
        read([("sides.csv", SIDES)])


@pytest.mark.parametrize(
    ("text", "canonical", "column"),
    [
        # Values speak against the name: no numbers, no orders, labels in place of names.
        ("item_id,judge,vote,certainty\n1,j,1,high\n2,j,-1,low\n3,j,1,mid\n", "confidence", None),
        ("item_id,judge,vote,sure how\n1,j,1,70\n2,j,-1,60\n3,j,1,90\n", "confidence", "sure how"),
        ("item_id,judge,vote,order\n1,j,1,7\n2,j,-1,8\n3,j,1,9\n", "position", None),
        ("item_id,judge,vote,order\n1,j,1,b first\n2,j,-1,a first\n", "position", "order"),
        ("task no,rating person,my pick\n1,x,A\n2,x,B\n3,x,tie\n4,x,A\n", "vote", "my pick"),
        (
            "item_id,judge,winner,expertLabel\n1,j,A,2\n2,j,B,1\n3,j,A,1\n4,j,A,2\n",
            "gold",
            "expertLabel",
        ),
        (
            "item_id,judge,winner,the reasoning\n1,j,A,so\n2,j,B,thus\n",
            "rationale",
            "the reasoning",
        ),
        ("item_id,judge,winner,answer_left\n1,j,A,so\n2,j,B,thus\n", "response_a", "answer_left"),
    ],
)
def test_names_and_values_decide_together(text: str, canonical: str, column: str | None) -> None:
    assert suggested(text).get(canonical) == column


def test_the_only_column_of_verdicts_is_suggested_whatever_its_name() -> None:
    text = "grader,question_no,xyz\ng,1,A\ng,2,B\ng,3,tie\n"
    assert suggested(text)["vote"] == "xyz"
    assert "vote" not in suggested("grader,question_no,xyz,zyx\ng,1,A,B\ng,2,B,B\ng,3,tie,A\n")


def test_values_tell_columns_whose_names_do_not() -> None:
    rows = "".join(f"t{i},{('same', 'this', 'that')[i % 3]},{50 + i}\n" for i in range(40))
    assert suggested("x,y,z\n" + rows) == {"item_id": "x", "vote": "y", "confidence": "z"}
    # Two columns that it may be, or too few rows, are no suggestion.
    assert "confidence" not in suggested("x,y,z,z2\n" + re.sub(r",(\d+)\n", r",\1,\1\n", rows))
    assert suggested("x,y,z\n" + "".join(rows.splitlines(keepends=True)[:9])) == {}


def test_a_german_spreadsheet_of_windows_is_read() -> None:
    """As Excel writes it: semicolons, decimal commas, Windows-1252, labels in words."""
    rows = [
        f"Kündigung {i};{label};{50 + i},5;{label};{'AB'[i % 2]}"
        for i, label in enumerate(["A besser", "B ist besser", "unentschieden", "Antwort A"])
    ]
    header = "Frage;Urteil GPT;Sicherheit (%);Urteil Mensch;zuerst gezeigt"
    data = "\r\n".join([header, *rows]).encode("cp1252")
    looks = inspect(data, "umfrage.csv")
    assert looks.suggested == {
        "item_id": "Frage",
        "vote": "Urteil GPT",
        "confidence": "Sicherheit (%)",
        "gold": "Urteil Mensch",
        "position": "zuerst gezeigt",
        "judge": "=GPT",
    }
    named = tuple(looks.suggested.items())
    (reading,) = read([("umfrage.csv", data)], ReadOptions(mapping=named, label_refers="model"))
    assert reading.n_rejected == 0
    assert reading.votes["vote"].to_pylist() == reading.votes["gold"].to_pylist() == [1, -1, 0, 1]
    assert reading.votes["item_id"].to_pylist()[0] == "Kündigung 0"
    assert "The text is no UTF-8 and is read as Windows-1252." in reading.notes


def test_german_columns_are_suggested() -> None:
    rows = "".join(f"f{i};eins {i};zwei {i};A;Max;0,{50 + i};weil\n" for i in range(19))
    heads = "Frage;Antwort A;Antwort B;Urteil;Gutachter;Sicherheit;Begründung\n"
    assert suggested(heads + rows) == {
        "item_id": "Frage",
        "response_a": "Antwort A",
        "response_b": "Antwort B",
        "vote": "Urteil",
        "judge": "Gutachter",
        "confidence": "Sicherheit",
        "rationale": "Begründung",
    }


def test_the_reply_of_the_old_bot_is_that_of_model_a() -> None:
    heads = "Question,Old bot reply,New bot reply,Verdict\n"
    rows = "".join(f"q{i},o{i},n{i},{('New', 'Old', 'tie')[i % 3]}\n" for i in range(12))
    found = suggested(heads + rows)
    assert (found["response_a"], found["response_b"]) == ("Old bot reply", "New bot reply")
    assert (found["model_a"], found["model_b"]) == ("=Old", "=New")


def test_one_column_of_labels_that_is_called_a_verdict_names_no_judge() -> None:
    file = b"item_id,Result\n1,A\n2,B\n3,tie\n"
    with pytest.raises(UnreadableFile, match="--map vote=COLUMN"):
        inspect(file, "t.csv")
    looks = inspect(file, "t.csv", ReadOptions(mapping=(("vote", "Result"),)))
    assert (looks.layout, looks.mapping["vote"]) == ("long", "Result")
    assert inspect(b"item_id,gpt\n1,A\n2,B\n3,tie\n", "t.csv").layout == "wide"


def test_a_file_in_known_words_has_no_suggestion() -> None:
    assert (
        suggested("item_id,judge,vote,gold,confidence,note\n1,j,1,1,0.5,x\n2,j,-1,1,0.7,y\n") == {}
    )


def sides(**options) -> list[int | None]:
    mapping = tuple(inspect(SIDES, "sides.csv").suggested.items())
    return (
        read([("sides.csv", SIDES)], ReadOptions(mapping=mapping, **options))[0]
        .votes["vote"]
        .to_pylist()
    )


def test_left_beside_columns_named_left_is_a_question() -> None:
    with pytest.raises(AmbiguousLabels, match="label-refers"):
        sides()
    assert sides(label_refers="model") == [1, -1, 0, 1]
    assert sides(label_refers="slot") == [1, 1, 0, -1]


def test_labels_are_explained_before_any_vocabulary() -> None:
    file = [("t.csv", b"item_id,judge,vote\n1,j,good\n2,j,bad\n3,j,A\n4,j,late\n5,j,huh\n6,j,A\n")]
    meant = (("good", "A"), ("bad", "B"), ("late", "failed"))
    (found,) = read(file, ReadOptions(label_map=meant, labels="A/B"))
    assert found.votes["vote"].to_pylist() == [1, -1, 1, None, 1]
    assert found.votes["status"].to_pylist() == ["ok", "ok", "ok", "unparsed", "ok"]
    assert [row["value"] for row in found.rejects.to_pylist()] == ["huh"]


def test_explained_labels_follow_the_order_shown_where_they_name_slots() -> None:
    text = b"item_id,judge,vote,position\n1,j,upper,ab\n2,j,upper,ba\n3,j,lower,ba\n"
    meant = (("upper", "A"), ("lower", "B"))
    with pytest.raises(AmbiguousLabels, match="label-refers"):
        read([("t.csv", text)], ReadOptions(label_map=meant))
    (found,) = read([("t.csv", text)], ReadOptions(label_map=meant, label_refers="slot"))
    assert found.votes["vote"].to_pylist() == [1, -1, 1]


def test_a_judge_per_column_may_have_labels_of_its_own_words() -> None:
    text = b"item_id,gpt,claude\n1,yes,no\n2,no,fail\n"
    meant = (("yes", "A"), ("no", "B"), ("fail", "failed"))
    (found,) = read(
        [("t.csv", text)], ReadOptions(label_map=meant, layout="wide", judges=("gpt", "claude"))
    )
    assert found.votes["vote"].to_pylist() == [1, -1, -1, None]


def test_a_meaning_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidOption, match="--label-map x=C"):
        ReadOptions(label_map=(("x", "C"),))


def test_the_command_line_takes_the_meanings(tmp_path, capsys) -> None:
    (tmp_path / "t.csv").write_text(
        "item_id,judge,vote\n1,j,good one\n2,j,bad one\n", encoding="utf-8"
    )
    command = ["import", str(tmp_path / "t.csv"), "--store", str(tmp_path / "s.duckdb")]
    assert main([*command, "--label-map", "good one=A", "bad one=B"]) == 0
    assert "2 votes loaded" in capsys.readouterr().out


BOTS = (
    "Ticket,Topic,Grader,Grader verdict,Certainty,Support lead says,First shown\n"
    "T-1,login,g1,new bot,80%,new bot,new bot\nT-1,login,g1,same,90%,new bot,old bot\n"
    "T-2,login,g1,old bot,80%,old bot,new bot\nT-2,login,g1,New Bot,70%,old bot,old bot\n"
    "T-3,login,g1,old bot,80%,old bot,new bot\nT-3,login,g1,old bot,70%,old bot,old bot\n"
)


def test_labels_that_also_say_what_was_shown_first_are_names_of_the_models() -> None:
    looks = inspect(BOTS.replace("New Bot", "new bot").encode(), "bots.csv")
    assert looks.suggested == {
        "item_id": "Ticket",
        "judge": "Grader",
        "vote": "Grader verdict",
        "model_a": "=new bot",
        "model_b": "=old bot",
        "gold": "Support lead says",
    }
    mapping = tuple((looks.mapping | looks.suggested).items())
    (found,) = read([("bots.csv", BOTS.encode())], ReadOptions(mapping=mapping))
    assert found.votes["vote"].to_pylist() == [1, 0, -1, 1, -1, -1]
    assert found.votes["position"].to_pylist() == ["ab", "ba"] * 3
    assert found.votes["gold"].to_pylist() == [1, 1, -1, -1, -1, -1]
    assert set(found.votes["model_a"].to_pylist()) == {"new bot"}


def test_two_words_without_a_sign_of_models_are_not_taken_for_names() -> None:
    looks = inspect(
        b"id,judge,outcome,truth\n1,j,pass,pass\n2,j,fail,pass\n3,j,pass,fail\n", "t.csv"
    )
    assert not {"model_a", "model_b"} & looks.suggested.keys()


def test_models_named_in_the_headers_are_the_labels_meaning() -> None:
    looks = inspect(
        b"id,judge,winner,Alpha answer,Beta answer\n1,j,Alpha,x,y\n2,j,Beta,z,w\n", "t.csv"
    )
    assert (looks.suggested["model_a"], looks.suggested["model_b"]) == ("=Alpha", "=Beta")


def test_explained_labels_say_what_was_shown_first_too() -> None:
    text = b"item_id,judge,vote,position\n1,j,new,new\n2,j,new,old\n3,j,old,old\n"
    (found,) = read([("t.csv", text)], ReadOptions(label_map=(("new", "A"), ("old", "B"))))
    assert found.votes["vote"].to_pylist() == [1, 1, -1]
    assert found.votes["position"].to_pylist() == ["ab", "ba", "ba"]


def test_a_column_per_judge_has_what_people_say_as_gold() -> None:
    text = b"id,gpt,claude,human\n1,A,B,A\n2,B,B,B\n3,tie,A,A\n"
    looks = inspect(text, "wide.csv")
    assert (looks.mapping["gold"], looks.judges) == ("human", ("gpt", "claude"))
    more = inspect(text.replace(b"human", b"human majority"), "wide.csv")
    assert more.suggested == {"gold": "human majority"}
    options = ReadOptions(mapping=(("item_id", "id"), ("gold", "human")), judges=("gpt", "claude"))
    (found,) = read([("wide.csv", text)], options)
    assert found.votes["gold"].to_pylist() == [1, 1, -1, -1, 1, 1]
    assert inspect(b"id,human_1,human_2\n1,A,B\n2,B,B\n", "people.csv").suggested == {}
