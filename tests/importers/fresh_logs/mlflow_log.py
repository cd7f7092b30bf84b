"""Write traces of MLflow: two rows, judged by a model twice, with a person's feedback on one."""

import sys
from pathlib import Path

import mlflow
from mlflow.entities import AssessmentSource, AssessmentSourceType, Feedback
from mlflow.genai.scorers import scorer
from openai import OpenAI

folder = Path(sys.argv[1])
mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
mlflow.set_experiment("fresh")
SOURCE = AssessmentSource(source_type=AssessmentSourceType.LLM_JUDGE, source_id="judge-model")


def asked(prompt):
    message = {"role": "user", "content": prompt}
    reply = OpenAI().chat.completions.create(model="judge-model", messages=[message])
    return reply.choices[0].message.content


@scorer
def right(inputs, outputs):
    said = asked(f"GRADE the answer {outputs} to {inputs}")
    return Feedback(name="right", value="GRADE: C" in said, source=SOURCE, rationale=said)


data = [{"inputs": {"question": f"Capital of {land}?"}} for land in ("France", "Italy")]
for _ in range(2):
    mlflow.genai.evaluate(data=data, predict_fn=lambda question: asked(question), scorers=[right])
traces = mlflow.search_traces(return_type="list")
person = AssessmentSource(source_type=AssessmentSourceType.HUMAN, source_id="ann@example.org")
mlflow.log_feedback(trace_id=traces[0].info.trace_id, name="right", value=False, source=person)
lines = [trace.to_json() for trace in mlflow.search_traces(return_type="list")]
(folder / "traces.jsonl").write_text("\n".join(lines))
