"""IFEval (Zhou et al. 2023): `key`, `prompt`, `instruction_id_list`, and parallel `kwargs`."""

from __future__ import annotations

from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.formats.base import FORMATS, Format, head, json_lines
from evalkit.tasksets.records import Located

_HEAD = head(
    name="ifeval",
    family="instructions",
    description="Verifiable instructions (IFEval)",
    scorer="instructions",
    max_tokens=2048,
)


def instructions_row(located: Located) -> dict[str, Any]:
    """Return the fields of a row with `instruction_id_list` and parallel `kwargs`.

    Raises:
        TasksetError: When they are not there, or not parallel.
    """
    names, kwargs = located.record.get("instruction_id_list"), located.record.get("kwargs")
    if not isinstance(names, list) or not names:
        raise TasksetError(
            f"{located.where} has no 'instruction_id_list'.", hint="Is the file of another format?"
        )
    if not isinstance(kwargs, list) or len(kwargs) != len(names):
        raise TasksetError(f"{located.where}: 'kwargs' is not parallel to the instructions.")
    if not all(given is None or isinstance(given, dict) for given in kwargs):
        raise TasksetError(f"{located.where}: 'kwargs' is no list of objects.")
    instructions = [
        # Copies of the set fill up what an instruction does not have with null.
        {"id": str(name), "kwargs": {k: v for k, v in (given or {}).items() if v is not None}}
        for name, given in zip(names, kwargs, strict=True)
    ]
    return {
        "id": located.id("key"),
        "category": str(names[0]).partition(":")[0],
        "input": located.text("prompt"),
        "target": {"instructions": instructions},
        # Some ask for other languages, many for odd forms: the checks alone decide.
        "metadata": {"answer_language": "any"},
    }


FORMATS.register("ifeval")(Format(_HEAD, json_lines, instructions_row))
