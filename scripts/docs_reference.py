"""Write docs/reference from the program itself: `make docs-reference`.

Commands from their `--help`, keys of the configuration and of files from their JSON Schemas,
the Python interface from its signatures and docstrings. A test makes the pages again and fails
when one that is kept says something else.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

import evalkit
from evalkit import errors
from evalkit.api import Listener
from evalkit.cli.main import VERBS, cli
from evalkit.config import Config
from evalkit.endpoints.launch_settings import LaunchSettings
from evalkit.endpoints.local import LocalSettings
from evalkit.endpoints.offline_settings import CheckpointSettings, VLLMSettings
from evalkit.endpoints.openai_settings import OpenAISettings
from evalkit.estimates import Estimate
from evalkit.report.catalogue_en import WORDS as EN
from evalkit.report.catalogue_zh import WORDS as ZH
from evalkit.results import ReasonCode, Verdict, VerdictState

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
MADE = "Made by `make docs-reference`; a test fails when it is stale."
FILES = {
    "comparison": "`comparison.json`: all that a comparison found; every report is made from it",
    "summary": "what `compare --json` and `report --json` print",
    "gate": "what `gate --json` prints",
    "performance": "`performance.json`, which `probe --json` prints too",
    "routing": "`routing.yaml`, which `probe --speculation` writes",
}
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Described:
    """A docstring in its parts: text, and what it says of each name, by section."""

    text: str
    sections: Mapping[str, Mapping[str, str]]

    def of(self, name: str) -> str:
        """Return what is said of an attribute, or nothing."""
        return self.sections.get("Attributes", {}).get(name, "")


def described(docstring: str | None) -> Described:
    """Read a docstring in Google's style."""
    text, sections, section, name = [], {}, "", ""
    for line in inspect.cleandoc(docstring or "").splitlines():
        head = re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields|Example):", line)
        entry = re.match(r" {4}(\w+): (.*)", line)
        if head:
            section = head[1]
            sections[section] = {}
        elif not section:
            text.append(line)
        elif entry:
            name = entry[1]
            sections[section][name] = entry[2]
        elif line.strip() and name in sections[section]:
            sections[section][name] += " " + line.strip()
    return Described("\n".join(text).strip(), sections)


def cell(text: str) -> str:
    """Return a text that may stand in a table."""
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|").strip()


def help_of(command: click.Command) -> str:
    """Return what `--help` prints, 90 columns wide."""
    parent = None if command is cli else click.Context(cli, info_name="evalkit")
    name = "evalkit" if command is cli else command.name
    settings = {
        "terminal_width": 90,
        "max_content_width": 90,
        "help_option_names": ["-h", "--help"],
    }
    with click.Context(command, info_name=name, parent=parent, **settings) as context:
        return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def cli_page() -> Iterator[str]:
    """Yield the lines of the page on the command line."""
    yield f"# Command line\n\n{MADE}\n"
    yield "Results go to stdout, everything else to stderr. Every option can come from the"
    yield "environment, too: `EVALKIT_COMPARE_MARGIN=1` is `evalkit compare --margin 1`.\n"
    yield "| command | does |\n|---|---|"
    for verb in VERBS:
        text = cell(verb.get_short_help_str(200))
        yield f"| [`evalkit {verb.name}`](#evalkit-{verb.name}) | {text} |"
    yield f"\n```text\n{help_of(cli)}\n```\n"
    yield "## Exit codes\n\n| code | meaning |\n|---|---|"
    for code, meaning in EXIT_CODES.items():
        yield f"| {code} | {meaning} |"
    for verb in VERBS:
        yield f"\n## evalkit {verb.name}\n\n```text\n{help_of(verb)}\n```"


EXIT_CODES = {
    errors.ExitCode.OK: "`SHIP`, or the verb has done what it should",
    errors.ExitCode.INTERNAL: "a fault in evalkit, with a traceback, and nothing else",
    errors.ExitCode.USAGE: "usage, configuration, or a folder that cannot be used",
    errors.ExitCode.HOLD: "`HOLD`",
    errors.ExitCode.INCONCLUSIVE: "`INCONCLUSIVE`",
    errors.ExitCode.INVALID: "`INVALID`, or an endpoint that is down or refuses",
    errors.ExitCode.INTERRUPTED: "interrupted; the same command goes on",
}


def type_of(schema: Schema) -> str:
    """Return a JSON Schema's type in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [type_of(kind) for kind in schema["anyOf"]]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        if "prefixItems" in schema:
            return "[" + ", ".join(map(type_of, schema["prefixItems"])) + "]"
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        if "patternProperties" in schema:
            inner = next(iter(schema["patternProperties"].values()))
        return f"mapping to {type_of(inner)}" if isinstance(inner, Mapping) else "mapping"
    return str(kind) + bounds(schema)


def bounds(schema: Schema) -> str:
    """Return the limits of a number, or nothing."""
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {number(schema[key])}" for key, sign in signs.items() if key in schema]
    return f" {', '.join(said)}" if said else ""


def number(value: float) -> str:
    """Return a number in full."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def default_of(schema: Schema, required: bool) -> str:
    """Return a default as YAML would say it."""
    if "default" not in schema:
        return "**needed**" if required else ""
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`"


def fields(schema: Schema, more: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield a table of an object's keys.

    Args:
        schema: Of the object.
        more: What is said of keys elsewhere, where the docstring says nothing.
    """
    said = described(schema.get("description"))
    yield "| key | is | default | |\n|---|---|---|---|"
    for name, inner in schema.get("properties", {}).items():
        text = said.of(name) or (more or {}).get(name, "") or inner.get("description", "")
        needed = name in schema.get("required", ())
        row = (f"`{name}`", type_of(inner), default_of(inner, needed), text)
        yield f"| {' | '.join(map(cell, row))} |"


def option_texts() -> dict[str, str]:
    """Return what options say of the keys that they set."""
    compare = next(verb for verb in VERBS if verb.name == "compare")
    found = {}
    for parameter in compare.params:
        if isinstance(parameter, click.Option) and parameter.help:
            found[str(parameter.name)] = f"{parameter.help} (`{parameter.opts[-1]}`)"
    return found


def model_lines(title: str, schema: Schema, more: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the section on one object."""
    said = described(schema.get("description"))
    yield f"\n## {title}\n"
    if said.text:
        yield said.text + "\n"
    if "enum" in schema:
        yield "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."
    else:
        yield from fields(schema, more)


def configuration_page() -> Iterator[str]:
    """Yield the lines of the page on configuration and policy."""
    yield f"# Configuration\n\n{MADE}\n"
    yield "One YAML file, given with `-c`. `evalkit init` writes a commented one, shown below;"
    yield "`evalkit schema config` and `evalkit schema policy` print the JSON Schemas that these"
    yield "tables are made from, for an editor's completion. An unknown key is an error with a"
    yield "suggestion, `${NAME}` and `${NAME:-default}` come from the environment, and"
    yield "`--set a.b=c` sets one key.\n"
    template = (ROOT / "evalkit" / "cli" / "evalkit.yaml").read_text(encoding="utf-8")
    yield f"```yaml\n{template.rstrip()}\n```"
    whole = Config.model_json_schema()
    yield from model_lines("All keys", {**whole, "description": ""}, option_texts())
    for kind, model in (
        ("openai", OpenAISettings),
        ("launch", LaunchSettings),
        ("local", LocalSettings),
        ("local", CheckpointSettings),
        ("vllm", VLLMSettings),
    ):
        schema = with_fields_of_parents(model)
        if kind == "launch":
            known = OpenAISettings.model_json_schema()["properties"]
            own = {k: v for k, v in schema["properties"].items() if v != known.get(k)}
            schema = {**schema, "properties": own}
        what = " with a checkpoint" if model is CheckpointSettings else ""
        yield from model_lines(f"An endpoint of `kind: {kind}`{what}", schema)
    for name, schema in whole["$defs"].items():
        yield from model_lines(name, schema)


def with_fields_of_parents(model: type[BaseModel]) -> Schema:
    """Return a model's schema, with what its bases say of the keys they bring."""
    schema = dict(model.model_json_schema())
    known = {}
    for base in reversed(model.__mro__):
        known |= described(base.__doc__).sections.get("Attributes", {})
    head = described(model.__doc__).text
    told = "".join(f"\n    {name}: {text}" for name, text in known.items())
    return {**schema, "description": f"{head}\n\nAttributes:{told}"}


def files_page() -> Iterator[str]:
    """Yield the lines of the page on files that evalkit writes."""
    yield f"# Files and their schemas\n\n{MADE}\n"
    yield "Each is JSON with a schema of its own; fractions are fractions (0.02 is two points),"
    yield "and `null` means that there is no number.\n"
    for name, text in FILES.items():
        yield f"- [{name}](#{name}): {text}. [Schema](../schemas/{name}.schema.json)"
    seen: set[str] = set()
    for name in FILES:
        path = ROOT / "docs" / "schemas" / f"{name}.schema.json"
        schema = json.loads(path.read_text(encoding="utf-8"))
        yield from model_lines(name, schema)
        for inner, part in schema.get("$defs", {}).items():
            if inner not in seen:
                seen.add(inner)
                yield from model_lines(inner, part)


def python_page() -> Iterator[str]:
    """Yield the lines of the page on the Python interface."""
    yield f"# Python\n\n{MADE}\n"
    yield "`import evalkit` costs nothing; what stands behind a name is loaded when it is first"
    yield "asked for. Examples: [From Python](../history.md#from-python) and the"
    yield "[notebook](../notebook.ipynb).\n"
    yield from function_lines("evalkit.compare", evalkit.compare)
    yield from function_lines("evalkit.load", evalkit.load)
    yield from class_lines("evalkit.Comparison", evalkit.Comparison)
    for kind in (Listener, Estimate, Verdict, ReasonCode):
        yield from class_lines(f"{kind.__module__}.{kind.__name__}", kind)
    yield "\n## evalkit.results.VerdictState\n\nA text, equal to its word: "
    yield ", ".join(f"`{state.value}`" for state in VerdictState) + "."
    yield "\n## evalkit.errors\n\n| error | exit code | when |\n|---|---|---|"
    for error in error_classes(errors.EvalKitError):
        text = described(error.__doc__).text
        yield f"| `{error.__name__}` | {error.exit_code} | {cell(text)} |"


def error_classes(root: type[errors.EvalKitError]) -> Iterator[type[errors.EvalKitError]]:
    """Yield an error and all that are kinds of it, as far as `evalkit.errors` has them."""
    yield root
    for kind in root.__subclasses__():
        if kind.__module__ == "evalkit.errors":
            yield from error_classes(kind)


def function_lines(name: str, function: Any) -> Iterator[str]:
    """Yield the section on a function."""
    yield f"\n## {name}\n\n```python\n{signature(name.rpartition('.')[2], function)}\n```\n"
    yield from docstring_lines(function.__doc__)


def class_lines(name: str, kind: type) -> Iterator[str]:
    """Yield the section on a class: fields, properties, methods."""
    yield f"\n## {name}\n"
    yield from docstring_lines(kind.__doc__)
    fields_of = getattr(kind, "__dataclass_fields__", {})
    said = described(kind.__doc__)
    yield "\n| | |\n|---|---|"
    for field in fields_of.values():
        yield f"| `{field.name}`: `{cell(str(field.type))}` | {cell(said.of(field.name))} |"
    for member, thing in vars(kind).items():
        if member.startswith("_") or member in fields_of:
            continue
        function = thing.fget if isinstance(thing, property) else thing
        if not callable(function):
            continue
        text = described(function.__doc__)
        raised = "".join(f" Raises `{k}`: {v}" for k, v in text.sections.get("Raises", {}).items())
        told = "".join(f" `{k}`: {v}" for k, v in text.sections.get("Args", {}).items())
        shown = member if isinstance(thing, property) else signature(member, function)
        yield f"| `{cell(shown)}` | {cell(text.text + told + raised)} |"


def signature(name: str, function: Any) -> str:
    """Return a signature on one line, or one parameter a line where that is too long."""
    found = inspect.signature(function)
    parameters = [p for p in found.parameters.values() if p.name != "self"]
    line = f"{name}{found.replace(parameters=parameters)}".replace("'", "")
    if len(line) <= 90:
        return line
    pieces, starred = [], False
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            starred = True
        elif p.kind is p.KEYWORD_ONLY and not starred:
            pieces.append("    *,")
            starred = True
        pieces.append(f"    {p},".replace("'", ""))
    return f"{name}(\n" + "\n".join(pieces) + f"\n) -> {found.return_annotation}"


def docstring_lines(docstring: str | None) -> Iterator[str]:
    """Yield a docstring as Markdown."""
    said = described(docstring)
    yield said.text
    for section in ("Args", "Raises"):
        if section in said.sections:
            yield f"\n{section}:\n"
            yield from (f"- `{name}`: {text}" for name, text in said.sections[section].items())


def reasons_page() -> Iterator[str]:
    """Yield the lines of the page on reason codes."""
    yield f"# Reason codes\n\n{MADE}\n"
    yield "Why a verdict is what it is: as reports say it, with the numbers of the comparison in"
    yield "place of the names in italics. In `comparison.json` and in `--json` the code stands with"
    yield "its scope, metric and numbers.\n"
    yield "| code | says | what to do | 中文 |\n|---|---|---|---|"
    for key, text in EN.items():
        code = key.removeprefix("reason.")
        if key.startswith("reason.") and code != "other":
            step = EN.get(f"step.{code}", "")
            row = (f"`{code}`", spoken(text), spoken(step), spoken(ZH[key]))
            yield f"| {' | '.join(map(cell, row))} |"


def spoken(text: str | tuple[str, ...]) -> str:
    """Return a text of the catalogue, its places in italics; the shortest where it has several."""
    plain = text if isinstance(text, str) else text[-1]
    return re.sub(r"\{(\w+)[^}]*\}", r"*\1*", plain.replace("{where}", ""))


PAGES = {
    "cli.md": cli_page,
    "configuration.md": configuration_page,
    "files.md": files_page,
    "python.md": python_page,
    "reasons.md": reasons_page,
}


def made(name: str) -> str:
    """Return a page as it is now."""
    return "\n".join(PAGES[name]()).strip() + "\n"


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        (FOLDER / name).write_text(made(name), encoding="utf-8")


if __name__ == "__main__":
    main()
