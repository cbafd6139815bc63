"""`python -m evalkit_worker vllm|transformers --model M --name N --port P --options JSON`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from evalkit_worker.batches import Engine, Waves, work
from evalkit_worker.pages import serve


def main() -> None:
    """Load the model, say that it is ready, and answer until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m evalkit_worker")
    parser.add_argument("engine", choices=("vllm", "transformers"))
    parser.add_argument("--model", required=True, help="a folder, or a name on the hub")
    parser.add_argument("--name", required=True, help="what requests call it")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--options", type=json.loads, default={}, help="of the engine, as JSON")
    told = parser.parse_args()
    options: dict[str, Any] = dict(told.options)
    batch = options.pop("batch", None)
    engine = _load(told.engine, told.model, options)
    waves = Waves(batch)
    serve(engine, waves, told.name, told.port)
    # The engine stays in the main thread: it sets signal handlers, and forks.
    work(engine, waves)


def _load(kind: str, model: str, options: dict[str, Any]) -> Engine:
    if kind == "vllm":
        from evalkit_worker.vllm_engine import VLLMEngine

        return VLLMEngine(model, options)
    from evalkit_worker.transformers_engine import TransformersEngine

    return TransformersEngine(model, options)


# A process that vLLM spawns imports this module under another name.
if __name__ == "__main__":
    main()
