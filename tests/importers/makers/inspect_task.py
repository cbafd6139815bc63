"""The capitals as a task of Inspect, asked twice each."""

import json
import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, system_message


@task
def capitals() -> Task:
    """Make the task from the rows that the maker wrote."""
    rows = json.loads(Path(os.environ["EVALKIT_ROWS"]).read_text())
    return Task(
        dataset=[
            Sample(id=place, input=row["question"], target=row["answer"])
            for place, row in enumerate(rows, start=1)
        ],
        solver=[system_message("Answer with one word."), generate()],
        scorer=[includes(), match()],
        epochs=2,
    )
