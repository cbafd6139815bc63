"""Why servers end: their own last words, as engines really write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.launch_reasons import SHOWN, clean, reason_of

VLLM_OOM = """\
(EngineCore pid=812) INFO 11-30 17:12:40 [gpu_worker.py:298] Available KV cache memory: 1.2 GiB
(EngineCore pid=812) ERROR 11-30 17:12:53 [core.py:1103] EngineCore failed to start.
(EngineCore pid=812) ERROR 11-30 17:12:53 [core.py:1103] Traceback (most recent call last):
(EngineCore pid=812) ERROR 11-30 17:12:53 [core.py:1103]   File "/x/core.py", line 1, in run
(EngineCore pid=812) ERROR 11-30 17:12:53 [core.py:1103] torch.OutOfMemoryError: CUDA out of \
memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.99 GiB
(APIServer pid=799) Traceback (most recent call last):
(APIServer pid=799)   File "/x/api_server.py", line 9, in <module>
(APIServer pid=799) RuntimeError: Engine core initialization failed. See root cause above. \
Failed core proc(s): {}
"""
VLLM_KERNEL = """\
(Worker pid=19003) ERROR 11-30 17:12:53 [multiproc_executor.py:1063]   x = cpu_gemm_wna16(
(Worker pid=19003) ERROR 11-30 17:12:53 [multiproc_executor.py:1063] AttributeError: \
'_OpNamespace' '_C' object has no attribute 'cpu_gemm_wna16'
(EngineCore pid=18802) ERROR 11-30 17:12:53 [core.py:1512] RuntimeError: Worker failed with error \
''_OpNamespace' '_C' object has no attribute 'cpu_gemm_wna16'', please check the stack trace above \
for the root cause
(APIServer pid=18700) ERROR 11-30 17:12:53 [async_llm.py:708] AsyncLLM output_handler failed.
(APIServer pid=18700) ERROR 11-30 17:12:53 [async_llm.py:708] \
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace \
(above) for the root cause.
INFO:     Shutting down
"""
VALIDATION = """\
Traceback (most recent call last):
pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
  Value error, User-specified max_model_len (131072) is greater than the derived max_model_len \
(max_position_embeddings=8192). [type=value_error, input_value=ArgsKwargs((), {})]
    For further information visit https://errors.pydantic.dev/2.12/v/value_error
"""
WARNING_FIRST = """\
WARNING 11-30 17:10:09 [interface.py:227] Failed to import from vllm._C: ModuleNotFoundError("No \
module named 'vllm._C'")
ValueError: Free memory on device (1.2/23.9 GiB) on startup is less than desired GPU memory \
utilization (0.9, 21.5 GiB).
"""


@pytest.mark.parametrize(
    ("log", "code", "said", "hint"),
    [
        (VLLM_OOM, 1, "torch.OutOfMemoryError: CUDA out of memory.", "Free the device"),
        (VLLM_KERNEL, 0, "'AttributeError: '_OpNamespace' '_C' object has no", "no kernel"),
        (VLLM_KERNEL, None, "attribute 'cpu_gemm_wna16''", "no kernel"),
        (VALIDATION, 1, "User-specified max_model_len (131072) is greater", None),
        (WARNING_FIRST, 1, "ValueError: Free memory on device", "Something else uses the device"),
        ("OSError: [Errno 98] Address already in use", 1, "Errno 98", "{port}"),
        (
            "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): "
            "address already in use\nINFO:     Application shutdown complete.",
            1, "error while attempting to bind", "{port}",
        ),
        (
            "main: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080\n"
            "main: exiting due to HTTP server error",
            1, "couldn't bind HTTP server socket", "{port}",
        ),
        (
            "OSError: my/model is not a local folder and is not a valid model identifier listed on "
            "'https://huggingface.co/models'\nIf this is a private repository, make sure",
            1, "is not a local folder", "model's name or path",
        ),
        (
            "gguf_init_from_file: failed to open GGUF file 'x.gguf'\n"
            "llama_model_load: error loading model: llama_model_loader: failed to load model\n"
            "main: exiting due to model loading error",
            1, "failed to open GGUF file", "model's name or path",
        ),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000 MiB on device 0: "
            "cudaMalloc failed: out of memory\nalloc_tensor_range: failed to allocate CUDA0 buffer",
            1, "failed to allocate CUDA0 buffer", "Free the device",
        ),
        ("ModuleNotFoundError: No module named 'vllm'", 1, "'vllm'", "Install it"),
        ("/usr/bin/python: No module named vllm", 1, "No module named vllm", "Install it"),
        (
            "usage: vllm serve [-h]\nvllm: error: unrecognized arguments: --max-model-length 8",
            2, "unrecognized arguments: --max-model-length 8", "options",
        ),
        ("error: invalid argument: --prot", 1, "invalid argument: --prot", "options"),
        (
            "  Traceback (most recent call last):\n  File x\nmypkg.errors.MyError: no such thing",
            1, "mypkg.errors.MyError: no such thing", None,
        ),
        ("KeyError: 'model.layers.0.weight_scale'\nKeyboardInterrupt", 1, "KeyError", None),
        ("", -9, "killed (signal 9)", "Out of memory"),
        ("ValueError: an old one that was handled", -9, "killed (signal 9)", "Out of memory"),
        ("", 137, "killed (signal 9)", "Out of memory"),
        ("AMX is not ready to be used!", -4, "illegal instruction (signal 4)", "this CPU"),
        ("", -11, "segmentation fault (signal 11)", None),
        ("", -15, "told to end (signal 15)", None),
        ("GGML_ASSERT(n > 0) failed\nbt", -6, "(signal 6); its log ends with 'GGML_ASS", None),
        ("", -40, "signal 40", None),
        ("", 127, "127: a command in it is not found", "path"),
        ("", 1, "exit code 1, without a word", None),
        ("warming up\nit is all over", 7, "exit code 7; its log ends with 'it is all over'", None),
        ("fatal: no disk\nbye", 7, "exit code 7; its log ends with 'fatal: no disk'", None),
        ("loading", None, "it still runs; its log ends with 'loading'", None),
    ],
)  # fmt: skip
def test_the_cause_is_found(log: str, code: int | None, said: str, hint: str | None) -> None:
    reason = reason_of(log.splitlines(), code)
    assert said in reason.text
    assert (hint in str(reason.hint)) if hint else reason.hint is None
    assert reason.port_taken == (hint == "{port}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("\x1b[31mERROR\x1b[0m 11-30 17:12:53 [core.py:1] it broke", "it broke"),
        ("(Worker_TP0 pid=9) INFO 11-30 17:12:53 [a/b.py:1] it broke\r\n", "it broke"),
        ("2026-11-30 17:12:53,101 it broke", "it broke"),
        ("bar: 1%\rbar: 50%\rbar: 100%", "bar: 100%"),
        ("ERROR:    it broke", "it broke"),
        ("evil \u202e\x07\x00text", "evil text"),
        ("plain words", "plain words"),
    ],
)
def test_a_line_is_cleaned(line: str, said: str) -> None:
    assert clean(line) == said


@given(st.lists(st.text(max_size=2000), max_size=20), st.one_of(st.none(), st.integers(-70, 300)))
def test_hostile_logs(lines: list[str], code: int | None) -> None:
    text = reason_of(lines, code).text
    assert text
    assert len(text) <= SHOWN + 80
    assert not set(text) & set("\n\r\x00\x1b\x9b\u202e")


def test_a_long_line_takes_no_time() -> None:
    reason_of(["(" + "a " * 200_000, "A." * 200_000 + "Error: x", " " * 400_000], 1)
