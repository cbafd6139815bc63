"""Makes a tiny model with random weights, and says what transformers itself answers with it.

Runs under the interpreter that has transformers: `python tiny.py FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
QUESTIONS = ["What is rain?", "Name a bird, please.", "2 + 2 = ?", "你好"]


def main(folder: Path) -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<end>")
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=8192,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None, initializer_range=0.3,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    answers = {}
    for question in QUESTIONS:
        chat = [{"role": "user", "content": question}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)
        made = model.generate(**ids, max_new_tokens=24, do_sample=False)
        written = made[0, ids["input_ids"].shape[1] :]
        answers[question] = tokenizer.decode(written, skip_special_tokens=True)
    # A hidden default of the checkpoint, which must not touch what is asked.
    hidden = {"do_sample": True, "temperature": 5.0, "repetition_penalty": 3.0,
              "eos_token_id": tokenizer.eos_token_id}  # fmt: skip
    (folder / "generation_config.json").write_text(json.dumps(hidden))
    print(json.dumps(answers))


main(Path(sys.argv[1]))
