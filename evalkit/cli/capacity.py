"""`evalkit capacity`: does it fit, before anything is downloaded or started?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli.options import HTML, JSON, Folder, share
from evalkit.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from evalkit.capacities import Capacity
    from evalkit.capacity.budget import Draft
    from evalkit.capacity.formats import Layout
    from evalkit.capacity.source import Source

_SIZE = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?P<unit>[kmgt]?i?b|[kmgt])", re.I)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LARGEST = 10**15
_MOST_QUANTS = 20
_MTP = "mtp"
_DEFAULTS = {"vllm": ("bf16", "fp8", "int4"), "llama.cpp": ("fp16", "q8_0", "q4_0")}
_CACHES = {"vllm": "bf16", "llama.cpp": "fp16"}
_KV = ("bf16", "fp16", "fp8", "q8_0", "q4_0")


@click.command()
@click.argument("model", metavar="MODEL_OR_CONFIG")
@click.option(
    "--quant",
    metavar="NAMES",
    help="Formats to compare, by comma: fp32, bf16, fp16, fp8, int8, int4, gptq, awq, nf4, mxfp4, "
    "nvfp4, q8_0, q6_k, q5_k_m, q4_k_m, q5_0, q4_0, or stored for what the file is. Default: "
    "stored, if it is quantized, and bf16,fp8,int4 (GGUF: fp16,q8_0,q4_0).",
)
@click.option(
    "--context",
    type=click.IntRange(1, 1 << 24),
    default=8192,
    show_default=True,
    metavar="TOKENS",
    help="Of each sequence, prompt and answer together.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1 << 16),
    default=1,
    show_default=True,
    metavar="NUMBER",
    help="Sequences at once.",
)
@click.option("--device", metavar="SIZE", help="Memory that there is: 80GB, 79.6GiB.")
@click.option("--kv", type=click.Choice(_KV), help="KV cache. Default: 16 bits.")
@click.option(
    "--draft", metavar="MODEL|mtp", help="Speculative decoding by a draft model, or the MTP head."
)
@click.option(
    "--draft-quant",
    metavar="NAME",
    help="Format of the draft model. Default: as stored, else bf16.",
)
@click.option(
    "--headroom",
    default="15%",
    show_default=True,
    metavar="SHARE",
    help="Share of the device that stays free.",
)
@click.option(
    "--reserve",
    metavar="SIZE",
    help="Runtime, libraries and graphs. Default: 1.5 GB (vLLM), 0.1 GB (GGUF).",
)
@click.option(
    "--prefill-tokens",
    type=click.IntRange(1, 1 << 24),
    metavar="TOKENS",
    help="Tokens of one prefill step. Default: 8192 (vLLM), 512 (GGUF).",
)
@click.option(
    "-o",
    "--output",
    type=Folder(path_type=Path),
    help="Also write capacity.json there; the report of a comparison in that folder shows it.",
)
@click.option(
    "--as",
    "named",
    metavar="ENDPOINT=FORMAT,...",
    help="Which format an endpoint of that comparison is, where name and quantization do not tell.",
)
@click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", help="Language of what is shown."
)
@HTML
@JSON
def capacity(
    model: str,
    quant: str | None,
    context: int,
    concurrency: int,
    device: str | None,
    kv: str | None,
    draft: str | None,
    draft_quant: str | None,
    headroom: str,
    reserve: str | None,
    prefill_tokens: int | None,
    output: Path | None,
    named: str | None,
    lang: str,
    html_path: Path | None,
    as_json: bool,
) -> None:
    """Count the memory that a model needs, for each quantization, and say what fits.

    MODEL_OR_CONFIG: a folder with config.json, a config.json, a GGUF file, an embedded model
    (q8, q4), or a name in the cache of transformers. No weights are read, and no network.

    With -o FOLDER of a comparison, its report says which endpoints fit, beside quality and
    speed. Formats are matched to endpoints by name or quantization.
    """
    from evalkit.capacity.budget import ENGINES, Workload, plan_capacity

    arms = {} if named is None else _named(named, output)
    source = _source(model)
    engine = ENGINES[source.engine]
    free = share("--headroom", headroom)
    if free > 0.9:
        raise UsageError("--headroom is more than 90%: nothing could run.")
    work = Workload(
        context=context,
        concurrency=concurrency,
        kv=kv or _CACHES[source.engine],
        engine=source.engine,
        prefill_tokens=prefill_tokens or engine.prefill_tokens,
        reserve=engine.reserve if reserve is None else _size("--reserve", reserve),
        headroom=free,
        device=None if device is None else _size("--device", device),
    )
    layouts = _layouts(source, quant)
    found = plan_capacity(source.model, layouts, work, _draft(source, draft, draft_quant))
    stored = None if output is None else _keep(found, output, arms)
    _show(found, lang, html_path, as_json, stored)


def _named(text: str, output: Path | None) -> dict[str, str]:
    if output is None:
        raise UsageError("--as says which format an endpoint is, and needs -o FOLDER.")
    arms = {}
    for word in text.split(","):
        # Names may hold the sign themselves, as addresses do.
        arm, sign, quant = word.rpartition("=")
        if not sign or not arm.strip() or not quant.strip() or arm.strip() in arms:
            raise UsageError(
                f"'{word[:40]}' in --as does not say which format an endpoint is.",
                hint="Write e.g. --as fp8-prod=fp8,int4-new=int4, each once.",
            )
        arms[arm.strip()] = quant.strip().lower()
    return arms


def _keep(found: Capacity, folder: Path, arms: dict[str, str]) -> Path:
    """Write the plan beside a comparison, if it tells which arm each format is.

    Raises:
        UsageError: When it does not.
    """
    from datetime import UTC, datetime

    from evalkit import __version__
    from evalkit.capacities import CAPACITY_VERSION, StoredCapacity
    from evalkit.report.capacity_store import fits_of
    from evalkit.report.text import one_line
    from evalkit.report.words import Words
    from evalkit.stages.stored import load_sound
    from evalkit.stages.writing import COMPARISON, write_capacity

    names = [one.name for one in found.footprints]
    for quant in arms.values():
        if quant not in names:
            raise UnknownNameError("format in --as", quant, names)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    stored = StoredCapacity(CAPACITY_VERSION, __version__, created, found, arms)
    if (folder / COMPARISON).is_file():
        comparison = load_sound(folder)
        ends = [info.endpoint for info in (comparison.baseline, *comparison.candidates)]
        for arm in arms:
            if arm not in ends:
                raise UnknownNameError("endpoint in --as", arm, ends)
        for code, facts in fits_of(stored, comparison).unclear:
            told = {key: one_line(text) for key, text in facts.items()}
            raise UsageError(Words("en")(f"fits.{code}", **told))
    return write_capacity(folder, stored)


def _show(
    found: Capacity, lang: str, html_path: Path | None, as_json: bool, stored: Path | None
) -> None:
    from evalkit.cli.stats import as_plain
    from evalkit.cli.streams import terminal_color, terminal_width
    from evalkit.report.capacity import build_capacity
    from evalkit.report.capacity_page import render_capacity_console, render_capacity_page
    from evalkit.report.text import one_line

    view = build_capacity(found, lang)
    if html_path is not None:
        from evalkit.stages.writing import write_text

        write_text(html_path, render_capacity_page(view))
    if as_json:
        notes = [
            {"key": note.key, "text": text}
            for note, text in zip(found.notes, view.notes, strict=True)
        ]
        body = {"sentence": view.sentence, **as_plain(found), "notes": notes}
        # Names come from files, and may hold what no output can show.
        for key in ("model", "architecture", "draft"):
            body[key] = one_line(body[key]) if body[key] is not None else None
        paths = {"html": html_path, "capacity": stored}
        if any(paths.values()):
            body["paths"] = {key: str(path) for key, path in paths.items() if path is not None}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
        return
    click.echo(render_capacity_console(view, terminal_width(), terminal_color()))
    if html_path is not None:
        click.echo(f"Page: {html_path}")
    if stored is not None:
        click.echo(f"Written to {stored}")


def _source(model: str) -> Source:
    from evalkit.capacity.source import read_source
    from evalkit.endpoints.base import LOCAL_ARMS

    if model in LOCAL_ARMS and not Path(model).exists():
        from evalkit.endpoints.weights import embedded_weights

        model = str(embedded_weights(model, lambda told: click.echo(told, err=True)).path)
    return read_source(model)


def _layouts(source: Source, quant: str | None) -> list[Layout]:
    names = [name.strip().lower() for name in (quant or "").split(",") if name.strip()]
    if quant is not None and not names:
        raise UsageError("--quant is empty.", hint="For example: --quant int4,fp8,bf16.")
    if quant is None:
        names = [*(["stored"] if source.quantized else []), *_DEFAULTS[source.engine]]
    if len(names) > _MOST_QUANTS:
        raise UsageError(f"--quant names {len(names)} formats; {_MOST_QUANTS} are the most.")
    return [_layout(source, name) for name in dict.fromkeys(names)]


def _layout(source: Source, name: str) -> Layout:
    from evalkit.capacity.formats import Layout, find_format
    from evalkit.capacity.mixtures import MIXTURES, mixed_layout

    if name == "stored":
        return source.stored()
    if name in MIXTURES:
        return mixed_layout(name, source.model)
    return Layout(name, find_format(name))


def _draft(source: Source, named: str | None, quant: str | None) -> Draft | None:
    from evalkit.capacity.budget import Draft

    if named is None:
        if quant is not None:
            raise UsageError("--draft-quant is given without --draft.")
        return None
    if named.lower() == _MTP:
        if not source.model.mtp_layers:
            raise UsageError(
                f"{source.where} tells of no MTP head.", hint="Give a draft model with --draft."
            )
        return Draft()
    own = _source(named)
    chosen = quant.lower() if quant else ("stored" if own.quantized else "bf16")
    return Draft(own.model, _layout(own, chosen))


def _size(name: str, text: str) -> int:
    """Read a size: GB is 10⁹ bytes, GiB 2³⁰.

    Raises:
        UsageError: For what is no size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{name} is '{text[:40]}', which is not a size.", hint="Write 80GB or 79.6GiB."
        )
    unit = found["unit"].lower()
    base = 1024 if "i" in unit else 1000
    power = _POWERS[unit.removesuffix("b").removesuffix("i")]
    size = int(float(found["number"]) * base**power)
    if not 0 < size <= _LARGEST:
        raise UsageError(f"{name} is '{text[:40]}', and must lie above 0 and below 1,000 TB.")
    return size
