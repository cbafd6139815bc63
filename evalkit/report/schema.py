"""JSON Schemas of what evalkit writes, made from the types that it writes them from.

They are of JSON Schema draft 2020-12. Fields may be added in a minor version; whoever reads
should pass over those that they do not know.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from evalkit.capacities import CAPACITY_VERSION, StoredCapacity
from evalkit.performance import PERFORMANCE_VERSION, Performance
from evalkit.report.summary_types import GateBody, SummaryBody
from evalkit.results import SCHEMA_VERSION, Comparison
from evalkit.speculation import ROUTING_VERSION, Routing
from evalkit.stability import STABILITY_VERSION, Stability

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MODE: Final[JsonSchemaMode] = "serialization"
_TITLES: Final = {
    "comparison": f"evalkit comparison.json, schema version {SCHEMA_VERSION}",
    "summary": "evalkit compare --json, evalkit report --json",
    "gate": "evalkit gate --json",
    "capacity": f"evalkit capacity -o, capacity.json, schema version {CAPACITY_VERSION}",
    "routing": f"evalkit probe --speculation, routing.yaml, schema version {ROUTING_VERSION}",
    "performance": f"evalkit probe --json, performance.json, schema version {PERFORMANCE_VERSION}",
    "soak": f"evalkit soak --json, soak.json, schema version {STABILITY_VERSION}",
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file or of what a verb prints.

    Raises:
        KeyError: For another name.
    """
    made = _adapter(name).json_schema(mode=_MODE)
    if name == "comparison":
        version = {"const": SCHEMA_VERSION, "type": "integer"}
        made["properties"]["schema_version"] = {**made["properties"]["schema_version"], **version}
    return {"$schema": DIALECT, **made, "title": _TITLES[name]}


def _adapter(name: str) -> TypeAdapter[Any]:
    types: dict[str, TypeAdapter[Any]] = {
        "comparison": TypeAdapter(Comparison),
        "summary": TypeAdapter(SummaryBody),
        "gate": TypeAdapter(GateBody),
        "performance": TypeAdapter(Performance),
        "capacity": TypeAdapter(StoredCapacity),
        "routing": TypeAdapter(Routing),
        "soak": TypeAdapter(Stability),
    }
    return types[name]
