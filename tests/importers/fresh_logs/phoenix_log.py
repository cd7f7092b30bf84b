"""Write evaluations of Phoenix: three answers, classified by a model."""

import sys
from pathlib import Path

import pandas as pd
from phoenix.evals import LLM, ClassificationEvaluator, evaluate_dataframe

folder = Path(sys.argv[1])
model = LLM(provider="openai", model="judge-model")
judge = ClassificationEvaluator(
    name="right",
    llm=model,
    prompt_template="GRADE whether {answer} answers {question}",
    choices={"correct": 1.0, "incorrect": 0.0},
)
frame = pd.DataFrame(
    {
        "context.span_id": ["s1", "s2", "s3"],
        "question": ["France?", "Italy?", "Spain?"],
        "answer": ["Paris", "Milan", "Madrid"],
    }
)
evaluate_dataframe(frame, [judge]).to_csv(folder / "evals.csv", index=False)
