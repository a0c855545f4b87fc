"""Synthetic text with two things to learn: pairs of tokens, and later copying from the context; and a row for each token of a text."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from llc_core.compute.precision import SINGLE
from llc_core.compute.streams import torch_stream
from llc_core.fields import number, whole
from llc_core.networks.data.splits import Split
from llc_core.potentials.module.losses import IGNORED

SHARPNESS = 1.5
"""Standard deviation of the logits of the transition matrix."""


def synthetic_text(
    sequences: int = 1024,
    length: int = 32,
    vocabulary: int = 16,
    repeated: float = 0.5,
    seed: int = 0,
) -> Split:
    """Sequences of tokens; the target at each place is the next token. As many again are held out.

    A sequence is a Markov chain. All sequences have the same random transition matrix. A share `repeated` of the sequences
    repeats its first part, of random length, again and again: to predict these takes induction heads (Olsson et al. 2022).
    The other sequences need only the previous token.
    """
    sequences, length = whole("sequences", sequences, 1, 10**7), whole("length", length, 4, 10**5)
    vocabulary = whole("vocabulary", vocabulary, 2, 10**5)
    share = number("repeated", repeated, 0, 1)
    generator = torch_stream(whole("seed", seed), "text")
    table = torch.softmax(SHARPNESS * torch.randn(vocabulary, vocabulary, generator=generator, **SINGLE), 1)
    tokens = _chains(table, 2 * sequences, length + 1, generator)
    period = torch.randint(length // 4, length // 2 + 1, (2 * sequences, 1), generator=generator, device="cpu")
    again = torch.rand(2 * sequences, 1, generator=generator, **SINGLE) < share
    places = torch.arange(length + 1, device="cpu").expand(2 * sequences, -1)
    tokens = tokens.gather(1, torch.where(again, places % period, places))
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return Split("synthetic text", inputs[:sequences], targets[:sequences], inputs[sequences:], targets[sequences:])


def _chains(table: Tensor, count: int, length: int, generator: torch.Generator) -> Tensor:
    tokens = torch.empty(count, length, dtype=torch.int64, device="cpu")
    tokens[:, 0] = torch.randint(len(table), (count,), generator=generator, device="cpu")
    for t in range(1, length):
        tokens[:, t] = torch.multinomial(table[tokens[:, t - 1]], 1, generator=generator).squeeze(1)
    return tokens


class TokenRows(NamedTuple):
    """A row for each token that is predicted. tokens, targets: [K, T], of which one target counts.  places: [K, 2], row and position."""

    tokens: Tensor
    targets: Tensor
    places: Tensor


def token_rows(tokens: Tensor, targets: Tensor | None = None) -> TokenRows:
    """Rows whose loss is one token's part of its row's loss, for `with_rows`: what is known of rows is then known of tokens.

    The part is the token's cross entropy over the number of tokens that a row of the network's data has on average, so parts of a row
    add up to its loss, and covariances, influence and susceptibilities of tokens add up to those of the row.
    tokens: [R, T].  targets: the same with −100 where a token does not count; None: all count. The first one is never predicted.
    A row is evaluated once for each of its tokens, so give the rows whose tokens are asked for. Raises ValueError for other shapes.
    """
    whose = tokens if targets is None else targets
    if tokens.dim() != 2 or whose.shape != tokens.shape or tokens.is_floating_point():
        raise ValueError(
            f"tokens is {tuple(tokens.shape)} and targets {tuple(whose.shape)}; give whole numbers [rows, T], and as many targets."
        )
    places = (whose[:, 1:] != IGNORED).nonzero() + torch.tensor([0, 1])
    rows, at = places.T
    one = torch.full((len(places), tokens.shape[1]), IGNORED, dtype=whose.dtype)
    one[torch.arange(len(places)), at] = whose[rows, at]
    return TokenRows(tokens[rows], one, places)
