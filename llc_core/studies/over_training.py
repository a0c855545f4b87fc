"""The local learning coefficient at each checkpoint of a training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from llc_core.estimating import estimate
from llc_core.networks.checkpoints import potential_at
from llc_core.networks.data.splits import Split
from llc_core.networks.training import Checkpoint, Training
from llc_core.potentials.module.data.kept import taken_in
from llc_core.results import Estimate

StateDict = Mapping[str, Tensor]
POTENTIAL = ("loss_fn", "sample_weights", "n", "chunk", "shuffle", "method", "memory")
"""Options of NetworkPotential that are passed on to it; all others are of `estimate`."""


class OverTraining(dict[Any, Estimate]):
    """step → Estimate, in the order of the training; printed it is a table."""

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each checkpoint, as pandas.DataFrame and csv.DictWriter take them."""
        return [
            {
                "step": step,
                "llc": e.llc,
                "llc_se": e.llc_se,
                "singular_fluctuation": e.singular_fluctuation,
                "singular_fluctuation_se": e.singular_fluctuation_se,
                "loss": e.baseline_loss,
                "r_hat": e.r_hat,
                "ess": e.ess,
                "converged": bool(e.converged),
                "verdict": str(e.converged),
            }
            for step, e in self.items()
        ]

    def plot(self) -> Any:
        """λ̂, ν̂ where it was asked for, and the loss, as a HoloViews layout. The extra "plots" brings what it needs."""
        from llc_core.plots import figures

        return figures.over_training(self)

    def __repr__(self) -> str:
        nu = any(math.isfinite(e.singular_fluctuation) for e in self.values())
        more = f"{'ν̂':>10}  {'±':>8}  " if nu else ""
        lines = [f"{'step':>8}  {'λ̂':>10}  {'±':>8}  {more}{'L(w0)':>9}  {'R-hat':>6}  {'ESS':>6}  verdict"]
        for row in self.rows():
            more = f"{row['singular_fluctuation']:>9.4g}  {row['singular_fluctuation_se']:>8.2g}  " if nu else ""
            numbers = f"{row['llc']:>9.4g}  {row['llc_se']:>8.2g}  {more}{row['loss']:>9.4g}  {row['r_hat']:>6.3f}  {row['ess']:>6.0f}"
            lines.append(f"{row['step']!s:>8}  {numbers}  {'trusted' if row['converged'] else row['verdict']}")
        return "\n".join(lines)


def llc_over_training(
    model: nn.Module,
    training: Training | Iterable[Checkpoint | StateDict] | Mapping[Any, StateDict],
    data: Any,
    sampler: Any = None,
    *,
    parameters: Any = None,
    batch_size: int | None = None,
    loss: Any = None,
    rows: int | None = None,
    **options: Any,
) -> OverTraining:
    """λ̂ at each checkpoint: step → Estimate, printed as one table.

    training: a Training or its checkpoints; or state_dicts, in a list (then counted from 0) or by step in a mapping.
    data: a Split, or whatever NetworkPotential takes; it is read once, so that all checkpoints see the same rows.
    parameters: what moves, as for NetworkPotential: all, a pattern, or masks such as `head_masks(model, layer, head)`.
    batch_size: None: gradients over all rows.  loss, rows: as for NetworkPotential; loss None: "cross_entropy", if there
    is no loss_fn.
    options: of NetworkPotential (loss_fn, sample_weights, n, …) and of `estimate` (chains, steps, localization, …). The seed
    is the same at every checkpoint, so that differences between checkpoints are sharper than each figure.
    functional_variance=10, for example, gives ν̂ from the same chains.
    Raises ValueError where there is no checkpoint, or one does not fit the model.
    """
    kept = _by_step(training)
    if not kept:
        raise ValueError("training has no checkpoints; name some steps in train(..., checkpoints=[…]).")
    own = {name: options.pop(name) for name in POTENTIAL if name in options}
    pair = data.pair if isinstance(data, Split) else taken_in(data, rows, own.get("memory"))
    if loss is not None or "loss_fn" not in own:
        own["loss"] = "cross_entropy" if loss is None else loss
    return OverTraining(
        {
            step: estimate(
                potential_at(model, state, pair, parameters=parameters, batch_size=batch_size, **own),
                sampler,
                **{"progress": False, **options},
            )
            for step, state in kept.items()
        }
    )


def _by_step(training: Any) -> dict[Any, Any]:
    if isinstance(training, Training):
        training = training.checkpoints
    if isinstance(training, Mapping):
        if any(isinstance(value, Tensor) for value in training.values()):
            raise ValueError("training is one state_dict; pass a list of them, or a mapping from steps to them.")
        return dict(training)
    if not isinstance(training, Iterable):
        raise ValueError(f"training is a {type(training).__name__}; pass a Training or a list of state_dicts.")
    return {c.step if isinstance(c, Checkpoint) else index: c for index, c in enumerate(training)}
