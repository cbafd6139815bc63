"""The rules that keep the program readable: one direction, a light start."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "evalkit"

# A module imports only from rows above its own, and from its own row.
ROWS: list[set[str]] = [
    {
        "__init__",
        "types",
        "asked",
        "estimates",
        "noisefloor",
        "passrates",
        "rulings",
        "reviews",
        "parts",
        "releases",
        "capacities",
        "alerts",
        "speculation",
        "performance",
        "stability",
        "results",
        "errors",
        "resources",
        "garbage",
    },
    {"fingerprint", "registry"},
    {"plainkeys", "yamlfile", "policy", "config"},
    {"tasksets"},
    {"workers"},
    {"endpoints"},
    {"collect"},
    {"scoring"},
    {"stats"},
    {"capacity"},
    {"decision"},
    {"probe"},
    {"soak"},
    {"report"},
    {"operations"},
    {"export"},
    {"importers"},
    {"stages"},
    {"api"},
    {"cli", "__main__"},
]
GROUND = ROWS[0] | ROWS[1]
ONLY_GROUND = {"stats", "capacity", "report"}
HEAVY = {"numpy", "scipy", "pandas", "jinja2", "aiohttp", "torch", "pydantic", "orjson", "rich"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def row_of(name: str) -> int:
    return next(index for index, row in enumerate(ROWS) if name in row)


def unit(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_units(path: Path) -> set[str]:
    units = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "evalkit":
                names = [f"evalkit.{alias.name}" for alias in node.names]
        for name in names:
            if name == "evalkit" or name.startswith("evalkit."):
                units.add([*name.split("."), "__init__"][1])
    return {"__init__" if name.startswith("__") else name for name in units}


def test_every_unit_has_a_row() -> None:
    units = {unit(path) for path in MODULES} - {"data"}
    assert units == set().union(*ROWS)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_import_only_what_stands_before_them(path: Path) -> None:
    own = unit(path)
    for other in imported_units(path) - {own}:
        assert row_of(other) <= row_of(own), f"{own} must not import {other}"
        if own in ONLY_GROUND:
            assert other in GROUND, f"{own} imports only the ground, not {other}"


def test_scorers_do_not_import_each_other() -> None:
    from evalkit.scoring.base import SCORERS

    scorers = {f"evalkit.scoring.{name}" for name in SCORERS}
    for name in SCORERS:
        path = PACKAGE / "scoring" / f"{name}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not (imported & scorers) - {f"evalkit.scoring.{name}"}


CODE = [path for path in MODULES if not path.name.startswith("catalogue_")]


@pytest.mark.parametrize("path", CODE, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_broad_excepts_are_the_two_that_are_allowed() -> None:
    found = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") == "Exception")
    ]
    assert sorted(found) == ["cli/main.py", "scoring/judging.py"]


def start(*words: str) -> dict[str, object]:
    code = (
        "import json, sys, time\n"
        "from evalkit.cli import main\n"
        "try:\n"
        f"    main({list(words)!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "print('\\n' + json.dumps({'cpu': time.process_time(), 'modules': sorted(sys.modules)}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("words", [["--help"], ["compare", "--help"], ["--version"]])
def test_help_is_light(words: list[str]) -> None:
    # The best of three: the machine may be busy, the import graph is the same each time.
    starts = [start(*words) for _ in range(3)]
    modules = starts[0]["modules"]
    assert isinstance(modules, list)
    assert not HEAVY & {str(name).split(".")[0] for name in modules}
    assert min(float(str(s["cpu"])) for s in starts) <= 0.3
