"""Models of Hugging Face's transformers, and adapters of peft: the loss is their own, and vmap takes what it can.

They are in the extra "models", which no other test needs: `pip install -e ".[models]"`.
"""

from __future__ import annotations

import warnings

import pytest
import torch
from small_networks import moved

from llc_core import NetworkPotential, estimate

transformers = pytest.importorskip("transformers")
transformers.logging.set_verbosity_error()
pytestmark = pytest.mark.long

ROWS, LENGTH, WORDS = 16, 10, 24
SAME = 2e-6
"""Relative: float32 in sums of some tens of terms."""
torch.manual_seed(0)
TOKENS = torch.randint(2, WORDS, (ROWS, LENGTH))
LENGTHS = LENGTH - torch.arange(ROWS) % 5
MASK = (torch.arange(LENGTH) < LENGTHS[:, None]).long()
LABELS = torch.where(MASK.bool(), TOKENS, -100)
CLASSES = torch.randint(0, 3, (ROWS,))
WORDS_IN = {"input_ids": TOKENS, "attention_mask": MASK}
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": WORDS,
}
BERT = {**SMALL, "max_position_embeddings": 16, "hidden_dropout_prob": 0.1}


def gpt2():
    config = transformers.GPT2Config(
        n_layer=2, n_head=2, n_embd=16, vocab_size=WORDS, n_positions=16, bos_token_id=0, eos_token_id=1
    )
    return transformers.GPT2LMHeadModel(config)


def gpt_neox():
    return transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**SMALL, max_position_embeddings=16))


def llama(**more):
    config = transformers.LlamaConfig(**SMALL, num_key_value_heads=2, max_position_embeddings=16, **more)
    return transformers.LlamaForCausalLM(config)


def adapted():
    peft = pytest.importorskip("peft")
    model = peft.get_peft_model(gpt2(), peft.LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    return model


def mixtral():
    config = transformers.MixtralConfig(**SMALL, num_key_value_heads=2, num_local_experts=3, max_position_embeddings=16)
    return transformers.MixtralForCausalLM(config)


def t5():
    config = transformers.T5Config(
        d_model=16,
        d_ff=32,
        d_kv=8,
        num_layers=1,
        num_heads=2,
        vocab_size=WORDS,
        decoder_start_token_id=0,
        pad_token_id=0,
    )
    return transformers.T5ForConditionalGeneration(config)


def vit():
    sizes = {
        key: SMALL[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    }
    config = transformers.ViTConfig(**sizes, image_size=8, patch_size=4, num_channels=1, num_labels=3)
    return transformers.ViTForImageClassification(config)


KINDS = {
    "GPT-2": (gpt2, {**WORDS_IN, "labels": LABELS}),
    "GPT-NeoX": (gpt_neox, {**WORDS_IN, "labels": LABELS}),
    "Llama with grouped queries": (llama, {**WORDS_IN, "labels": LABELS}),
    "Llama with tied weights": (lambda: llama(tie_word_embeddings=True), {**WORDS_IN, "labels": LABELS}),
    "an adapter": (adapted, {**WORDS_IN, "labels": LABELS}),
    "a mixture of experts": (mixtral, {**WORDS_IN, "labels": LABELS}),
    "BERT for classes": (
        lambda: transformers.BertForSequenceClassification(transformers.BertConfig(**BERT, num_labels=3)),
        {**WORDS_IN, "labels": CLASSES},
    ),
    "BERT for masked words": (
        lambda: transformers.BertForMaskedLM(transformers.BertConfig(**BERT)),
        {**WORDS_IN, "labels": LABELS},
    ),
    "T5": (t5, {**WORDS_IN, "labels": LABELS}),
    "ViT": (vit, {"pixel_values": torch.randn(ROWS, 1, 8, 8), "labels": CLASSES}),
}  # fmt: skip
AT_ONCE = ("GPT-2", "GPT-NeoX", "Llama with grouped queries", "Llama with tied weights", "an adapter", "ViT")
"""Those that vmap can do; in the masks of others transformers asks numbers on the way."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_model_s_own_and_its_gradient_right(kind):
    build, batch = KINDS[kind]
    torch.manual_seed(1)
    model = build()
    model.train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = NetworkPotential(model, data=batch, reduction="token", batch_size=4)
        found = estimate(problem, "SGLD", gradient="minibatch", chains=2, steps=3, step_size=1e-6)
    assert (problem.method == "vmap") == (kind in AT_ONCE)
    with torch.no_grad():
        own = float(model.eval()(**batch).loss)
    assert problem.baseline_loss == pytest.approx(own, rel=SAME)
    assert found.diverged == 0

    # Along the gradient itself: some of these models take norms in single precision, which a short way would not rise above.
    delta = moved(problem, 1)[:1]
    slope = problem.excess_loss_and_grad(delta)[1]
    size, h = float(slope.norm()), 1e-3
    ends = [problem.excess_loss_and_grad(delta + sign * h * slope / size)[0] for sign in (1, -1)]
    assert float((ends[0] - ends[1]) / (2 * h)) == pytest.approx(size, rel=3e-3)


def test_a_padded_loader_gives_the_numbers_of_the_whole():
    rows = [
        {"input_ids": TOKENS[i, :length], "labels": TOKENS[i, :length]} for i, length in enumerate(LENGTHS.tolist())
    ]
    torch.manual_seed(1)
    model = gpt2()
    whole = NetworkPotential(model, "next_token", {**WORDS_IN, "labels": LABELS}, reduction="token")
    ragged = NetworkPotential(model, "next_token", rows, reduction="token")
    delta = moved(whole, 2)
    assert torch.allclose(ragged.per_sample_loss(delta, 0, ROWS), whole.per_sample_loss(delta, 0, ROWS), atol=1e-9)
