"""Masks of attention heads in the layouts of others' networks, held against what each head writes.

Of transformers the models are its own. TransformerLens is not needed: the module here has its layout of parameters.
"""

from __future__ import annotations

import pytest
import torch
from sentences import tells
from torch import Tensor, nn
from torch.nn import functional as F

from llc_core import NetworkPotential, estimate
from llc_core.networks import build_model, head_masks

DIM, HEADS, WORDS = 16, 4, 24


class Lens(nn.Module):
    """Attention with TransformerLens' layout of parameters; groups: of keys and values."""

    def __init__(self, groups: int = HEADS) -> None:
        super().__init__()
        torch.manual_seed(0)
        size, self.each = DIM // HEADS, HEADS // groups
        grouped = "_" if groups < HEADS else ""
        for kind, count in {"Q": HEADS, f"{grouped}K": groups, f"{grouped}V": groups}.items():
            start, name = ("_", kind[1:]) if kind[0] == "_" else ("", kind)
            setattr(self, f"{start}W_{name}", nn.Parameter(torch.randn(count, DIM, size) / 4))
            setattr(self, f"{start}b_{name}", nn.Parameter(torch.randn(count, size)))
        self.W_O, self.b_O = nn.Parameter(torch.randn(HEADS, size, DIM) / 4), nn.Parameter(torch.zeros(DIM))
        self.written = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        own = dict(self.named_parameters())

        def made(kind: str) -> Tensor:
            start = "_" if f"_W_{kind}" in own else ""
            part = torch.einsum("btd,hds->bhts", x, own[f"{start}W_{kind}"]) + own[f"{start}b_{kind}"][:, None]
            return part.repeat_interleave(self.each, 1) if start else part

        z = F.scaled_dot_product_attention(made("Q"), made("K"), made("V"), is_causal=True)
        z = self.written(z.transpose(1, 2).flatten(2))
        return z @ self.W_O.flatten(0, 1) + self.b_O


class Fused(nn.Module):
    """As in the shortest GPTs people write: GPT-2's names, on linear layers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.n_head, self.c_attn, self.c_proj = HEADS, nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (y.unflatten(2, (HEADS, -1)).transpose(1, 2) for y in self.c_attn(x).split(DIM, 2))
        return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Torch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.attention = nn.MultiheadAttention(DIM, HEADS, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def ours() -> nn.Module:
    torch.manual_seed(0)
    return build_model(
        {"kind": "transformer", "dim": DIM, "layers": 2, "heads": HEADS, "length": 6, "vocabulary": WORDS}
    )


def of_transformers(kind: str) -> nn.Module:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    small = {
        "hidden_size": DIM, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": HEADS,
        "vocab_size": WORDS, "max_position_embeddings": 16, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
    }  # fmt: skip
    if kind == "GPT2":
        short = {"n_layer": 2, "n_head": HEADS, "n_embd": DIM, "vocab_size": WORDS, "n_positions": 16}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**short, bos_token_id=0, eos_token_id=1))
    elif kind == "GPTNeoX":
        model = transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**small))
    elif kind == "Qwen2":
        model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**small, num_key_value_heads=2))
    elif kind == "OPT":
        del small["intermediate_size"]
        model = transformers.OPTForCausalLM(transformers.OPTConfig(**small, ffn_dim=32, word_embed_proj_dim=DIM))
    elif kind == "Phi3":
        model = transformers.Phi3ForCausalLM(transformers.Phi3Config(**small, num_key_value_heads=2))
    else:
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**small, num_key_value_heads=2))
    with torch.no_grad():
        for x in model.parameters():  # biases are 0 at the start
            x.add_(0.1 * torch.randn_like(x))
    return model.eval()


KINDS = {
    "ours": (ours, "blocks.1.attention.out", HEADS),
    "torch": (Torch, None, HEADS),
    "GPT-2's names on linear layers": (Fused, "c_proj", HEADS),
    "TransformerLens": (Lens, "written", HEADS),
    "TransformerLens, grouped": (lambda: Lens(2), "written", 2),
    "GPT2": (lambda: of_transformers("GPT2"), "transformer.h.1.attn.c_proj", HEADS),
    "GPTNeoX": (lambda: of_transformers("GPTNeoX"), "gpt_neox.layers.1.attention.dense", HEADS),
    "Llama": (lambda: of_transformers("Llama"), "model.layers.1.self_attn.o_proj", 2),
    "Qwen2": (lambda: of_transformers("Qwen2"), "model.layers.1.self_attn.o_proj", 2),
    "OPT": (lambda: of_transformers("OPT"), "model.decoder.layers.1.self_attn.out_proj", HEADS),
    "Phi3": (lambda: of_transformers("Phi3"), "model.layers.1.self_attn.o_proj", 2),
}
OUTPUTS = ("out.weight", "c_proj.weight", "W_O", "dense.weight", "o_proj.weight", "out_proj.weight")


def written(model: nn.Module, at: str) -> Tensor:
    """What all heads of one layer hand to the output matrix, [B, T, heads, size]."""
    kept = []
    hook = model.get_submodule(at).register_forward_pre_hook(lambda _, given: kept.append(given[0].detach().clone()))
    torch.manual_seed(1)
    own = next(iter(model.parameters())).dtype
    whole = isinstance(model, Lens | Fused | Torch)
    with torch.no_grad():
        model(torch.randn(2, 6, DIM, dtype=own) if whole else torch.randint(3, WORDS, (2, 6)))
    hook.remove()
    return kept[0].unflatten(2, (HEADS, -1))


@pytest.mark.parametrize("kind", [kind for kind, (_, at, _) in KINDS.items() if at])
@pytest.mark.parametrize("head", [0, 2])
def test_what_is_masked_moves_this_head_alone(kind, head):
    """And the heads that share its key and value; what is not masked moves the others and not this one."""
    make, at, groups = KINDS[kind]
    before = written(make(), at)
    assert before.std((0, 1, 3)).min() > 1e-4
    layer = int(kind not in ("GPT-2's names on linear layers", "TransformerLens", "TransformerLens, grouped"))
    share = HEADS // groups
    for inside in (True, False):
        model = make()
        masks = head_masks(model, layer, head)
        parameters = dict(model.named_parameters())
        with torch.no_grad():
            for name, mask in masks.items():
                if name.endswith(OUTPUTS):
                    continue
                where = mask if inside else ~mask
                parameters[name][where] += torch.randn(int(where.sum()))
        moved = [
            not torch.allclose(a, b, atol=1e-6)
            for a, b in zip(before.unbind(2), written(model, at).unbind(2), strict=True)
        ]
        group = [other // share == head // share for other in range(HEADS)]
        assert moved[head] == inside
        for other in set(range(HEADS)) - {head}:
            assert moved[other] if not inside else moved[other] == group[other]


@pytest.mark.parametrize("kind", KINDS)
def test_the_output_of_a_head_goes_through_its_part(kind):
    """With every other part of the output matrix at 0, the others' parts add nothing; and all masks together are all of it."""
    make, _, groups = KINDS[kind]
    model = make()
    parameters = dict(model.named_parameters())
    times: dict[str, Tensor] = {}
    for head in range(HEADS):
        for name, mask in head_masks(model, 0, head).items():
            times[name] = times.get(name, 0) + mask.int()
    for name, count in times.items():
        shared = groups < HEADS and any(part in name for part in ("k_proj", "v_proj", "_W_", "_b_"))
        if "qkv_proj" in name:
            assert set(count.flatten().tolist()) == {1, HEADS // groups}
        else:
            assert (count == (HEADS // groups if shared else 1)).all(), name
    (out,) = [name for name in times if name.endswith(OUTPUTS)]
    for head in range(HEADS):
        mask = head_masks(model, 0, head)[out]
        flat = mask.flatten(0, 1) if mask.dim() == 3 else mask
        columns = flat.T if kind in ("GPT2", "TransformerLens", "TransformerLens, grouped") else flat
        assert columns.all(0).nonzero().flatten().tolist() == list(range(4 * head, 4 * head + 4))
        assert int(mask.sum()) == parameters[out].numel() // HEADS


def test_several_heads_are_the_union():
    model = Fused()
    one, other, both = (head_masks(model, 0, head) for head in (0, 3, [0, 3]))
    assert both.keys() == one.keys() and all(torch.equal(both[k], one[k] | other[k]) for k in both)


@pytest.mark.parametrize("kind", ["GPT2", "GPTNeoX", "Llama"])
def test_an_estimate_of_one_head_of_a_model_of_transformers(kind):
    model, tokens = KINDS[kind][0](), torch.randint(3, WORDS, (12, 6))
    problem = NetworkPotential(model, "next_token", {"input_ids": tokens}, parameters=head_masks(model, 1, 1))
    norms = 3 * DIM * 4 + 4 * DIM + (0 if kind == "Llama" else 12)
    assert problem.dim == norms
    found = estimate(problem, "SGLD", gradient="full", chains=2, steps=4, step_size=1e-5)
    assert found.dim == norms and found.diverged == 0


def test_an_adapted_model_keeps_its_heads():
    peft = pytest.importorskip("peft")
    model = KINDS["Llama"][0]()
    plain = head_masks(model, 1, 2)
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj"]))
    masks = head_masks(adapted, 1, 2)
    assert [mask.sum() for mask in masks.values()] == [mask.sum() for mask in plain.values()]
    assert set(masks) <= set(dict(adapted.named_parameters()))


class Silent(Fused):
    def __init__(self) -> None:
        super().__init__()
        del self.n_head


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: head_masks(Silent(), 0, 0), ["how many heads", "heads="]),
        (lambda: head_masks(Silent(), 0, 0, heads=3), ["heads is 3", "16"]),
        (lambda: head_masks(Fused(), 0, 4), ["head is 4"]),
        (lambda: head_masks(Fused(), 1, 0), ["layer is 1"]),
        (lambda: head_masks(Fused(), 0, []), ["head is []"]),
        (lambda: head_masks(Fused(), 0, "1"), ["head", "1"]),
        (lambda: head_masks(nn.Linear(3, 3), 0, 0), ["Linear", "without attention", "masks"]),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    tells(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_number_of_heads_that_is_told():
    masks, known = head_masks(Silent(), 0, 1, heads=HEADS), head_masks(Fused(), 0, 1)
    assert all(torch.equal(masks[name], known[name]) for name in known)
