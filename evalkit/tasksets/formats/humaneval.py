"""HumanEval (Chen et al. 2021): `task_id`, `prompt`, `entry_point`, `test` with `check`.

An answer may be a whole program or go on where the prompt ends; the target holds the prompt
for the latter.
"""

from __future__ import annotations

from typing import Any

from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    name="humaneval",
    family="code",
    description="Functions to complete from their docstring (HumanEval)",
    scorer="code",
    max_tokens=1024,
    code=True,
    template={
        "en": "Complete this Python function. Reply with the whole function in one code block."
        "\n\n```python\n{input}```"
    },
)


def _row(located: Located) -> dict[str, Any]:
    prompt, entry_point = located.text("prompt"), located.text("entry_point")
    return {
        "id": located.id("task_id"),
        "category": "humaneval",
        "input": prompt,
        "target": {
            "entry_point": entry_point,
            "tests": f"{located.text('test')}\n\ncheck({entry_point})\n",
            "prompt": prompt,
        },
    }


FORMATS.register("humaneval")(Format(_HEAD, json_lines, _row))
