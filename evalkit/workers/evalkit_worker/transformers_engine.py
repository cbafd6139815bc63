"""transformers' `generate`, with the quantizations that it applies while it loads.

Found out about transformers 5.24, and why the code is as it is: `generate` takes what a
request does not say from the checkpoint's generation_config.json, so that this is emptied but
for the ends of text. Rows of a batch are padded on the left, and padding changes numbers a
little: a batch of one, the default, makes an answer depend on its prompt alone. Sampled
answers are always made one by one, since a batch shares one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalkit_worker.batches import Answer, Job, Place, Refused, in_groups
from evalkit_worker.folders import checkpoint_folder
from evalkit_worker.quantizations import quantization_config


class TransformersEngine:
    """One causal language model and its tokenizer."""

    kind = "transformers"

    def __init__(self, model: str, options: dict[str, Any]) -> None:
        """Load a model.

        Args:
            model: A folder, or a name on the hub.
            options: `revision`, `device`, `dtype`, `quantization`, `context`, `threads`.
        """
        import torch
        import transformers

        self._torch = torch
        self.version = str(transformers.__version__)
        if options.get("threads"):
            torch.set_num_threads(options["threads"])
        device = options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = options.get("dtype") or ("float32" if device == "cpu" else "auto")
        asked: dict[str, Any] = {"revision": options.get("revision"), "trust_remote_code": False}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            model, padding_side="left", **asked
        )
        if options.get("quantization"):
            compute = torch.float32 if dtype == "float32" else torch.bfloat16
            asked["quantization_config"] = quantization_config(options["quantization"], compute)
        self._model = transformers.AutoModelForCausalLM.from_pretrained(
            model, dtype=dtype, device_map=device if device == "auto" else {"": device}, **asked
        ).eval()
        self._ends = _ends(self._model, self.tokenizer)
        self._pad = _pad(self.tokenizer, self._ends)
        self._model.generation_config = transformers.GenerationConfig()
        config = self._model.config.get_text_config()
        told = getattr(config, "max_position_embeddings", None)
        bounds = [bound for bound in (options.get("context"), told) if bound]
        self.context: int | None = min(bounds) if bounds else None
        folder = checkpoint_folder(model, options.get("revision"))
        self.root = None if folder is None else str(folder)
        self.facts: dict[str, Any] = {
            "size": sum(map(tensor_bytes, [*self._model.parameters(), *self._model.buffers()])),
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "device": str(self._model.device),
        }
        if getattr(self._model.config, "quantization_config", None) is None:
            # Packed weights are counted as fewer than they are.
            self.facts["n_params"] = int(self._model.num_parameters())
        revision = getattr(self._model.config, "_commit_hash", None)
        if revision:
            self.facts["revision"] = revision

    def answer(self, jobs: Sequence[Job]) -> Sequence[Answer | Refused]:
        """Answer greedy requests together, sampled ones alone."""
        return in_groups(jobs, _batch, self._together)

    def _together(self, jobs: Sequence[Job]) -> list[Answer]:
        from evalkit_worker.generation import Recorder, RowEnds, RowPenalties, filters

        torch, longest = self._torch, max(len(job.ids) for job in jobs)
        rows = [[self._pad] * (longest - len(job.ids)) + list(job.ids) for job in jobs]
        mask = [[0] * (longest - len(job.ids)) + [1] * len(job.ids) for job in jobs]
        fields = [job.fields for job in jobs]
        recorder = Recorder(max(f.logprobs or 0 for f in fields))
        processors: list[Any] = [RowPenalties(fields, [job.ids for job in jobs], longest)]
        processors += filters(fields[0])
        if any(f.logprobs is not None for f in fields):
            processors.insert(0, recorder)
        ends = RowEnds(fields, longest, self._ends, self.tokenizer)
        torch.manual_seed(fields[0].seed)
        with torch.inference_mode():
            made = self._model.generate(
                input_ids=torch.tensor(rows, device=self._model.device),
                attention_mask=torch.tensor(mask, device=self._model.device),
                max_new_tokens=max(f.max_tokens for f in fields),
                pad_token_id=self._pad,
                logits_processor=processors,
                stopping_criteria=[ends],
                # transformers' own filter of the 50 likeliest would be applied beside ours.
                **({"do_sample": True, "top_k": 0} if fields[0].temperature > 0 else {}),
            )
        recorder.choose(made[:, -1])
        rows = made[:, longest:].tolist()
        return [self._read(job, rows[at], recorder, at) for at, job in enumerate(jobs)]

    def _read(self, job: Job, row: list[int], recorder: Any, at: int) -> Answer:
        fields = job.fields
        row, finish = row[: fields.max_tokens], "length"
        end = next((n for n, token in enumerate(row) if token in self._ends), None)
        if end is not None and not fields.ignore_eos:
            row, finish = row[: end + 1], "stop"
        row, text, stopped = self._cut(row, fields.stop)
        places = None
        if fields.logprobs is not None:
            places = tuple(
                Place(self._word(token), logprob, tuple((self._word(t), p) for t, p in top))
                for token, logprob, top in recorder.places(at, row, fields.logprobs)
            )
        return Answer(text, "stop" if stopped else finish, len(job.ids), len(row), places)

    def _cut(self, row: list[int], stops: Sequence[str]) -> tuple[list[int], str, bool]:
        """Return tokens and text up to the first stop string, and whether there is one."""
        text = self.tokenizer.decode(row, skip_special_tokens=True)
        places = [place for place in (text.find(stop) for stop in stops) if place >= 0]
        if not places:
            return row, text, False
        for length in range(1, len(row) + 1):
            said = self.tokenizer.decode(row[:length], skip_special_tokens=True)
            if any(stop in said for stop in stops):
                row = row[:length]
                break
        return row, text[: min(places)], True

    def _word(self, token: int) -> str:
        return str(self.tokenizer.decode([token]))


def tensor_bytes(tensor: Any) -> int:
    """Return what a tensor takes in memory.

    torchao's are shells around the tensors that hold the numbers, and say the size of what
    they stand for; bitsandbytes keeps the scales of 4-bit blocks beside them.
    """
    if hasattr(tensor, "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()
        return sum(tensor_bytes(getattr(tensor, name)) for name in names)
    scales = getattr(getattr(tensor, "quant_state", None), "absmax", None)
    beside = 0 if scales is None else tensor_bytes(scales)
    return int(tensor.numel()) * int(tensor.element_size()) + beside


def _batch(index: int, job: Job) -> int:
    return index if job.fields.temperature > 0 else -1


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end an answer, by the checkpoint and by the tokenizer."""
    told = [model.generation_config.eos_token_id, tokenizer.eos_token_id]
    listed = [one if isinstance(one, (list, tuple)) else [one] for one in told]
    return frozenset(int(token) for one in listed for token in one if token is not None)


def _pad(tokenizer: Any, ends: frozenset[int]) -> int:
    # Masked, so that any token will do.
    return int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends | {0}))
