"""Write a test run of DeepEval: two cases, two metrics of a judge."""

import os
import sys

from deepeval import evaluate
from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase
from openai import OpenAI

try:
    from deepeval.test_case import SingleTurnParams as Params
except ImportError:
    from deepeval.test_case import LLMTestCaseParams as Params


class Judge(DeepEvalBaseLLM):
    def load_model(self):
        return OpenAI()

    def generate(self, prompt, *rest, **options):
        message = {"role": "user", "content": prompt}
        reply = OpenAI().chat.completions.create(model="judge-model", messages=[message])
        return reply.choices[0].message.content

    async def a_generate(self, prompt, *rest, **options):
        return self.generate(prompt)

    def get_model_name(self):
        return "judge-model"


os.chdir(sys.argv[1])
metrics = [
    GEval(
        name=name,
        evaluation_steps=[f"Say whether the answer is {name}."],
        evaluation_params=[Params.INPUT, Params.ACTUAL_OUTPUT],
        model=Judge(),
        async_mode=False,
    )
    for name in ("right", "brief")
]
cases = [
    LLMTestCase(input="Capital of France?", actual_output="Paris."),
    LLMTestCase(input="Capital of Italy?", actual_output="Milan."),
]
evaluate(cases, metrics)
