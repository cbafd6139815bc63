"""The capitals as a benchmark of NeMo Evaluator 0.3."""

import json
import os
from pathlib import Path

from nemo_evaluator.environments.custom import benchmark, scorer


@benchmark(
    name="capitals",
    dataset=lambda: json.loads(Path(os.environ["EVALKIT_ROWS"]).read_text()),
    prompt="{question} Answer with one word.",
    target_field="answer",
)
@scorer
def capitals_scorer(sample):  # type: ignore[no-untyped-def]
    """Look for the capital in the answer."""
    return {"correct": str(sample.target).lower() in sample.response.lower()}
