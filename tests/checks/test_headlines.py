"""What is said first is short, and true: every clause of a headline follows from the audit."""

import re

import pytest
from places import REPOSITORY

from core.auditing.answers import overview_answer, page_answers
from core.auditing.card import card_of
from core.auditing.results import Audit
from core.finding.answer import MOST_WORDS, words
from core.use.one_call import audit

FILES = ("faireval", "judgebench", "judgeconf", "pandalm", "wmt23_ende_humans", "pba_position")


@pytest.fixture(scope="module")
def demo() -> Audit:
    return audit(REPOSITORY / "data" / "demo_votes.csv.gz")


@pytest.fixture(scope="module", params=FILES)
def real(request, shared_data) -> Audit:
    return audit(shared_data / "votes" / f"{request.param}.csv.gz")


def grade(found: Audit, judge: str, check: str) -> str:
    return next(one.grade for one in found.checks if (one.judge, one.check) == (judge, check))


def number(found: Audit, judge: str, check: str):
    return next(one.interval for one in found.checks if (one.judge, one.check) == (judge, check))


def beyond(check: str, sign: int):
    """Shown beyond a limit on this side of 0."""

    def holds(found, judge):
        value = number(found, judge, check)
        return grade(found, judge, check) in ("warn", "fail") and sign * value.value > 0

    return holds


def is_grade(*grades: str, checks: tuple[str, ...]):
    return lambda found, judge: all(grade(found, judge, check) in grades for check in checks)


BAD = ("warn", "fail")
# What a headline says of its judge → what the audit must show for it.
CLAIMS = {
    "nearly always right": lambda f, j: number(f, j, "accuracy").low >= 0.9,
    "mostly right": is_grade("ok", checks=("accuracy",)),
    "where gold decides": is_grade(*BAD, checks=("ties",)),
    "better than a coin": lambda f, j: number(f, j, "accuracy").low > 0.5,
    "agrees with people as people do": is_grade("ok", checks=("agreement",)),
    "ignores order": is_grade("ok", checks=("position", "stability")),
    "honest about doubt": is_grade("ok", checks=("calibration", "overconfidence")),
    "favours the answer it sees first": beyond("position", 1),
    "favours the answer it sees second": beyond("position", -1),
    "may favour a place": is_grade("unclear", checks=("position",)),
    "changes verdicts when answers swap places": is_grade(*BAD, checks=("stability",)),
    "may change verdicts when answers swap places": is_grade("unclear", checks=("stability",)),
    "was never asked in both orders": is_grade("unknown", checks=("position",)),
    "claims more certainty than it earns": beyond("overconfidence", 1),
    "claims less certainty than it earns": beyond("overconfidence", -1),
    "states confidence that is off": is_grade(*BAD, checks=("calibration",)),
    "is hardly surer where right": is_grade(*BAD, checks=("discrimination",)),
    "calls ties where gold decides": beyond("ties", 1),
    "names winners where gold ties": beyond("ties", -1),
    "favours longer answers": beyond("length", 1),
    "favours shorter answers": beyond("length", -1),
    "is wrong too often": is_grade(*BAD, checks=("accuracy",)),
    "is not shown to be right often enough": is_grade("unclear", *BAD, checks=("accuracy",)),
    "is not shown to read the answers": is_grade("unclear", *BAD, checks=("accuracy",)),
    "is weak in a category": is_grade(*BAD, checks=("category",)),
    "does not repeat itself": is_grade(*BAD, checks=("repeatability",)),
    "tosses coins on some comparisons": is_grade(*BAD, checks=("coin_share",)),
    "agrees with people less than people do": is_grade(*BAD, checks=("agreement",)),
    "often gives no verdict": is_grade(*BAD, checks=("data",)),
    "no gold label says how often NAME is right": is_grade("unknown", checks=("accuracy",)),
    "people's own votes: nobody else labelled what they judged": is_grade(
        "unknown", checks=("accuracy",)
    ),
}
FILLERS = (
    "may decide, with care:",
    "may measure, not decide:",
    "may decide:",
    "may sort, no more:",
    "not to be used:",
    "not for decisions:",
    "cannot say yet:",
    *("but", "and", "is", "NAME", ""),
)


def names(found: Audit) -> list[str]:
    models = {
        row.model for boards in found.boards.values() for one in boards for row in one.board.rows
    }
    return [*(judge.judge for judge in found.judges), *models, *found.boards]


def claims(headline: str, judge: str) -> tuple[list[str], str]:
    """The known claims of a headline about its judge, and what is left of it without them."""
    rest = headline.replace(judge, "NAME").lower().replace("name", "NAME")
    rest = rest.replace("NAMEs winners", "names winners").replace("NAMEs a", "names a")
    made = []
    for claim in sorted(CLAIMS, key=len, reverse=True):
        if claim in rest:
            made.append(claim)
            rest = rest.replace(claim, "")
    for filler in FILLERS:
        rest = re.sub(rf"(?<!\w){re.escape(filler)}(?!\w)", "", rest) if filler else rest
    return made, re.sub(r"[\s,;:.]", "", rest)


def check_cards(found: Audit) -> None:
    for judge in found.judges:
        said = card_of(judge).said
        assert words(said.headline, names(found)) <= MOST_WORDS
        made, rest = claims(said.headline, judge.judge)
        assert made, said.headline
        assert not rest, (said.headline, rest)
        for claim in made:
            assert CLAIMS[claim](found, judge.judge), (judge.judge, claim)
        if not said.headline.startswith("People"):
            assert said.headline.startswith(f"{judge.overall.word}: ")


def check_short(found: Audit) -> None:
    answers = {"overview": overview_answer(found), **page_answers(found)}
    for page, said in answers.items():
        plain = said.headline
        for name in sorted(names(found), key=len, reverse=True):
            plain = plain.replace(name, "name")
        assert words(plain) <= MOST_WORDS, (page, plain)
        assert re.fullmatch(r"[A-Za-z0-9 ,.;:%'-]+", plain), (page, plain)
        assert not re.search(r"\(|shown to be at|interval", plain)
        assert "\n" not in said.figures


def test_every_clause_of_a_card_follows_from_the_checks(demo):
    check_cards(demo)
    check_short(demo)


@pytest.mark.thorough
def test_of_real_votes_too(real):
    check_cards(real)
    check_short(real)


def test_the_demo_names_the_judge_to_use_and_the_one_not_to(demo):
    said = overview_answer(demo)
    assert said.headline == (
        "May decide: sim-judge-careful is nearly always right, ignores order and is honest about "
        "doubt. Not to be used: sim-judge-first-slot."
    )
    refused = [j.judge for j in demo.judges if j.overall.verdict == "do_not_trust"]
    assert refused == ["sim-judge-first-slot"]
    exact = demo.judges[0].exact
    assert said.figures.startswith(f"right label {100 * exact.value:.0f} % · where gold decides ")


def test_the_worst_judge_of_each_question_is_named_with_its_own_figures(demo):
    of = {judge.judge: judge for judge in demo.judges if judge.rater_type != "human"}
    said = page_answers(demo)
    worst = max(of.values(), key=lambda judge: judge.calibration.ece)
    gap = number(demo, worst.judge, "overconfidence")
    assert said["calibration"].headline.startswith(
        f"{worst.judge} claims {100 * gap.value:.0f} points more certainty than it earns; "
    )
    honest = said["calibration"].headline.partition("; ")[2].partition(" means")[0]
    assert is_grade("ok", checks=("calibration", "overconfidence", "discrimination"))(demo, honest)
    assert f"{100 * gap.value:+.1f} points ({100 * gap.low:.1f}–{100 * gap.high:.1f})" in (
        said["calibration"].figures
    )

    wrong = min(of.values(), key=lambda judge: judge.confusion.accuracy.value)
    table = wrong.confusion.counts
    assert said["confusion"].headline == (
        f"{wrong.judge} names a winner in {100 * (1 - table[1, 1] / table[1].sum()):.0f} % of the "
        "cases that gold calls a tie."
    )

    leaning = [name for name in of if grade(demo, name, "position") in BAD]
    fine = [name for name in of if grade(demo, name, "position") == "ok"]
    assert (leaning, len(fine), len(of)) == (["sim-judge-first-slot"], 3, 4)
    assert said["position_bias"].headline == (
        "sim-judge-first-slot favours the answer it sees first; the other three judges do not."
    )
    assert all(grade(demo, name, "repeatability") == "ok" for name in of)
    assert said["agreement"].headline == "All four judges repeat themselves well."

    split = max(of.values(), key=lambda judge: judge.splits.scores["majority"].mae)
    best, majority = next(iter(split.splits.scores.values())), split.splits.scores["majority"]
    assert best.key == "btd"
    assert best.mae < majority.mae / 2
    assert said["votes_to_labels"].headline == (
        f"Calibrating the votes of {split.judge} more than halves the label errors of plain "
        "majority."
    )
    tier = [row.model for row in demo.boards["sim-anchor-one"][0].board.rows if row.tier == 1]
    assert said["leaderboard"].headline == (f"{' and '.join(tier)} lead; which is first is open.")
