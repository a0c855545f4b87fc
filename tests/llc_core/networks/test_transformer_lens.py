"""Networks of TransformerLens, made here: its own classes up to version 3, and since version 4 bridges, of GPT-2 too."""

from __future__ import annotations

import copy
from importlib.metadata import version
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from llc_core import NetworkPotential, estimate
from llc_core.networks import head_masks
from llc_core.networks.heads import head_counts

transformer_lens = pytest.importorskip("transformer_lens")
BRIDGED = int(version("transformer_lens").split(".")[0]) >= 4
HEADS, WORDS, LENGTH = 4, 24, 8
KINDS = [HEADS, 2, *(["GPT-2"] if BRIDGED else [])]
"""How many groups of keys and values there are; or a model of transformers, whose heads are parts of one matrix."""
TOKENS = torch.randint(0, WORDS, (12, LENGTH), generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module", params=KINDS)
def model(request, tmp_path_factory) -> Any:
    found = made(request.param, tmp_path_factory)
    torch.manual_seed(1)
    with torch.no_grad():
        for x in found.parameters():
            x.add_(0.1 * torch.randn_like(x))
    found.share = HEADS // request.param if isinstance(request.param, int) else 1
    return found.eval()


def made(kind: Any, folders: Any) -> Any:
    if kind == "GPT-2":
        return of_transformers(folders.mktemp("gpt2"))
    shape = {
        **{"n_layers": 2, "n_heads": HEADS, "d_head": 4, "d_model": 16, "d_vocab": WORDS, "n_ctx": LENGTH, "seed": 0},
        **{"act_fn": "gelu", "normalization_type": "LN", "n_key_value_heads": kind if kind < HEADS else None},
    }
    if BRIDGED:
        return transformer_lens.TransformerBridge.boot_native({**shape, "device": "cpu"})
    config = transformer_lens.HookedTransformerConfig(**shape, device="cpu")
    return transformer_lens.HookedTransformer(config)


def of_transformers(folder: Any) -> Any:
    """A bridge reads a model and its tokenizer from a folder."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    words = tokenizers.models.WordLevel({str(i): i for i in range(WORDS)}, unk_token="0")
    named = {f"{each}_token": "0" for each in ("bos", "eos", "pad", "unk")}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words), **named).save_pretrained(folder)
    shape = {"n_layer": 2, "n_head": HEADS, "n_embd": 16, "vocab_size": WORDS, "n_positions": LENGTH}
    transformers.GPT2LMHeadModel(transformers.GPT2Config(**shape)).save_pretrained(folder)
    return transformer_lens.TransformerBridge.boot_transformers(str(folder), device="cpu")


def written(model: Any, numbers: dict[str, Tensor]) -> Tensor:
    """What each head of the second layer hands to the output matrix, [B, T, heads, size], with these numbers."""
    kept: list[Tensor] = []
    with torch.no_grad(), model.hooks([("blocks.1.attn.hook_z", lambda z, hook: kept.append(z.clone()))]):
        torch.func.functional_call(model, numbers, (TOKENS[:2],))
    return kept[0].unflatten(2, (HEADS, -1)) if kept[0].dim() == 3 else kept[0]


@pytest.mark.parametrize("head", [0, 2])
def test_what_is_masked_moves_this_head_alone(model, head):
    """And the heads that share its key and value; the output's part is the head's rows or columns."""
    assert head_counts(model) == [HEADS, HEADS]
    masks = head_masks(model, 1, head)
    numbers = {name: x.detach().clone() for name, x in model.named_parameters()}
    before = written(model, numbers)
    torch.manual_seed(2)
    moved = {name: x + masks[name] * torch.randn_like(x) if name in masks else x for name, x in numbers.items()}
    changed = [
        not torch.allclose(a, b, atol=1e-6)
        for a, b in zip(before.unbind(2), written(model, moved).unbind(2), strict=True)
    ]
    assert changed == [other // model.share == head // model.share for other in range(HEADS)]
    sizes = sorted(int(mask.sum()) for mask in masks.values())
    assert sizes == [4, 4, 4, 64, 64, 64, 64], "three biases; query, key, value and output"


def test_the_loss_of_a_head_is_that_of_the_module_written_plainly(model):
    """At a point where only the head has moved, and an estimate with tokens alone."""
    masks = head_masks(model, 1, 2)
    problem = NetworkPotential(model, "next_token", TOKENS, parameters=masks)
    assert problem.dim == 268
    delta = torch.randn(2, problem.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    numbers = {name: x.detach().double() for name, x in model.named_parameters()}
    numbers |= {name: x.detach().double() for name, x in model.named_buffers() if x.is_floating_point()}
    order = [name for name in numbers if name in masks]

    def loss(at: Tensor) -> float:
        parts = dict(zip(order, at.split([int(masks[name].sum()) for name in order]), strict=True))
        here = {name: x.clone() for name, x in numbers.items()}
        for name, part in parts.items():
            here[name][masks[name]] += part
        with torch.no_grad():
            output = torch.func.functional_call(copy.deepcopy(model).double(), here, (TOKENS,))
        return float(F.cross_entropy(output[:, :-1].flatten(0, 1), TOKENS[:, 1:].flatten()))

    plain = [loss(each) - loss(torch.zeros_like(each)) for each in delta]
    torch.testing.assert_close(
        problem.excess_loss(delta), torch.tensor(plain, dtype=torch.float64), atol=1e-6, rtol=1e-5
    )
    found = estimate(problem, "SGLD", gradient="full", chains=2, steps=4, step_size=1e-5, progress=False)
    assert found.dim == problem.dim and found.diverged == 0


def test_all_of_it_in_two_ways(model):
    """Tokens alone, and a dictionary under the module's own name; the second after a pass, which leaves tensors on the module."""
    alone = NetworkPotential(model, "next_token", TOKENS)
    named = NetworkPotential(model, "next_token", {"input": TOKENS, "labels": TOKENS})
    with torch.no_grad():
        plain = model(TOKENS, return_type="loss")
    assert alone.baseline_loss == pytest.approx(named.baseline_loss) == pytest.approx(float(plain), rel=1e-5)
    delta = 0.1 * torch.randn(2, alone.dim, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(alone.excess_loss(delta), named.excess_loss(delta))
