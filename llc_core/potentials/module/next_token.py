"""The loss of token models on tokens alone: each position's output against the token that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from llc_core.potentials.module.cross_entropy import CrossEntropy


@dataclass(frozen=True, eq=False)
class NextToken:
    """−log softmax(output[t])[target[t + 1]] in nats, [B], averaged over the T − 1 positions of a row that have a next token.

    output [B, T, K], target [B, T]: the tokens themselves, with −100 where a token does not count, as padding does not.
    rule: the cross entropy of single positions. L_n is its mean over all positions that count, in the whole data set.
    """

    rule: CrossEntropy = CrossEntropy(class_dim=-1)

    def __call__(self, output: Tensor, target: Tensor) -> Tensor:
        return self.rule(output[:, :-1], target[:, 1:])

    def settled(self, output: Tensor, some: Tensor, targets: Tensor) -> NextToken:
        """See `CrossEntropy.settled`; ValueError where a row has no next token, or the outputs are not those of tokens."""
        if targets.dim() != 2 or targets.shape[1] < 2 or targets.is_floating_point():
            raise ValueError(
                f"data's tokens are {tuple(targets.shape)} of {targets.dtype}; next_token needs whole numbers [rows, T] with T ≥ 2."
            )
        if output.dim() != 3 or output.shape[1] != targets.shape[1]:
            raise ValueError(
                f"module gives {tuple(output.shape)} for tokens {tuple(some.shape)}; next_token needs an output [B, T, K]."
            )
        return replace(self, rule=self.rule.settled(output[:, :-1], some[:, 1:], targets[:, 1:]))
