"""Logs that the tools themselves write, against a model that answers on this machine.

APPELLATE_TOOLS names a folder with an environment per tool: `inspect-ai/bin/python`,
`deepeval/bin/python`, `mlflow/bin/python`, `arize-phoenix-evals/bin/python`, and
`promptfoo/node_modules`. A tool that is not there is skipped.
"""

import json
import os
import subprocess
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.importers import read

TOOLS = Path(os.environ.get("APPELLATE_TOOLS", "no tools"))
SCRIPTS = Path(__file__).parent / "fresh_logs"
pytestmark = pytest.mark.thorough


class Model(BaseHTTPRequestHandler):
    """A model that grades everything as right, and answers Paris to all else."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = json.loads(asked)
        message = {"role": "assistant", "content": reply(asked)}
        reason = "stop"
        if request.get("tools"):
            name = request["tools"][0]["function"]["name"]
            arguments = json.dumps({"label": "correct", "explanation": "it is"})
            call = {"name": name, "arguments": arguments}
            message["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
            message["content"], reason = None, "tool_calls"
        usage = {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": request["model"],
                "choices": [choice],
                "usage": usage,
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def reply(asked):
    if "response_format" in asked and "label" in asked:
        return json.dumps({"label": "correct", "explanation": "it is"})
    if "which best fits" in asked or "index of the" in asked:
        return "0"
    if '"pass' in asked or ("pass" in asked and "reason" in asked):
        return json.dumps({"pass": True, "score": 0.9, "reason": "it does"})
    if "score" in asked and "reason" in asked:
        return json.dumps({"score": 8, "reason": "it is"})
    return "GRADE: C" if "GRADE" in asked else "Paris"


@pytest.fixture(scope="module")
def model():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def run(program, arguments, model, folder):
    if not Path(program).exists():
        pytest.skip(f"{program} is not installed; APPELLATE_TOOLS names where the tools are")
    off = (
        "DEEPEVAL_TELEMETRY_OPT_OUT",
        "PROMPTFOO_DISABLE_TELEMETRY",
        "PROMPTFOO_DISABLE_UPDATE",
        "MLFLOW_DISABLE_TELEMETRY",
        "DO_NOT_TRACK",
        "DEEPEVAL_DISABLE_DOTENV",
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model,
        "OPENAI_API_BASE": model,
        "LOOP_API_KEY": "none",
        "LOOP_BASE_URL": model,
        "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
        **dict.fromkeys(off, "1"),
    }
    return subprocess.run(
        [program, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def rows(path, kind="scores"):
    readings = read([(path.name, path)])
    (reading,) = [each for each in readings if each.kind == kind]
    assert reading.n_rejected == 0
    return reading.votes.to_pylist()


def counted(found, *names):
    return Counter(tuple(row[name] for name in names) for row in found)


def written(tool, script, model, folder, pattern):
    done = run(TOOLS / tool / "bin" / "python", [SCRIPTS / script, folder], model, folder)
    found = sorted(folder.rglob(pattern))
    assert len(found) == 1, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return found[0]


def test_inspect(model, tmp_path):
    log = written("inspect-ai", "inspect_ai_log.py", model, tmp_path, "*.eval")
    found = rows(log)
    assert counted(found, "metric", "judge", "run") == {
        (metric, judge, run): 3
        for metric, judge in (
            ("model_graded_qa", "openai-api/loop/judge-model"),
            ("includes", "scorer:includes"),
        )
        for run in (0, 1)
    }
    graded = [row for row in found if row["metric"] == "model_graded_qa"]
    assert counted(graded, "score", "model") == {(1.0, "openai-api/loop/answer-model"): 6}
    # It says Paris to all three.
    assert sum(row["score"] for row in found if row["metric"] == "includes") == 2


def test_deepeval(model, tmp_path):
    log = written("deepeval", "deepeval_log.py", model, tmp_path, ".latest_test_run.json")
    found = rows(log)
    assert counted(found, "metric", "judge") == {
        (f"{name} [GEval]", "judge-model"): 2 for name in ("right", "brief")
    }
    assert {row["score"] for row in found} == {0.8}
    assert {row["status"] for row in found} == {"ok"}


def test_mlflow(model, tmp_path):
    log = written("mlflow", "mlflow_log.py", model, tmp_path, "traces.jsonl")
    found = rows(log)
    assert counted(found, "judge", "rater_type", "run") == {
        ("judge-model", "llm", 0): 2,
        ("judge-model", "llm", 1): 2,
        ("ann@example.org", "human", 0): 1,
    }
    assert len({row["item_id"] for row in found}) == 2
    assert {row["score"] for row in found if row["rater_type"] == "llm"} == {1.0}


def test_phoenix(model, tmp_path):
    log = written("arize-phoenix-evals", "phoenix_log.py", model, tmp_path, "evals.csv")
    found = rows(log)
    assert counted(found, "item_id", "metric", "score") == {
        (f"s{k}", "right", 1.0): 1 for k in (1, 2, 3)
    }
    assert {row["rater_type"] for row in found} == {"llm"}


def chosen(path):
    """(1,) for each choice of model-one in a log of promptfoo, (-1,) for one of model-two."""
    results = json.loads(path.read_text())["results"]["results"]
    return Counter(
        (1 if result["provider"]["label"] == "model-one" else -1,)
        for result in results
        for part in result["gradingResult"]["componentResults"]
        if part["assertion"]["type"] == "select-best" and part["pass"]
    )


def test_promptfoo(model, tmp_path):
    program = TOOLS / "promptfoo" / "node_modules" / ".bin" / "promptfoo"
    outputs = [argument for name in ("out.json", "out.jsonl") for argument in ("-o", name)]
    config = ["-c", str(SCRIPTS / "promptfooconfig.yaml"), "--no-cache"]
    done = run(program, ["eval", *config, *outputs], model, tmp_path)
    for name in ("out.json", "out.jsonl"):
        path = tmp_path / name
        assert path.exists(), (done.stdout[-2000:], done.stderr[-2000:])
        found = rows(path)
        assert counted(found, "model", "score") == {("model-one", 0.9): 2, ("model-two", 0.9): 2}
        assert {row["judge"] for row in found} == {"openai:chat:judge-model"}
        # The judge takes the answer that came first, so which is its choice is in the log alone.
        assert counted(rows(path, "votes"), "vote") == chosen(tmp_path / "out.json")
