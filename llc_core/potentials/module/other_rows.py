"""The same network at the same w0, with other rows or with fewer parameters that move."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from llc_core.fields import whole
from llc_core.potentials.module.calling import Calling, OfBatch, OfOutput
from llc_core.potentials.module.data.rows import Data, TensorData
from llc_core.potentials.module.losses import IGNORED, CrossEntropy, Loss, NextToken, settled
from llc_core.potentials.module.meant import rows_with_label
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.parameters import choose


def with_rows(problem: NetworkPotential, data: Any, own: bool = False) -> NetworkPotential:
    """The network on probe rows: same module, loss, w0 and moving parameters, and a batch (inputs, …, targets) in place of the data.

    Each tensor counts the rows in its first dimension and is shaped as in the data of `problem`. The rows keep their order.
    `estimate(problem, observable=with_rows(problem, batch), observables=["RowLosses"])` keeps their losses along the chains.
    own: they are a data set of their own: n counts those that have a label, and minibatches are drawn from a random order.
    ValueError, one sentence, for a batch that does not fit.
    """
    if not isinstance(problem, NetworkPotential):
        raise ValueError(f"problem is a {type(problem).__name__}; probe rows are for a NetworkPotential.")
    weighted = isinstance(problem.calling, OfOutput | OfBatch) and problem.calling.weighted
    kinds = problem.data.kinds[int(weighted) :]
    if not isinstance(data, list | tuple) or len(data) != len(kinds):
        raise ValueError(
            f"data must be a tuple of {len(kinds)} tensors, as the network's own rows have: inputs, then targets."
        )
    columns = [_fitted(f"data[{at}]", x, kind) for at, (x, kind) in enumerate(zip(data, kinds, strict=True))]
    if weighted:
        columns.insert(0, torch.ones(len(columns[0]), dtype=problem.data.kinds[0].dtype, device="cpu"))
    found = _on(problem, TensorData(columns, shuffle=own))
    if own:
        found.calling = _settled_anew(found)
    elif bool((columns[-1] == IGNORED).any()):
        found.calling = _ignoring(found.calling)
    try:
        losses = found.per_sample_loss(torch.zeros(1, found.dim, device="cpu"), 0, found.samples)
    except (RuntimeError, IndexError, ValueError) as error:
        raise ValueError(f"The network cannot be evaluated on data: {str(error).splitlines()[0]}") from None
    if not bool(torch.isfinite(losses).all()):
        raise ValueError("The loss at w0 is not finite in data; check its rows.")
    if own:
        has_labels = isinstance(found.calling, OfOutput)
        counted = rows_with_label(found.loss, found.data.targets, found.samples) if has_labels else found.samples
        found.n = whole("n", counted, 3)
    return found


def of_rows(problem: NetworkPotential, numbers: Sequence[int]) -> NetworkPotential:
    """The network on some of its rows, in this order; numbers: those of the data given, whatever order they lie in here."""
    place = torch.empty_like(problem.data.order)
    place[problem.data.order] = torch.arange(len(place), device="cpu")
    wanted = place[torch.tensor(list(numbers), device="cpu")].tolist()
    like = torch.empty(0, dtype=torch.float64, device="cpu")
    rows = [problem.data.slice(at, at + 1, like) for at in wanted]
    columns = [torch.cat([row.inputs[k][0] for row in rows]) for k in range(problem.data.inputs)]
    return _on(problem, TensorData([*columns, torch.cat([row.targets[0] for row in rows])], shuffle=False))


def moving_only(problem: NetworkPotential, parameters: Any) -> NetworkPotential:
    """The network in which only these parameters move, as `NetworkPotential(parameters=…)` has them, and the others stay at w0."""
    if not isinstance(problem, NetworkPotential):
        raise ValueError(f"problem is a {type(problem).__name__}; parts are those of a NetworkPotential.")
    if parameters is None:
        raise ValueError("parameters is None; name those that shall move, such as 'layers.0.*'.")
    found = _on(problem, problem.data)
    found.pieces = choose(problem.module, parameters)
    found.dim = found.pieces[-1].stop
    return found


def _on(problem: NetworkPotential, data: Data) -> NetworkPotential:
    other = copy(problem)
    other.__dict__.pop("_fingerprint", None)
    other.data, other._on, other._which_mean = data, {}, False
    other.batch_size = min(problem.batch_size, data.size)
    return other


def _settled_anew(problem: NetworkPotential) -> Calling:
    """What a mean over labels is divided by belongs to the data."""
    calling = problem.calling
    if not isinstance(calling, OfOutput):
        return calling
    fresh: Loss = calling.loss
    if isinstance(fresh, NextToken):
        fresh = replace(fresh, rule=replace(fresh.rule, ignore_index=IGNORED, scale=1.0))
    elif isinstance(fresh, CrossEntropy):
        fresh = replace(fresh, ignore_index=IGNORED, scale=1.0)
    place = problem._place(torch.zeros(1, problem.dim, device="cpu"))
    inputs, target = place.rows(0, min(2, problem.samples)).of(0)
    output = calling.output(problem.module, {**place.weights.still, **place.weights.moving}, inputs)
    return replace(calling, loss=settled(fresh, output, target, problem.data.targets))


def _ignoring(calling: Calling) -> Calling:
    """A loss that was settled for data without labels to ignore looks for none; probe rows may have some."""
    if not isinstance(calling, OfOutput):
        return calling
    loss = calling.loss
    if isinstance(loss, NextToken) and loss.rule.ignore_index is None:
        return replace(calling, loss=replace(loss, rule=replace(loss.rule, ignore_index=IGNORED)))
    if isinstance(loss, CrossEntropy) and loss.ignore_index is None:
        return replace(calling, loss=replace(loss, ignore_index=IGNORED))
    return calling


def _fitted(name: str, given: Any, kind: Tensor) -> Tensor:
    try:
        found = torch.as_tensor(given).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            f"{name} is a {type(given).__name__}; give a tensor whose rows are shaped as the data's."
        ) from None
    if found.dim() != kind.dim() or found.shape[1:] != kind.shape[1:] or len(found) == 0:
        raise ValueError(
            f"{name} has the shape {tuple(found.shape)}; give rows {['P', *kind.shape[1:]]}, as the data have them."
        )
    if found.is_floating_point() != kind.is_floating_point():
        raise ValueError(f"{name} holds {found.dtype} and the data {kind.dtype}; give the same kind of numbers.")
    return found.to(kind.dtype)
