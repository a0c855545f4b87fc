"""The loss of a net that predicts the reward of every action and is told that of one."""

from __future__ import annotations

from torch import Tensor


def chosen_loss(output: Tensor, target: Tensor) -> Tensor:
    """(prediction of the chosen action − reward)², [B]. output: [B, A].  target: [B, 2], action and reward."""
    index, reward = target[:, :1].long(), target[:, 1]
    return (output.gather(1, index).squeeze(1) - reward).square()
