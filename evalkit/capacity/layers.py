"""The tensors of one layer, by its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit.capacity.families import Family
from evalkit.capacity.fields import Fields
from evalkit.capacity.model import Tensor
from evalkit.capacity.structure import (
    LINEAR,
    MOST_WIDTH,
    Delta,
    Shape,
    active_experts,
    expert_count,
)


@dataclass(frozen=True, slots=True)
class Block:
    """What makes the tensors of one layer.

    Attributes:
        part: Instead of the parts' own names: a head for further tokens is one part.
    """

    fields: Fields
    family: Family
    shape: Shape
    name: str
    part: str | None = None

    def tensors(self, kind: str, *, sparse: bool) -> Iterator[Tensor]:
        """Yield all of a layer's tensors.

        Raises:
            ConfigError: When a size is missing.
        """
        if kind == LINEAR:
            yield from self._delta()
        elif self.family.attention == "mla":
            yield from self._latent()
        else:
            yield from self._attention()
        if sparse:
            yield from self._experts()
        else:
            width = self.fields.number(self.family.dense_field, high=MOST_WIDTH)
            yield from self._mlp("mlp", "feed_forward", width)
        for index in range(self.family.norms):
            yield self._vector(f"norm_{index}", self._norm_width(self.shape.hidden))

    def _norm_width(self, width: int) -> int:
        return width * (2 if self.family.norm_bias else 1)

    def _matrix(self, name: str, part: str, rows: int, columns: int) -> Tensor:
        return Tensor(f"{self.name}.{name}", self.part or part, rows, columns)

    def _vector(self, name: str, width: int) -> Tensor:
        return Tensor(f"{self.name}.{name}", self.part or "norms", width, linear=False)

    def _attention(self) -> Iterator[Tensor]:
        shape, family = self.shape, self.family
        q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        gated = q * (2 if family.gate_heads else 1)
        yield self._matrix("self_attn.q_proj", "attention", gated, shape.hidden)
        yield self._matrix("self_attn.k_proj", "attention", kv, shape.hidden)
        yield self._matrix("self_attn.v_proj", "attention", kv, shape.hidden)
        yield self._matrix("self_attn.o_proj", "attention", shape.hidden, q)
        bias = self.fields.flag("attention_bias", "qkv_bias", "use_bias", default=family.qkv_bias)
        if bias:
            yield self._vector("self_attn.qkv_bias", gated + 2 * kv)
        if bias and family.o_bias is not False:
            yield self._vector("self_attn.o_bias", shape.hidden)
        if not family.qk_switch or self.fields.flag("use_qk_norm", default=False):
            heads = {"head": 2, "heads": shape.heads + shape.kv_heads}.get(family.qk_norm, 0)
            width = q + kv if family.qk_norm == "width" else heads * shape.head_dim
            if width:
                yield self._vector("self_attn.qk_norm", width)
        if family.sinks:
            yield self._vector("self_attn.sinks", shape.heads)

    def _latent(self) -> Iterator[Tensor]:
        """Yield multi-head latent attention (DeepSeek-V2, section 2.1)."""
        shape, fields = self.shape, self.fields
        rank, rope = fields.number("kv_lora_rank"), fields.number("qk_rope_head_dim")
        nope, value = fields.number("qk_nope_head_dim"), fields.number("v_head_dim")
        queries = shape.heads * (nope + rope)
        low = fields.optional("q_lora_rank")
        if low is None:
            yield self._matrix("self_attn.q_proj", "attention", queries, shape.hidden)
        else:
            yield self._matrix("self_attn.q_a_proj", "attention", low, shape.hidden)
            yield self._matrix("self_attn.q_b_proj", "attention", queries, low)
            yield self._vector("self_attn.q_a_layernorm", low)
        a = "self_attn.kv_a_proj_with_mqa"
        yield self._matrix(a, "attention", rank + rope, shape.hidden)
        yield self._matrix("self_attn.kv_b_proj", "attention", shape.heads * (nope + value), rank)
        yield self._vector("self_attn.kv_a_layernorm", rank)
        yield self._matrix("self_attn.o_proj", "attention", shape.hidden, shape.heads * value)
        if self.family.indexer:
            yield from self._indexer(low or shape.hidden)
        if fields.flag("attention_bias", default=False):
            yield self._vector("self_attn.bias", (low or 0) + rank + rope + shape.hidden)

    def _indexer(self, rank: int) -> Iterator[Tensor]:
        """Yield the indexer of sparse attention (DeepSeek-V3.2-Exp, section 2.1)."""
        heads, width = self.fields.number("index_n_heads"), self.fields.number("index_head_dim")
        name, hidden = "self_attn.indexer", self.shape.hidden
        yield self._matrix(f"{name}.wq_b", "attention", heads * width, rank)
        yield self._matrix(f"{name}.wk", "attention", width, hidden)
        yield self._vector(f"{name}.k_norm", 2 * width)
        weights = f"{self.name}.{name}.weights_proj"
        yield Tensor(weights, self.part or "attention", heads, hidden, linear=False)

    def _delta(self) -> Iterator[Tensor]:
        """Yield a gated delta layer, as Qwen3-Next has it."""
        delta, hidden = Delta.read(self.fields), self.shape.hidden
        if self.family.linear == "joined":
            width = delta.mixed + delta.values
            yield self._matrix("linear_attn.in_proj_qkvz", "attention", width, hidden)
        else:
            yield self._matrix("linear_attn.in_proj_qkv", "attention", delta.mixed, hidden)
            yield self._matrix("linear_attn.in_proj_z", "attention", delta.values, hidden)
        yield self._matrix("linear_attn.out_proj", "attention", hidden, delta.values)
        # Too narrow for the kernels of quantized layers: every published build keeps it.
        yield Tensor(
            f"{self.name}.linear_attn.in_proj_ba",
            self.part or "attention",
            2 * delta.value_heads,
            hidden,
            linear=False,
        )
        conv = delta.mixed * delta.kernel
        yield self._vector("linear_attn.conv1d", conv)
        yield self._vector("linear_attn.norm", delta.value_dim + 2 * delta.value_heads)

    def _mlp(
        self, name: str, part: str, width: int, count: int = 1, active: int = 1
    ) -> Iterator[Tensor]:
        hidden = self.shape.hidden
        shapes = {"up_proj": (width, hidden), "down_proj": (hidden, width)}
        if self.family.gated:
            shapes["gate_proj"] = (width, hidden)
        part = self.part or part
        for own, (rows, columns) in shapes.items():
            whole = f"{self.name}.{name}.{own}"
            yield Tensor(whole, part, rows, columns, count=count, active=active)
        bias = sum(rows for rows, _ in shapes.values())
        experts = part == "experts"
        if self.family.expert_bias if experts else self._mlp_bias():
            whole = f"{self.name}.{name}.bias"
            yield Tensor(whole, part, bias, linear=False, count=count, active=active)

    def _mlp_bias(self) -> bool:
        return self.fields.flag("mlp_bias", "use_bias", default=self.family.mlp_bias)

    def _experts(self) -> Iterator[Tensor]:
        fields, hidden = self.fields, self.shape.hidden
        count = expert_count(fields)
        active = active_experts(fields)
        width = fields.number("moe_intermediate_size", "intermediate_size", high=MOST_WIDTH)
        yield from self._mlp("mlp.experts.*", "experts", width, count, active)
        part = self.part or "router"
        yield Tensor(f"{self.name}.mlp.gate", part, count, hidden, linear=False)
        if self.family.expert_bias:
            yield Tensor(f"{self.name}.mlp.gate_bias", part, count, linear=False)
        shared = self._shared_width(width)
        if shared:
            name = "shared_expert" if self.family.shared == "own" else "shared_experts"
            yield from self._mlp(f"mlp.{name}", "shared_experts", shared)
        if shared and self.family.shared == "own":
            yield Tensor(f"{self.name}.mlp.shared_expert_gate", part, 1, hidden, linear=False)

    def _shared_width(self, width: int) -> int:
        if self.family.shared == "own":
            return self.fields.number("shared_expert_intermediate_size", high=MOST_WIDTH)
        if self.family.shared == "one":
            return width
        if self.family.shared == "number":
            return width * (self.fields.optional("n_shared_experts", low=0) or 0)
        return 0


def mtp_tensors(block: Block, kind: str, *, sparse: bool) -> Iterator[Tensor]:
    """Yield a head that predicts a further token: a layer, and what joins its two inputs.

    Source: DeepSeek-V3, section 2.2. Embedding and head are the model's own.
    """
    hidden = block.shape.hidden
    yield from block.tensors(kind, sparse=sparse)
    yield Tensor(f"{block.name}.eh_proj", "mtp", hidden, 2 * hidden)
    yield Tensor(f"{block.name}.mtp_norms", "mtp", 3 * hidden, linear=False)
