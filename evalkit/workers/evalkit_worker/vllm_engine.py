"""vLLM's offline interface: a wave of chats is one `LLM.chat`, of prompts one `LLM.generate`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evalkit_worker.batches import Answer, Fields, Job, Place, Refused, in_groups
from evalkit_worker.folders import checkpoint_bytes, checkpoint_folder


class VLLMEngine:
    """One `vllm.LLM`."""

    kind = "vllm"

    def __init__(self, model: str, options: dict[str, Any]) -> None:
        """Load a model.

        Args:
            model: A folder, or a name on the hub.
            options: Arguments of `vllm.LLM`.
        """
        import vllm

        self._vllm = vllm
        self.version = str(vllm.__version__)
        # What the model's generation_config.json says of sampling is not used, since every
        # field is sent; its ends of text are, which vLLM reads by default.
        self._llm = vllm.LLM(model=model, disable_log_stats=True, **options)
        self.tokenizer = self._llm.get_tokenizer()
        self.context: int | None = self._llm.llm_engine.model_config.max_model_len
        folder = checkpoint_folder(model, options.get("revision"))
        self.root = None if folder is None else str(folder)
        self.facts: dict[str, Any] = {}
        if folder is not None:
            self.facts["size"] = checkpoint_bytes(folder)
            if folder.parent.name == "snapshots":
                self.facts["revision"] = folder.name

    def answer(self, jobs: Sequence[Job]) -> Sequence[Answer | Refused]:
        """Answer chats with equal arguments of their template together, then plain prompts."""
        return in_groups(jobs, _kind, self._allowed)

    def _allowed(self, jobs: Sequence[Job]) -> Sequence[Answer | Refused]:
        """Answer those whose fields vLLM takes: what it refuses must not end the others."""
        made: list[Any] = []
        for job in jobs:
            try:
                made.append(self._sampling(job.fields))
            except ValueError as error:
                made.append(Refused(f"vLLM refuses a field: {error}"))
        fine = [n for n, one in enumerate(made) if not isinstance(one, Refused)]
        answers = self._together([jobs[n] for n in fine], [made[n] for n in fine]) if fine else ()
        for n, answer in zip(fine, answers, strict=True):
            made[n] = answer
        return made

    def _together(self, jobs: Sequence[Job], sampling: list[Any]) -> Sequence[Answer | Refused]:
        if jobs[0].messages is not None:
            outputs = self._llm.chat(
                [job.messages for job in jobs],
                sampling,
                use_tqdm=False,
                chat_template_kwargs=jobs[0].template or None,
            )
        else:
            prompts = [{"prompt_token_ids": list(job.ids)} for job in jobs]
            outputs = self._llm.generate(prompts, sampling, use_tqdm=False)
        return [_answer(output, job.fields) for output, job in zip(outputs, jobs, strict=True)]

    def _sampling(self, fields: Fields) -> Any:
        return self._vllm.SamplingParams(
            n=1,
            max_tokens=fields.max_tokens,
            temperature=fields.temperature,
            top_p=fields.top_p,
            top_k=fields.top_k if fields.top_k > 0 else -1,
            min_p=fields.min_p,
            repetition_penalty=fields.repetition_penalty,
            presence_penalty=fields.presence_penalty,
            frequency_penalty=fields.frequency_penalty,
            seed=fields.seed,
            stop=list(fields.stop) or None,
            logprobs=fields.logprobs,
            ignore_eos=fields.ignore_eos,
        )


def _kind(_: int, job: Job) -> str:
    return json.dumps([job.messages is not None, job.template], sort_keys=True)


def _answer(output: Any, fields: Fields) -> Answer | Refused:
    (choice,) = output.outputs
    if choice.finish_reason not in ("stop", "length"):
        return Refused(f"vLLM ended the answer: {choice.finish_reason}", 500)
    return Answer(
        text=choice.text,
        finish_reason=choice.finish_reason,
        prompt_tokens=len(output.prompt_token_ids),
        completion_tokens=len(choice.token_ids),
        places=None if fields.logprobs is None else tuple(_places(choice, fields.logprobs)),
    )


def _places(choice: Any, wanted: int) -> Sequence[Place]:
    places = []
    for token, told in zip(choice.token_ids, choice.logprobs or (), strict=True):
        ranked = sorted(told.values(), key=lambda one: one.rank)
        top = tuple((one.decoded_token or "", float(one.logprob)) for one in ranked[:wanted])
        chosen = told[token]
        places.append(Place(chosen.decoded_token or "", float(chosen.logprob), top))
    return places
