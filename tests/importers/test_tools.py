"""Logs of evaluation tools and data sets of preferences, one small file of each form."""

import io
import json
import time
import zipfile
import zlib

import pyarrow as pa
import pytest
from tool_files import EXPECTED, FILES, TOOLS

from core import audit
from core.__main__ import main
from core.errors import AppellateError, UnreadableFile
from core.importers import ReadOptions, inspect, read
from core.importers.json_tables import read_records
from core.importers.registry import FORMATS
from core.importers.source import open_source
from core.importers.tables import read_delimited

VALUES = {"votes": "vote", "scores": "score", "rankings": "chosen"}
MODELS = {"votes": "model_a", "scores": "model", "rankings": None}
BY_NAME = {path.name: path for path in FILES}


def distinct(reading, column):
    there = column is not None and column in reading.votes.column_names
    return {*reading.votes[column].to_pylist()} if there else None


def described(reading):
    return (
        reading.kind,
        distinct(reading, "judge"),
        distinct(reading, "rater_type"),
        distinct(reading, "metric"),
        distinct(reading, "run"),
        distinct(reading, MODELS[reading.kind]),
    )


def test_every_file_is_described():
    assert {path.name for path in TOOLS.iterdir()} - {"README.md"} == {*EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tools_file_gives_its_judgements(name):
    format, expected = EXPECTED[name]
    readings = read([(name, TOOLS / name)])
    assert [reading.format for reading in readings] == [format] * len(expected)
    for reading, wanted in zip(readings, expected, strict=True):
        assert reading.n_rejected == 0
        assert described(reading) == wanted[:-1]
        if wanted[-1] is not None:
            assert reading.votes[VALUES[reading.kind]].to_pylist() == wanted[-1]
    looks = inspect(TOOLS / name, name)
    assert (looks.format, looks.kind) == (format, readings[0].kind)
    assert not looks.questions


def first_record(path):
    source = open_source(path.name, path, 2**31)
    if source.kind != "json":
        table = read_delimited(source)
        return {name: cells[0].as_py() or " " for name, cells in table.columns.items()}
    return read_records(source, lambda whole: any(f.fits(whole) for f in FORMATS.values())).records[
        0
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_no_file_is_taken_for_one_of_another_tool(name, native):
    path = TOOLS / name
    fits = [each.name for each in FORMATS.values() if each.fits(first_record(path))]
    own = EXPECTED[name][0]
    if own in FORMATS:
        # Pairs with scores are pairs too, and the format that reads more is tried first.
        assert fits[0] == own
        assert set(fits[1:]) <= {"preference_pairs"}
        for other in FORMATS:
            if other not in fits:
                with pytest.raises(AppellateError):
                    read([(name, path)], ReadOptions(format=other))
    else:
        assert not fits


@pytest.mark.parametrize("path", ["pandalm/testset-v1.json", "mtbench/judge-1_pair.jsonl"])
def test_older_formats_are_not_taken_for_tools(path, native):
    fits = [each.name for each in FORMATS.values() if each.fits(first_record(native / path))]
    assert len(fits) == 1


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "latest_test_run.json",
            '{"testRunLink": "https://host.invalid/run"}',
            "a run on Confident AI, without its cases. Set DEEPEVAL_RESULTS_FOLDER",
        ),
        (
            "review_a_b_human.txt",
            "MODEL-A\nTIE\nMODEL-B\nMODEL-A\n" * 3,
            r"one label a line \('MODEL-A', 'MODEL-B', 'TIE'\).*Put the name of the item",
        ),
    ],
)
def test_what_holds_no_judgements_is_named_with_what_does(name, data, said):
    with pytest.raises(UnreadableFile, match=rf"{name}: line 1: .*{said}"):
        read([(name, data.encode())])


CUT_ANYWHERE = [name for name in EXPECTED if name.endswith(".json")]


@pytest.mark.parametrize("name", CUT_ANYWHERE)
@pytest.mark.parametrize("share", [0.2, 0.6, 0.97])
def test_a_cut_file_says_where_and_what_to_do(name, share):
    data = (TOOLS / name).read_bytes()
    with pytest.raises(UnreadableFile, match=rf"{name}: (?:line|row) \d+.*(?:again|object)"):
        read([(name, data[: int(len(data) * share)])])


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".jsonl")])
def test_a_cut_line_is_named(name):
    data = (TOOLS / name).read_bytes()
    readings = read([(name, data[:-20])])
    lines = data.count(b"\n")
    assert readings[0].rejects["row"].to_pylist() == [lines]
    assert "not valid JSON" in readings[0].rejects["reason"][0].as_py()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_empty_file_says_so(name):
    with pytest.raises(UnreadableFile, match="the file is empty"):
        read([(name, b"")])


@pytest.mark.parametrize("name", [n for n in EXPECTED if EXPECTED[n][0] in FORMATS])
def test_a_renamed_file_is_known_by_what_is_in_it(name):
    for other in ("x.csv", "x.json", "x.parquet.txt"):
        if EXPECTED[name][0] in ("alttest", "preference_scores", "rewardbench"):
            continue  # Their files' names say who judged.
        (first, *_) = read([(other, (TOOLS / name).read_bytes())])
        assert first.format == EXPECTED[name][0]


WRONG = {
    "inspect.json": ('"samples"', '"trials"'),
    "promptfoo.json": ('"results"', '"outcomes"'),
    "deepeval.json": ('"metricsData"', '"metrics"'),
    "mlflow_traces.jsonl": ('"assessments"', '"marks"'),
    "phoenix.csv": ("annotator_kind", "kind"),
    "langfuse.csv": ("dataType", "type"),
    "prometheus.json": ('"eval_model_name"', '"grader"'),
    "annotated_pairs.json": ('"annotators"', '"people"'),
    "label_studio.json": ('"pairwise"', '"choices"'),
    "samples_nature_2026-01-01T00-00-00.000000.jsonl": ('"metrics"', '"measures"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_with_a_remedy(name):
    old, new = WRONG[name]
    data = (TOOLS / name).read_text().replace(old, new)
    with pytest.raises(AppellateError) as caught:
        read([(name, data.encode())])
    message = str(caught.value)
    assert message.startswith(f"{name}: line 1")
    assert any(word in message for word in ("Name it", "Give", "Save", "Export", "Columns"))


# Archives.


def zip_of(members, method=zipfile.ZIP_DEFLATED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def zip_with_zstd(members):
    """A ZIP archive whose members are packed by method 93, as recent logs of Inspect are."""
    body, directory = b"", b""
    for name, data in members.items():
        packed = pa.compress(data, codec="zstd", asbytes=True)
        common = (
            (20).to_bytes(2, "little") * 1
            + b"\0\0"
            + (93).to_bytes(2, "little")
            + b"\0\0\x21\0"
            + zlib.crc32(data).to_bytes(4, "little")
            + len(packed).to_bytes(4, "little")
            + len(data).to_bytes(4, "little")
            + len(name).to_bytes(2, "little")
            + b"\0\0"
        )
        directory += (
            b"PK\1\2\x14\0"
            + common
            + b"\0\0" * 3
            + b"\0" * 4
            + len(body).to_bytes(4, "little")
            + name.encode()
        )
        body += b"PK\3\4" + common + name.encode() + packed
    end = (
        b"PK\5\6\0\0\0\0"
        + len(members).to_bytes(2, "little") * 2
        + len(directory).to_bytes(4, "little")
        + len(body).to_bytes(4, "little")
        + b"\0\0"
    )
    return body + directory + end


def eval_members(finished=True):
    whole = json.loads((TOOLS / "inspect.json").read_text())
    samples = whole.pop("samples")
    header = json.dumps(whole).encode()
    members = {
        f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s).encode() for s in samples
    }
    start = {"_journal/start.json": header} | ({"header.json": header} if finished else {})
    return start | members


@pytest.mark.parametrize("packed", [zip_of, zip_with_zstd])
def test_a_log_of_inspect_is_read_as_its_json_is(packed):
    (log,) = read([("nature.eval", packed(eval_members()))])
    (plain,) = read([("inspect.json", TOOLS / "inspect.json")])
    keys = ("item_id", "run", "judge", "metric")
    rows = [
        sorted(reading.votes.select([*keys, "score", "status", "response"]).to_pylist(), key=str)
        for reading in (log, plain)
    ]
    assert rows[0] == rows[1]
    assert log.votes.num_rows == 19


def test_a_log_that_was_not_finished_is_read_and_said():
    (log,) = read([("nature.eval", zip_of(eval_members(finished=False)))])
    assert log.votes.num_rows == 19
    members = eval_members()
    broken = members | {"samples/s0_epoch_1.json": b"{"}
    with pytest.raises(UnreadableFile, match=r"s0_epoch_1.*Write the log again"):
        read([("nature.eval", zip_of(broken))])


def test_an_archive_of_logs_is_one_data_set_with_runs_told_apart():
    first = (TOOLS / "promptfoo.jsonl").read_bytes()
    second = first.replace(b'"score": 0.9', b'"score": 0.7')
    data = zip_of(
        {
            "a/one.jsonl": first,
            "b/two.jsonl": second,
            "b/again.jsonl": second,
            "README.md": b"hello",
            "b/config.json": b'{"seed": 1}',
        }
    )
    readings = read([("logs.zip", data)])
    scores = [reading for reading in readings if reading.kind == "scores"]
    assert [distinct(reading, "run") for reading in scores] == [{0}, {1}, set()]
    assert scores[2].duplicates == scores[1].units
    assert {name for reading in readings for name in distinct(reading, "dataset")} == {"logs"}
    notes = " ".join(note for reading in readings for note in reading.notes)
    assert "two.jsonl is the same file again" in notes
    assert "Left out: config.json" in notes


def test_a_folder_and_a_pattern_are_read_alike(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    for number, score in enumerate((0.9, 0.3)):
        text = (TOOLS / "promptfoo.jsonl").read_text().replace('"score": 0.9', f'"score": {score}')
        (logs / f"run{number}.jsonl").write_text(text)
    for given in (logs, logs / "*.jsonl"):
        readings = [r for r in read([(given.name, given)]) if r.kind == "scores"]
        assert [distinct(reading, "run") for reading in readings] == [{0}, {1}]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="the folder has no file that can be read"):
        read([("empty", tmp_path / "empty")])


def test_an_empty_name_is_not_this_folder(tmp_path, monkeypatch, capsys):
    """As `audit "$FILE"` has it where the variable is not set."""
    (tmp_path / "weeks").mkdir()
    (tmp_path / "weeks" / "votes.csv").write_text("item_id,judge,vote,gold\n1,j,1,1\n")
    monkeypatch.chdir(tmp_path / "weeks")
    for command in ("audit", "import", "doctor"):
        assert main([command, ""]) == 2
        assert "the name of a file is empty. Name the file" in capsys.readouterr().err
    with pytest.raises(UnreadableFile, match="the name of a file is empty"):
        audit("")
    assert main(["doctor", "."]) == 0
    assert capsys.readouterr().out.startswith("weeks: columns ")


@pytest.mark.parametrize("name", ["ragas.csv", "promptfoo.json", "battles.csv"])
def test_a_file_packed_with_zstd_or_zip_is_read(name):
    data = (TOOLS / name).read_bytes()
    plain = read([(name, data)])
    for packed in (pa.compress(data, codec="zstd", asbytes=True), zip_of({name: data})):
        readings = read([(name, packed)])
        assert [
            r.votes.drop(["dataset"]).equals(p.votes.drop(["dataset"]))
            for r, p in zip(readings, plain, strict=True)
        ]


BOMB = b"item_id,judge,vote\n" + b"1,j,1\n" * 40_000_000


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["zstd", "zip", "eval"])
def test_a_bomb_is_refused_before_it_is_unpacked(kind):
    if kind == "zstd":
        data = pa.compress(BOMB, codec="zstd", asbytes=True)
    elif kind == "zip":
        data = zip_of({"x.csv": BOMB})
    else:
        data = zip_with_zstd({"header.json": b"{}", "samples/1.json": BOMB})
    assert len(data) < 2_000_000
    with pytest.raises(UnreadableFile, match="unpack"):
        read([("bomb", data)])


def test_damaged_archives_are_named():
    good = zip_of({"x.csv": b"item_id,judge,vote\n" * 50})
    with pytest.raises(UnreadableFile, match="cut off or damaged"):
        read([("x.zip", good[:-30])])
    bad = good.replace(good[40:44], b"\0\0\0\0", 1)
    with pytest.raises(UnreadableFile, match="damaged"):
        read([("x.zip", bad)])
    with pytest.raises(UnreadableFile, match="no file that can be read"):
        read([("x.zip", zip_of({"notes.txt": b"x"}))])
    with pytest.raises(UnreadableFile, match="archive in an archive"):
        read([("x.zip", zip_of({"y.zip": good}))])
    deep = b"[" * 100 + b"]" * 100
    with pytest.raises(UnreadableFile, match="nested too deep"):
        read([("x.eval", zip_of(eval_members() | {"samples/s0_epoch_1.json": deep}))])


# Spreadsheets of other countries.


def test_decimal_commas_and_signs_of_percent_load_every_row():
    cells = ["92,5", "95 %", "88", "71,25 %"]
    rows = [f"q{i};gpt;{'AB'[i % 2]};{cells[i % 4]};A" for i in range(80)]
    (reading,) = read(
        [("votes.csv", "\n".join(["item_id;judge;vote;confidence;gold", *rows]).encode())]
    )
    assert (reading.votes.num_rows, reading.n_rejected) == (80, 0)
    assert reading.votes["confidence"].to_pylist()[:4] == [0.925, 0.95, 0.88, 0.7125]
    rows = [f"q{i};{60 + i % 40},5;{i % 3 + 70} %" for i in range(80)]
    (reading,) = read(
        [("scores.csv", "\n".join(["case_id;judge_score;human_score", *rows]).encode())]
    )
    assert (reading.votes.num_rows, reading.n_rejected) == (80, 0)
    assert reading.votes["score"].to_pylist()[:2] == [60.5, 61.5]
    assert reading.votes["gold"].to_pylist()[:2] == [70, 71]
    # A comma that parts thousands, or a text, is none.
    (text,) = read([("t.csv", b"item_id;judge;vote;note\n1;j;A;1,5 apples\n2;j;B;2,5\n")])
    assert [dict(extra)["note"] for extra in text.votes["extra"].to_pylist()] == [
        "1,5 apples",
        "2,5",
    ]


def test_known_files_that_hold_no_judgements_name_what_does():
    said = {
        "results.json": (
            {"results": {}, "configs": {}, "versions": {}, "n-shot": {}},
            "--log_samples",
        ),
        "log.json": (
            {"version": 2, "status": "started", "eval": {"task": "t"}},
            "inspect log dump",
        ),
        "user_state.json": ({"user_id": "a", "instance_id_to_label_to_value": {}}, "--labels-from"),
    }
    for name, (record, remedy) in said.items():
        with pytest.raises(UnreadableFile, match=f"{name}: line 1: the file is .*{remedy}"):
            read([(name, json.dumps(record).encode())])
    with pytest.raises(UnreadableFile, match=r"promptfoo's CSV.*-o results.json"):
        read(
            [("out.csv", b"q,[a] x,Status,Score,Named Scores,Grader Reason,Comment,[b] x,Status\n")]
        )
    with pytest.raises(UnreadableFile, match="leaderboard"):
        read([("board.csv", b"model,score,rating_q025\nm,1,2\n")])
    with pytest.raises(UnreadableFile, match=r"search_traces as CSV.*Trace.to_json"):
        read([("t.csv", b"trace_id,trace_metadata,assessments\nt,{},[Assessment()]\n")])


def test_a_judge_with_reasons_beside_people_is_no_table_of_metrics():
    rows = [f"c{k},why {k}?,so {k},{k % 5 + 1},because,{k % 4 + 1}" for k in range(20)]
    header = "case_id,question,answer,judge_score,judge_reason,human_score"
    for format in ("auto", "direct_scores"):
        (reading,) = read(
            [("x.csv", "\n".join([header, *rows]).encode())], ReadOptions(format=format)
        )
        assert {*reading.votes["metric"].to_pylist()} == {"score"}
        assert reading.votes["gold"].null_count == 0
    (chosen,) = read(
        [("x.csv", "\n".join([header, *rows]).encode())], ReadOptions(metrics=("human_score",))
    )
    assert {*chosen.votes["metric"].to_pylist()} == {"human_score"}


def test_a_log_of_thousands_of_scorers_is_read_in_time_and_bounded():
    """Each score looked for its scorer among all: 10,000 of 2,000 scorers took a minute."""

    def log(scorers: int, samples: int) -> bytes:
        names = [f"s{k}" for k in range(scorers)]
        return json.dumps(
            {
                "version": 2,
                "status": "success",
                "eval": {
                    "task": "t",
                    "model": "m",
                    "scorers": [
                        {"name": name, "options": {"model": f"judge-{name}"}} for name in names
                    ],
                },
                "samples": [
                    {
                        "id": i,
                        "epoch": 1,
                        "input": "q",
                        "output": {},
                        "scores": dict.fromkeys(names, 1),
                    }
                    for i in range(samples)
                ],
            }
        ).encode()

    def processor(content: bytes) -> float:
        begun = time.process_time()
        (scores,) = read([("log.json", content)])
        assert scores.n_rejected == 0
        assert set(scores.votes["judge"].to_pylist()) >= {"judge-s0", "judge-s7"}
        return time.process_time() - begun

    # As many scores either way; it was 50 times as long.
    few, many = processor(log(20, 200)), processor(log(2000, 2))
    assert many < 6 * few + 0.5
    with pytest.raises(UnreadableFile, match="names of scorers or metrics"):
        read([("log.json", log(10_001, 1))])


def test_an_audit_takes_so_many_metrics_and_says_so(monkeypatch):
    monkeypatch.setattr("core.questions.scores.audit.MOST_METRICS", 3)
    rows = ["item_id,judge,metric,score,gold"]
    for metric in range(5):
        for item in range(12):
            rows.append(f"q{item},j,m{metric},{item % 5 + 1},{item % 5 + 1 if metric > 1 else ''}")
    found = audit("\n".join(rows).encode())
    assert {each.metric for each in found.scores} == {"m2", "m3", "m4"}
    assert any("5 metrics were scored, and the 3 with most labels" in note for note in found.notes)


def test_logs_in_one_archive_have_one_total(monkeypatch):
    """Each of thousands had the limit of the whole archive for itself."""
    import core.importers.archives as archives

    def log() -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            head = {"eval": {"task": "t", "model": "m"}, "status": "success", "version": 2}
            file.writestr("header.json", json.dumps(head))
            sample = {"id": 1, "epoch": 1, "input": "q" * 40_000, "output": {}, "scores": {"s": 1}}
            file.writestr("samples/1_epoch_1.json", json.dumps(sample))
        return packed.getvalue()

    def archive(logs: int) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
            for number in range(logs):
                file.writestr(f"{number}.eval", log())
        return packed.getvalue()

    monkeypatch.setattr(archives, "unpacked_limit", lambda packed, most: 100_000)
    assert read([("two.zip", archive(2))])
    with pytest.raises(UnreadableFile, match="all to more than an archive"):
        read([("many.zip", archive(5))])
