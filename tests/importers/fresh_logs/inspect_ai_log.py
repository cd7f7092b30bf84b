"""Write a log of Inspect: three samples, two epochs, a scorer that asks a judge, and one that does not."""

import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes, model_graded_qa

questions = ["Capital of France?", "Capital of Italy?", "Capital of Spain?"]
answers = ["Paris", "Rome", "Madrid"]
samples = [
    Sample(id=f"q{k}", input=question, target=answer)
    for k, (question, answer) in enumerate(zip(questions, answers, strict=True))
]
scorers = [model_graded_qa(model="openai-api/loop/judge-model"), includes()]
eval(
    Task(dataset=samples, scorer=scorers, name="capitals"),
    model="openai-api/loop/answer-model",
    epochs=2,
    log_dir=sys.argv[1],
    log_format="eval",
    display="none",
)
