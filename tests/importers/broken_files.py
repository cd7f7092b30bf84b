"""Broken inputs of the importers: for every message at least one file that gets it.

A case is its files (name, bytes or a path below the folder of the test) and the options that they
are read with. What each is answered stands in `data/import_messages.json`.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from core.importers.columns import CELL_LIMIT

Files = list[tuple[str, bytes | Path]]
Case = tuple[Files, dict[str, Any]]


def csv(text: str, **options: Any) -> Case:
    return [("votes.csv", text.encode())], options


def jsonl(*records: object, **options: Any) -> Case:
    return [("x.jsonl", "\n".join(map(json.dumps, records)).encode())], options


def path(name: str) -> Case:
    return [(name, Path(name))], {}


def parquet(**columns: Any) -> Case:
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return [("x.parquet", target.getvalue())], {}


VOTES = "item_id,judge,vote\n1,j,1\n2,j,-1\n"
SLOTS = "item_id,judge,position,vote,gold\n1,j,ab,A,A\n1,j,ba,A,A\n2,j,ba,[[C]],B\n3,j,,B,A\n"
TWO_SCORES = (
    "item_id,judge,score_a,score_b\n1,j,3,4\n2,j,4,4.1\n3,j,9,1\n4,j,,1\n5,j,x,1\n6,j,1,nan\n"
)
ZERO_ONE = "item_id,judge,vote\n1,j,1\n2,j,0\n"
NAMED = (
    "item_id,judge,winner,model_a,model_b\n1,j,GPT,gpt,llama\n2,j,tie,gpt,llama\n4,j,x,gpt,llama\n"
)

TABLES_OF_VOTES = {
    "a wide cell": csv(
        "item_id,gpt,claude\n1,A,B\n2,B,?\n", layout="wide", judges=("gpt", "claude")
    ),
    "a wide cell that is a judge's by its labels": csv(
        "item_id,gpt,claude\n1,A,B\n2,B,tie\n2,A,tie\n"
    ),
    "no two scores": csv(TWO_SCORES),
    "no two scores, with a margin": csv(TWO_SCORES, tie_margin=0.1),
    "no score columns": csv("item_id,judge,score_a\n1,j,1\n", layout="scores"),
    "failed votes": csv(
        "item_id,judge,vote,status,confidence\n1,j,,refused,0.9\n2,j,1,error,\n3,j,,,\n4,j,-1,,1\n5,j,,ok,\n"
        "6,j,1,odd,\n"
    ),
    "another letter": csv("item_id,judge,vote\n1,j,A\n2,j,B\n3,j,D\n"),
    "an empty vote": csv("item_id,judge,vote\n1,j,A\n2,j,B\n3,j,\n"),
    "models or slots": csv(SLOTS),
    "slots without an order": csv(SLOTS, label_refers="slot"),
    "first and second without an order": csv(
        "item_id,judge,model_a,vote\n1,j,x,first\n2,j,x,second\n"
    ),
    "numbers that name slots": csv(
        "item_id,judge,position,vote\n1,j,ab,1\n2,j,ba,-1\n", label_refers="slot"
    ),
    "zero and one": csv(ZERO_ONE),
    "zero and one, read as 1/2/0": csv(ZERO_ONE, labels="1/2/0"),
    "one and two": csv("item_id,judge,vote\n1,j,1\n2,j,2\n3,j,-1\n", labels="1/2/0"),
    "minus one and two": csv("item_id,judge,vote\n1,j,-1\n2,j,2\n"),
    "gold of zero and one": csv("item_id,judge,vote,gold\n1,j,A,1\n2,j,B,0\n"),
    "gold of another vocabulary": csv("item_id,judge,vote,gold\n1,j,A,win\n2,j,B,A\n"),
    "gold outside its vocabulary": csv(
        "item_id,judge,vote,gold\n1,j,A,A\n2,j,B,?\n", gold_labels="A/B"
    ),
    "another model": csv(NAMED),
    "another model as gold": csv(
        "item_id,judge,winner,model_a,model_b,gold\n1,j,gpt,gpt,llama,x\n2,j,gpt,gpt,llama,gpt\n",
        gold_labels="names",
    ),
    "names without models": csv("item_id,judge,winner\n1,j,GPT\n", labels="names"),
    "gold names without models": csv("item_id,judge,vote,gold\n1,j,A,GPT\n", gold_labels="names"),
    "no vocabulary": csv("item_id,judge,vote\n1,j,good\n2,j,bad\n"),
    "labels that do not print": csv(
        "item_id,judge,vote\n" + "".join(f"{i},j,\x1b[31m{'x' * 500}\n" for i in range(3))
    ),
    "many labels": csv("item_id,judge,vote\n" + "".join(f"{i},j,word {i}\n" for i in range(9))),
    "several vocabularies": csv("item_id,judge,vote\n1,j,A\n2,j,B\n3,j,model_a\n4,j,win\n"),
    "numbers among letters": csv("item_id,judge,vote\n1,j,1\n2,j,2\n3,j,A\n"),
    "no judge": csv("item_id,vote\n1,1\n2,-1\n"),
    "no judge and no vote": csv("item_id,turn\n1,1\n2,2\n"),
    "no item in a wide file": csv("gpt,claude\nA,B\nB,A\n", layout="wide"),
    "no gold and no vote": csv("item_id,model_a,model_b\n1,x,y\n", format="canonical"),
    "an item that is missing in a file of gold": csv(
        "item_id,model_a,model_b,gold\n,x,y,1\n2,x,y,-1\n"
    ),
    "gold that is missing": csv("item_id,model_a,model_b,gold\n1,x,y,1\n2,x,y,-1\n3,x,y,\n"),
    "item and judge that are missing": csv("item_id,judge,vote\n,j,1\n2,,-1\n3,j,1\n"),
    "a conflict": csv(
        "item_id,judge,run,vote\n1,j,0,1\n1,j,0,1\n2,j,0,-1\n2,j,0,1\n3,j,0,1\n3,j,1,-1\n4,j,0,\n4,j,0,1\n"
    ),
    "repetitions without a run": csv("item_id,judge,vote\n1,j,1\n1,j,-1\n1,j,1\n2,j,1\n"),
    "identical rows": csv("item_id,judge,vote\n1,j,1\n1,j,1\n2,j,-1\n"),
    "different gold": csv("item_id,judge,vote,gold\n1,j,1,1\n1,k,1,-1\n1,l,1,\n2,j,-1,1\n"),
    "numbers that are none": csv(
        "item_id,judge,vote,run,length_a,temperature,cost\n1,j,1,1.5,3,0,0\n2,j,-1,1,x,0,0\n"
        "3,j,1,2,3,warm,0\n4,j,1,2,3,0,1e999\n5,j,1,2,3,-inf,0\n6,j,1,9223372036854775808,3,0,0\n"
        "7,j,1,2,99999999999999999999999,0,0\n8,j,1,3.0,4,0.5,0.1\n"
    ),
    "words that are not allowed": csv(
        "item_id,judge,vote,position,status,rater_type,confidence_kind\n1,j,1,left,ok,llm,self\n"
        "2,j,1,ab,fine,llm,self\n3,j,1,ab,ok,robot,self\n4,j,1,ba,ok,human,felt\n5,j,-1,AB,OK,LLM,Self\n"
    ),
    "confidence above 1": csv("item_id,judge,vote,confidence\n1,j,1,1.7\n2,j,-1,0.5\n3,j,-1,0.9\n"),
    "confidence below 0": csv("item_id,judge,vote,confidence\n1,j,1,-0.1\n2,j,-1,0.5\n"),
    "confidence above 100": csv("item_id,judge,vote,confidence\n1,j,1,101\n2,j,-1,50\n3,j,-1,90\n"),
    "confidence without its sign": csv("item_id,judge,vote,confidence\n1,j,1,90%\n2,j,-1,0.9\n"),
    "confidence with a sign": csv(
        "item_id,judge,vote,confidence\n1,j,1,90%\n2,j,-1,0.9\n", confidence_scale=1
    ),
    "confidence that is no number": csv(
        "item_id,judge,vote,confidence\n1,j,1,high\n2,j,-1,NaN\n3,j,1,inf\n4,j,1,\n5,j,1,0.5\n"
    ),
    "a NUL": jsonl(
        {"item_id": 1, "judge": "j", "vote": -1, "note": "a\0b"},
        {"item_id": "a\0", "judge": "j", "vote": 1},
        {"item_id": 3, "judge": "j", "vote": 1},
    ),
    "a huge cell": csv(f"item_id,judge,vote,note\n1,j,1,{'x' * (CELL_LIMIT + 1)}\n2,j,-1,\n"),
    "a column without a name": csv(",item_id,judge,vote\n0,1,j,1\n1,2,j,?\n"),
    "columns under another name": csv("question_id,rater,winner\n1,j,A\n2,j,B\n3,,A\n"),
    "columns of the file named like ours": csv(
        "question_id,item_id,judge,vote\n1,a,j,1\n2,b,j,-1\n", mapping=(("item_id", "question_id"),)
    ),
}

OPTIONS = {
    "a column that is not there": csv(VOTES, mapping=(("vote", "winer"),)),
    "a column that votes have not": csv(VOTES, mapping=(("score", "vote"),), format="canonical"),
    "no canonical column": csv(VOTES, mapping=(("votes", "x"),)),
    "no such vocabulary": csv(VOTES, labels="letters"),
    "no such vocabulary of gold": csv(VOTES, gold_labels="letters"),
    "no such format": csv(VOTES, format="csv"),
    "no such layout": csv(VOTES, layout="tall"),
    "a margin below 0": csv(VOTES, tie_margin=-1.0),
    "a margin that is none": csv(VOTES, tie_margin=float("nan")),
    "no such scale": csv(VOTES, confidence_scale=10),
    "no such rater": csv(VOTES, rater_type="robot"),
    "labels that refer to nothing": csv(VOTES, label_refers="both"),
    "a judge that is no column": csv("item_id,gpt\n1,A\n", judges=("claude",)),
    "a size": csv(VOTES, max_bytes=10),
    "no JSON where JSON is wanted": csv(VOTES, format="judgebench"),
    "a Parquet file where JSON is wanted": (
        parquet(item_id=["1"], judge=["j"], vote=[1])[0],
        {"format": "mtbench_pair"},
    ),
    "another format": jsonl({"item_id": 1, "judge": "j", "vote": 1}, format="alpacaeval"),
    "a Parquet file beyond the size": (parquet(judge=["j" * 99] * 99)[0], {"max_bytes": 4000}),
    "several files, one bad": ([("good.csv", VOTES.encode()), ("bad.csv", b"")], {}),
}

CONTAINERS = {
    "no file": path("gone.csv"),
    "a folder": path("folder"),
    "a pipe": path("pipe"),
    "a file that cannot be named": path("x" * 300 + ".csv"),
    "a database": ([("x.duckdb", b"\0" * 8 + b"DUCK" + b"\0" * 20)], {}),
    "a store": ([("x.csv", b"\1" * 8 + b"DUCK....")], {}),
    "an old workbook": ([("x.xls", b"\xd0\xcf\x11\xe0....")], {}),
    "bzip2": ([("x.csv.bz2", b"BZh9....")], {}),
    "xz": ([("x.csv.xz", b"\xfd7zXZ....")], {}),
    "SQLite": ([("x.db", b"SQLite format 3\0")], {}),
    "NumPy": ([("x.npy", b"\x93NUMPY....")], {}),
    "a bloated gzip": ([("x.csv.gz", gzip.compress(b"0" * 80_000_000, 9))], {}),
    "a header with an open quote": ([("x.csv", b'"item_id,judge,vote\n1,j,1\n')], {}),
    "a header with a quote in it": ([("x.csv", b'item_id,judge,"vo"te"\n1,j,1\n')], {}),
    "a header of a megabyte": (
        [("x.csv", b",".join([b"%d" % i + b"x" * 60_000 for i in range(20)]))],
        {},
    ),
    "a header of one column": ([("x.csv", b"item_id\n1\n")], {}),
    "rows with too many and too few cells": csv(
        "item_id,judge,vote\n1,j\n2,j,1\n3,j,1,1\n\n4,j,-1\n"
    ),
    "rows of tabs": ([("x.tsv", b"item_id\tjudge\tvote\n1\tj\n2\tj\t1\n")], {}),
    "rows of semicolons": ([("x.csv", b"item_id;judge;vote\n1;j\n2;j;1\n")], {}),
    "rows of bars": ([("x.csv", b"item_id|judge|vote\n1|j\n2|j|1\n")], {}),
    "a JSON object that is no vote": ([("x.json", b'{\n "note": "x",\n "votes": [1, 2]\n}')], {}),
    "an array with other values": (
        [("x.json", b'[{"item_id":1,"judge":"j","vote":-1}, 3, null]')],
        {},
    ),
    "a line with a long number": (
        [("x.jsonl", b'{"item_id":1,"judge":"j","vote":-1}\n{"vote":' + b"9" * 5000 + b"}\n")],
        {},
    ),
    "a JSON column under another name": jsonl({"id": 1, "judge": "j"}),
}

SCORES = "item_id,model,judge,score\n1,m,j,5\n"
SCORED_RUNS = (
    "item_id,model,judge,run,score\n1,m,j,0,5\n1,m,j,0,6\n2,m,j,0,1\n3,m,j,0,\n3,m,j,0,2\n"
)
DIRECT_SCORES = {
    f"a score of {cell}": csv(f"{SCORES}2,m,j,{cell}\n")
    for cell in ("nan", "inf", "1e999", "1e300", "seven", "-1000001")
} | {
    "no score": csv("item_id,who,judge,points\n1,m,j,4\n", format="direct_scores"),
    "a column of votes": csv(SCORES, format="direct_scores", mapping=(("model_a", "model"),)),
    "a model that is not there": csv(SCORES, format="direct_scores", mapping=(("model", "who"),)),
    "a model that is missing": csv(f"{SCORES}2,,j,4\n3,m,,4\n,m,j,4\n"),
    "scores in conflict": csv(SCORED_RUNS),
    "scores twice": csv("item_id,model,judge,score\n1,m,j,5\n1,m,j,6\n2,m,j,1\n"),
    "scores repeated": csv("item_id,model,judge,score\n1,m,j,5\n1,m,j,5\n2,m,j,1\n"),
    "failed scores": csv(
        "item_id,model,judge,score,status\n1,m,j,5,ok\n2,m,j,,ok\n3,m,j,4,refused\n4,m,j,,\n5,m,j,1,odd\n"
    ),
    "other numbers": csv(
        "item_id,model,judge,score,run,temperature,cost\n1,m,j,5,0,0,0\n2,m,j,5,x,0,0\n3,m,j,5,0,hot,0\n"
        "4,m,j,5,0,0,dear\n"
    ),
    "another rater": csv("item_id,model,judge,score,rater_type\n1,m,j,5,llm\n2,m,j,5,robot\n"),
}

WHOLE = "h,a,j,0,0,9,1\nh,b,j,0,1,8,2\ng,a,j,0,0,9,1\ng,b,j,0,1,8,2\n"
BAD_LISTS = {
    "a slot twice": "i,a,j,0,0,9,1\ni,b,j,0,0,8,2",
    "a slot left out": "i,a,j,0,0,9,1\ni,b,j,0,2,8,2",
    "a slot missing": "i,a,j,0,0,9,1\ni,b,j,0,,8,2",
    "a slot that is none": "i,a,j,0,0,9,1\ni,b,j,0,?,8,2",
    "a slot beyond all": "i,a,j,0,0,9,1\ni,b,j,0,10001,8,2",
    "a slot beyond 64 bits": "i,a,j,0,0,9,1\ni,b,j,0,99999999999999999999999,8,2",
    "a rank twice": "i,a,j,0,0,9,1\ni,b,j,0,1,8,1",
    "a rank missing": "i,a,j,0,0,9,1\ni,b,j,0,1,8,",
    "a rank that is none": "i,a,j,0,0,9,1\ni,b,j,0,1,8,-1",
    "a score missing": "i,a,j,0,0,9,1\ni,b,j,0,1,,2",
    "a score above 100": "i,a,j,0,0,9,1\ni,b,j,0,1,101,2",
    "a score that is not finite": "i,a,j,0,0,9,1\ni,b,j,0,1,nan,2",
    "a score beyond 64 bits": "i,a,j,0,0,9,1\ni,b,j,0,1,1e400,2",
    "one candidate": "i,a,j,0,0,9,1",
    "a candidate twice": "i,a,j,0,0,9,1\ni,a,j,0,1,8,2",
    "a candidate missing": "i,a,j,0,0,9,1\ni,,j,0,1,8,2",
    "a judge missing": "i,a,j,0,0,9,1\ni,b,,0,1,8,2",
    "an item missing": "i,a,j,0,0,9,1\n,b,j,0,1,8,2",
    "a run that is none": "i,a,j,0,0,9,1\ni,b,j,x,1,8,2",
    "a row cut": "i,a,j,0,0,9,1\ni,b,j,0,1",
    "fewer candidates": "i,a,j,0,0,9,1\ni,b,j,0,1,8,2\ni,c,j,0,2,7,3\ni,a,j,1,0,9,1\ni,b,j,1,1,8,2",
}
RANKINGS = {
    f"a ranking with {name}": csv(f"item,candidate,judge,run,slot,score,rank\n{WHOLE}{rows}\n")
    for name, rows in BAD_LISTS.items()
} | {
    "a ranking without slots": csv(
        "item,candidate,judge,rank\ni,a,j,1\ni,b,j,2\n", format="rankings"
    ),
    "a ranking without answers": csv(
        "item,candidate,judge,slot\ni,a,j,0\ni,b,j,1\n", format="rankings"
    ),
    "slots from 1": csv(
        "item,candidate,judge,slot,rank\ni,a,j,1,1\ni,b,j,2,2\nh,a,j,1,1\nh,b,j,3,2\n"
    ),
    "slots that are letters": csv("item,candidate,judge,slot,rank\ni,a,j,A,1\ni,b,j,C,2\n"),
    "rankings repeated": csv(
        "item,candidate,judge,slot,rank\ni,a,j,0,1\ni,b,j,1,2\ni,a,j,0,1\ni,b,j,1,2\n"
    ),
    "a choice against the ranks": csv(
        "item,candidate,judge,run,slot,rank,chosen,is_best\ni,a,j,0,0,1,0,1\ni,b,j,0,1,2,1,0\n"
    ),
    "no candidate chosen": csv(
        "item,candidate,judge,slot,chosen\ni,a,j,0,0\ni,b,j,1,0\nh,a,j,0,1\nh,b,j,1,0\n"
    ),
    "no flag": csv("item,candidate,judge,slot,rank,uncertain\ni,a,j,0,1,maybe\ni,b,j,1,2,0\n"),
    "two words in one ranking": csv(
        "item,category,candidate,judge,slot,rank,status,rater_type\nf,c,a,j,0,1,,\nf,d,b,j,1,2,,\n"
        "g,c,a,j,0,1,ok,\ng,c,b,j,1,2,error,\nh,c,a,j,0,1,,llm\nh,c,b,j,1,2,,human\n"
    ),
    "a status without an answer": csv(
        "item,candidate,judge,slot,rank,status\nf,a,j,0,,ok\nf,b,j,1,,ok\ng,a,j,0,1,error\ng,b,j,1,2,error\n"
        "h,a,j,0,,\nh,b,j,1,,\ni,a,j,0,1,odd\ni,b,j,1,2,ok\n"
    ),
    "two best candidates of an item": csv(
        "item,candidate,judge,run,slot,rank,chosen,is_best\ni,a,j,0,0,1,1,1\ni,b,j,0,1,2,0,0\n"
        "i,a,j,1,0,1,1,0\ni,b,j,1,1,2,0,1\n"
    ),
    "a file cut between two rows": csv(
        "item,candidate,judge,run,slot,score,rank,is_best\ni,a,j,0,0,90,1,1\ni,b,j,0,1,70,2,\n"
        "i,c,j,0,2,10,3,\ni,b,j,1,0,60,2,0\ni,a,j,1,1,60,1,1\n"
    ),
}

CHOSEN = (
    "benchmark,item,subset,judge,perm_id,permutation,gold_slot,pick_slot,pick_candidate,correct\n"
)
GOOD_CHOICES = "B,h,s,j,0,012,A,A,0.0,1\nB,h,s,j,1,102,B,A,1.0,0\nB,h,s,j,2,201,B,,,0\n"
BAD_CHOICES = {
    "a candidate shown twice": "B,i,s,j,0,1123,A,A,1,0",
    "candidates left out": "B,i,s,j,0,0145,A,A,0,1",
    "no order": "B,i,s,j,0,,A,A,0,1",
    "a slot that was not shown": "B,i,s,j,0,102,B,D,,0",
    "a slot that is no letter": "B,i,s,j,0,102,B,1,,0",
    "a gold slot that was not shown": "B,i,s,j,0,102,Z,A,,0",
    "two candidates": "B,i,s,j,0,102,B,A,0,0",
    "a wrong mark": "B,i,s,j,0,102,B,A,1,1",
    "a mark that is none": "B,i,s,j,0,102,B,A,1,perhaps",
    "a candidate below 0": "B,i,s,j,0,102,B,,-1,0",
    "a candidate that is no number": "B,i,s,j,0,102,B,,x,0",
    "a run that is none": "B,i,s,j,x,102,B,A,1,0",
    "no judge": "B,i,s,,0,102,B,A,1,0",
}
CHOICES = {
    f"a choice with {name}": csv(f"{CHOSEN}{GOOD_CHOICES}{row}\n")
    for name, row in BAD_CHOICES.items()
} | {
    "orders without a 0": csv("item,judge,permutation,pick_slot\ni,j,123,A\ni,k,123,B\n"),
    "choices without a pick": csv("item,judge,permutation\ni,j,012\n", format="choices"),
    "other numbers of choices": csv(
        "item,judge,permutation,pick_slot,temperature,cost\ni,j,012,A,hot,0\ni,k,012,B,0,dear\ni,l,012,C,0,0\n"
    ),
}


def judgebench(**more: object) -> dict[str, object]:
    judgment = {"judgment": {"judge_model": "j"}, "decision": "A>B"}
    return {
        "pair_id": "p",
        "label": "A>B",
        "response_model": "m",
        "judgments": [judgment, judgment],
    } | more


def judged(**more: object) -> list[object]:
    return [{"judgment": {"judge_model": "j"} | more, "decision": "A>B"}]


def alpaca(preference: object, **more: object) -> dict[str, object]:
    texts = {"instruction": "Why?", "output_1": "r", "output_2": "o", "generator_2": "m"}
    return texts | {"preference": preference} | more


def arena(**more: object) -> dict[str, object]:
    games = [{"score": "A>B"}, {"score": "B>>A"}]
    return {"question_id": "q", "model": "m", "judge": "j", "games": games} | more


def pair(**more: object) -> dict[str, object]:
    record = {
        "question_id": 1,
        "model_1": "m",
        "model_2": "n",
        "g1_winner": "tie",
        "g2_winner": "model_1",
    }
    return record | {"judge": ["j", "p"]} | more


def single(**more: object) -> dict[str, object]:
    return {
        "question_id": 1,
        "model": "m",
        "judge": ["j", "p"],
        "score": 7,
        "judgment": "Good.",
    } | more


def pandalm(idx: object, **more: object) -> dict[str, object]:
    return {"idx": idx, "cmp_key": "x_y", "annotator1": 1, "annotator2": 2, "annotator3": 1} | more


def outputs(*records: object, **options: Any) -> Case:
    test_set = json.dumps(
        [pandalm(0), pandalm(1), pandalm("2"), pandalm(3, cmp_key="x_y_z")]
    ).encode()
    return [("judge.json", json.dumps(records).encode()), ("testset-v1.json", test_set)], options


def without(record: dict[str, object], names: Iterable[str]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name not in names}


NATIVE = {
    "JudgeBench": jsonl(
        judgebench(),
        judgebench(
            pair_id="b", judgments=[None, {"judgment": {"judge_model": "j"}, "decision": None}]
        ),
        judgebench(pair_id="c", judgments=[{"judgment": {"judge_model": "j"}, "decision": "C>A"}]),
        judgebench(pair_id="d", judgments=[None, None]),
        judgebench(pair_id="e", judgments=[]),
        judgebench(pair_id="f", judgments="none"),
        judgebench(pair_id="g", label="better"),
        judgebench(pair_id="h", judgments=judged(scores=[1])),
        judgebench(pair_id="i", judgments=judged(scores=[1, "x"])),
        judgebench(pair_id="k", judgments=judged(scores="high")),
        judgebench(pair_id="l", response_model=None),
        judgebench(pair_id=None),
        judgebench(pair_id="m", response_model=True),
        judgebench(pair_id="n", question="a\0b"),
        judgebench(pair_id="o", question="x" * (CELL_LIMIT + 1)),
    ),
    "JudgeBench with a column": jsonl(judgebench(), mapping=(("category", "source"),)),
    "AlpacaEval": jsonl(
        alpaca(1),
        *(
            alpaca(p, instruction=f"i{i}")
            for i, p in enumerate((0, 2.5, "2", True, float("nan"), [1], None))
        ),
        alpaca(1, instruction=None),
        alpaca(2, instruction="j", generator_2=7),
    ),
    "AlpacaEval, graded": jsonl(alpaca(1.2), alpaca(3.2, instruction="x")),
    "Arena-Hard": jsonl(
        arena(),
        without(arena(), ["question_id"]),
        arena(question_id="a", games=[]),
        arena(question_id="b", games=[{}, {}, {}]),
        arena(question_id="c", games=[{"score": "better"}, {"score": None}]),
        arena(question_id="d", games=None),
        arena(question_id="e", model=None),
        arena(question_id="f", judge=""),
        arena(question_id="g", games=[{"score": 1}]),
    ),
    "MT-Bench pairs": jsonl(
        pair(),
        pair(question_id=2, g1_winner="model_3"),
        pair(question_id=3, g2_winner=1),
        pair(question_id=None),
        pair(question_id=4, judge=None),
        pair(question_id=5, judge=[]),
        pair(question_id=6, model_2=""),
        pair(question_id=7, g1_winner="error", g1_judgment="$ERROR$"),
    ),
    "MT-Bench grades": jsonl(
        single(),
        single(question_id=2, score="7"),
        single(question_id=3, score=True),
        single(question_id=4, turn="1"),
        single(question_id=5, turn=True),
        single(question_id=None),
        single(question_id=6, judge=""),
        single(question_id=7, model=None),
        single(question_id=8, score=-1),
        single(question_id=8, score=5),
        single(question_id=8, score=6),
    ),
    "PandaLM, the test set": jsonl(
        pandalm(0),
        pandalm(1, annotator2=7),
        pandalm(2, annotator1=True),
        pandalm(3, cmp_key="x"),
        pandalm(4, cmp_key=None),
        pandalm("5"),
        pandalm(6, annotator1=None, annotator2="", annotator3=""),
    ),
    "PandaLM, outputs": outputs(
        {"idx": 0, "j_result": 1, "j_reason": "r"},
        {"idx": 1, "j_result": "garbage"},
        {"idx": 2, "j_result": 1},
        {"idx": 3, "j_result": 1},
        {"idx": "0", "j_result": 1},
        {"idx": 0, "j_result": 5},
        {"idx": 9, "j_result": 1},
    ),
    "PandaLM, outputs without the test set": (outputs({"idx": 0, "j_result": 1})[0][:1], {}),
    "PandaLM, two test sets": (
        [*outputs({"idx": 0, "j_result": 1})[0], ("other.json", json.dumps([pandalm(0)]).encode())],
        {},
    ),
}

GROUPS: dict[str, dict[str, Case]] = {
    "votes": TABLES_OF_VOTES,
    "options": OPTIONS,
    "containers": CONTAINERS,
    "direct scores": DIRECT_SCORES,
    "rankings": RANKINGS,
    "choices": CHOICES,
    "native": NATIVE,
}
CASES = {
    f"{group}: {name}": case for group, cases in GROUPS.items() for name, case in cases.items()
}
