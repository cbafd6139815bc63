"""The capitals as a benchmark of NeMo Evaluator 0.2 (bring your own benchmark)."""

from nemo_evaluator.contrib.byob import ScorerInput, benchmark, scorer


@benchmark(
    name="capitals",
    dataset="rows.jsonl",
    prompt="{question} Answer with one word.",
    target_field="answer",
    endpoint_type="chat",
)
@scorer
def capitals_scorer(sample: ScorerInput) -> dict[str, bool]:
    """Look for the capital in the answer."""
    return {"correct": str(sample.target).lower() in sample.response.lower()}
