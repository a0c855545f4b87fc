"""λ̂ of parts of the weights, on several data sets, over a training. Long, since the table, its figure and the three kinds of
models that it is made of are read together.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from llc_core.estimating import estimate
from llc_core.fields import is_list, whole
from llc_core.networks.data.splits import Split
from llc_core.networks.parts import LAYERS, NamedPart, named_parts
from llc_core.potentials.base import Potential
from llc_core.potentials.deep_linear.network import DeepLinearNetwork, spanning
from llc_core.potentials.module.data.kept import taken_in
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.other_rows import moving_only, with_rows
from llc_core.potentials.module.parameters import Piece, choose
from llc_core.results import Estimate
from llc_core.studies.over_training import POTENTIAL, llc_over_training
from llc_core.types import LearningCoefficient

Key = tuple[str, str, Any]
"""Part, data set, and step of the training; None where there is one point alone."""
OWN = "its data"
OF_MODULE = ("loss", "batch_size", "rows")
"""What a potential has settled already, beside `POTENTIAL`. n_beta can still be given."""


@dataclass(frozen=True)
class Refined:
    """What `refined` found. Printed, it is a table.

    estimates: by part, data set and step.  exact: λ and m at w0 by part and data set, where they are known.
    """

    estimates: Mapping[Key, Estimate]
    exact: Mapping[tuple[str, str], LearningCoefficient] = field(default_factory=dict)

    def __getitem__(self, key: Key) -> Estimate:
        return self.estimates[key]

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def parts(self) -> list[str]:
        return list(dict.fromkeys(part for part, _, _ in self.estimates))

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(data for _, data, _ in self.estimates))

    @property
    def steps(self) -> list[Any]:
        """Of the checkpoints; [None] where there is one point alone."""
        return list(dict.fromkeys(step for _, _, step in self.estimates))

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each estimate, as pandas.DataFrame and csv.DictWriter take them.

        expected: the posterior's own mean at this n, nβ and γ, and λ the limit of it; None where they are not known.  confirmed: whether
        λ̂ agrees with what is expected (`Estimate.confirmed`).
        """
        return [
            {
                "part": part,
                "data": data,
                "step": step,
                "dim": e.dim,
                "llc": e.llc,
                "llc_se": e.llc_se,
                "expected": e.reference if math.isfinite(e.reference) else None,
                "λ": float(self.exact[part, data]) if (part, data) in self.exact else None,
                "r_hat": e.r_hat,
                "ess": e.ess,
                "confirmed": e.confirmed,
                "converged": bool(e.converged),
                "verdict": str(e.converged),
            }
            for (part, data, step), e in self.estimates.items()
        ]

    def table(self) -> str:
        rows = self.rows()
        shown = {"part": "<", "data": "<"} | ({"step": ">"} if self.steps != [None] else {}) | {"dim": ">"}
        columns = {name: [name, *(str(row[name]) for row in rows)] for name in shown}
        columns |= {
            "λ̂": ["λ̂", *(f"{row['llc']:.4g}" for row in rows)],
            "±": ["±", *(f"{row['llc_se']:.2g}" for row in rows)],
        }
        shown |= {"λ̂": ">", "±": ">"}
        for name in ("expected", "λ"):
            if any(row[name] is not None for row in rows):
                columns[name] = [name, *("" if row[name] is None else f"{row[name]:.4g}" for row in rows)]
                shown[name] = ">"
        widths = {name: max(map(len, column)) for name, column in columns.items()}
        ends = ["verdict"]
        for row in rows:
            said = "trusted" if row["converged"] else row["verdict"]
            ends.append(f"as expected; {said}" if row["confirmed"] and not row["converged"] else said)
        lines = []
        for place, end in enumerate(ends):
            cells = (f"{columns[name][place]:{side}{widths[name]}}" for name, side in shown.items())
            lines.append("  ".join([*cells, end]).rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the rows, and every estimate in full."""

        def known(value: Any) -> Any:
            return None if isinstance(value, float) and not math.isfinite(value) else value

        return {
            "rows": [{name: known(value) for name, value in row.items()} for row in self.rows()],
            "estimates": [json.loads(each.to_json()) for each in self.estimates.values()],
        }

    def plot(self) -> Any:
        """Heat maps of λ̂ as HoloViews objects: parts × data, or over training parts × steps for each data set."""
        from llc_core.plots import refined as drawing

        return drawing.refined(self)


def refined(
    model: nn.Module | NetworkPotential | DeepLinearNetwork,
    parts: Any = LAYERS,
    datasets: Any = None,
    checkpoints: Any = None,
    sampler: Any = None,
    *,
    heads: int | None = None,
    **options: Any,
) -> Refined:
    """λ̂ where only a part of the weights moves, for every part, data set and checkpoint: one estimate each.

    model: a module, at the weights that it has; a `NetworkPotential`, at its w0; or a `DeepLinearNetwork`, of which the exact λ and the
        value that is expected at this n stand beside λ̂.
    parts: "layers", "heads", "head:0.1", patterns, masks by name, … (`llc_core.networks.named_parts`). Of a linear network also
        numbers of layers from 0, lists of them, or a mapping from names to these. Of a potential what of them moves in it.
    datasets: of a module: a mapping from names to whatever `NetworkPotential` takes or a Split, or one of these alone.
        Of a potential: None for its own data; a batch (inputs, …, targets) or a Split, whose rows nβ then counts; or another
        NetworkPotential of such a module; or a mapping from names to these.
        Of a linear network: a mapping from names to rows [k, H_0] that span the subspace onto which its own inputs are projected,
        or to None for its inputs as they are; None: these alone.
    checkpoints: of a module, as `llc_over_training` takes them; None: the weights that it has.
    heads: of each attention, where the model does not say.
    options: of `llc_over_training`: loss, batch_size, and those of `estimate`. The seed is the same everywhere, so that differences are
        sharper than each figure. Of a potential or a linear network: those of `estimate`.
    What is known of λ holds where w0 is a minimum on that data set: away from one λ̂ may be below 0, and the verdict says so.
    Raises ValueError with one sentence for what cannot be.
    Source: Wang, Hoogland, van Wingerden, Furman & Murfet 2024 (arXiv 2410.02984).
    """
    if isinstance(model, Potential) and checkpoints is not None:
        raise ValueError(f"checkpoints are of a module; a {type(model).__name__} has one point w0, so leave them out.")
    if isinstance(model, DeepLinearNetwork):
        return _of_linear(model, parts, datasets, sampler, options)
    if isinstance(model, NetworkPotential):
        if taken := [name for name in options if name in (*POTENTIAL, *OF_MODULE)]:
            raise ValueError(f"{taken[0]} is of a module; a NetworkPotential has its own, so leave it out.")
        given = {OWN: None} if datasets is None else _by_name(datasets)
        on = {name: model if data is None else _on_data(model, data) for name, data in given.items()}
        named = named_parts(_moving(model), parts, heads)
        return Refined({key: _estimate(each, sampler, options) for key, each in _restricted(named, on).items()})
    if not isinstance(model, nn.Module):
        raise ValueError(
            f"model is a {type(model).__name__}; pass a torch.nn.Module, a NetworkPotential or a DeepLinearNetwork."
        )
    named = named_parts(model, parts, heads)
    memory, rows = options.get("memory"), options.pop("rows", None)
    found: dict[Key, Estimate] = {}
    for name, data in _by_name(datasets).items():
        once = data.pair if isinstance(data, Split) else taken_in(data, rows, memory)
        for part, masks in named.items():
            points = {None: model.state_dict()} if checkpoints is None else checkpoints
            over = llc_over_training(model, points, once, sampler, parameters=masks, **options)
            found |= {(part, name, step): each for step, each in over.items()}
    return Refined(found)


def _by_name(datasets: Any) -> dict[str, Any]:
    if datasets is None:
        raise ValueError("datasets is missing; give a module's data, or several by name.")
    if not isinstance(datasets, Mapping):
        return {OWN: datasets}
    if not datasets:
        raise ValueError("datasets is empty; give at least one by name.")
    return {str(name): data for name, data in datasets.items()}


def _estimate(potential: NetworkPotential, sampler: Any, options: Mapping[str, Any]) -> Estimate:
    return estimate(potential, sampler, **{"progress": False, **options})


def _on_data(problem: NetworkPotential, data: Any) -> NetworkPotential:
    if isinstance(data, NetworkPotential):
        return data
    if isinstance(data, Potential):
        raise ValueError(f"datasets has a {type(data).__name__}; give data, or a NetworkPotential.")
    return with_rows(problem, data.pair if isinstance(data, Split) else data, own=True)


def _moving(problem: NetworkPotential) -> nn.Module:
    """The structure of the module; what moves is what is trained."""
    module, names = deepcopy(problem.module), {piece.name for piece in problem.pieces}
    for name, tensor in module.named_parameters():
        tensor.requires_grad_(name in names)
    return module


def _restricted(named: Mapping[str, Any], on: Mapping[str, NetworkPotential]) -> dict[Key, NetworkPotential]:
    """The potentials in which what a part names moves, as far as it moved before."""
    found: dict[Key, NetworkPotential] = {}
    for data, problem in on.items():
        module, before = _moving(problem), {piece.name: piece for piece in problem.pieces}
        for part, masks in named.items():
            pieces = (each for each in choose(module, masks) if each.name in before)
            both = {each.name: _mask(each) & _mask(before[each.name]) for each in pieces}
            both = {name: mask for name, mask in both.items() if mask.any()}
            if not both:
                raise ValueError(
                    f"parts names {part!r}, of which nothing moves in the potential; there are {', '.join(before)}."
                )
            found[part, data, None] = moving_only(problem, both)
    return found


def _mask(piece: Piece) -> torch.Tensor:
    mask = torch.full(piece.shape, piece.chosen is None, device="cpu").flatten()
    if piece.chosen is not None:
        mask[piece.chosen] = True
    return mask.view(piece.shape)


def _of_linear(
    problem: DeepLinearNetwork, parts: Any, datasets: Any, sampler: Any, options: Mapping[str, Any]
) -> Refined:
    found: dict[Key, Estimate] = {}
    exact: dict[tuple[str, str], LearningCoefficient] = {}
    module = linear_module(problem)
    named = named_parts(module, _with_numbers(parts, len(problem.weights)))
    given = {OWN: None} if datasets is None else _by_name(datasets)
    on = {
        name: NetworkPotential(module, "squared_error", linear_rows(problem, inputs), n=problem.n)
        for name, inputs in given.items()
    }
    for key, potential in _restricted(named, on).items():
        found[key] = _estimate(potential, sampler, options)
        if all(piece.chosen is None for piece in potential.pieces):
            moving = [int(piece.name.removesuffix(".weight")) for piece in potential.pieces]
            exact[key[:2]] = problem.refined(moving, given[key[1]])
    return Refined(found, exact)


def linear_module(problem: DeepLinearNetwork) -> nn.Sequential:
    """The network as a torch module, in double precision; its layers are named by their numbers from 0."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for number, w in enumerate(problem.weights):
        layer = nn.Linear(w.shape[1], w.shape[0], bias=False, dtype=torch.float64, device="cpu")
        layer.weight.data = torch.from_numpy(w.copy())
        layers[str(number)] = layer
    return nn.Sequential(layers)


def linear_rows(problem: DeepLinearNetwork, inputs: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
    """H_0 rows (x, y) on which L − L(w0) is, at all weights, what it is on the n rows of the network's own data.

    A squared error knows the data through XᵀX/n and (noise)ᵀX/n alone, and so few rows have the same. The loss at w0 itself is lower.
    inputs: [k, H_0], rows that span the subspace onto which inputs are projected; None: as they are.
    """
    sxx, snx = problem.data.sxx, problem.data.snx
    values, vectors = torch.linalg.eigh(sxx)
    x = math.sqrt(len(sxx)) * (vectors * values.clamp_min(0).sqrt()).T
    noise = x @ torch.linalg.lstsq(sxx, snx.T).solution
    if inputs is not None:
        basis, kept, _ = torch.linalg.svd(
            torch.from_numpy(spanning(inputs, len(sxx)).copy()).double(), full_matrices=False
        )
        basis = basis[:, kept > 1e-7 * kept.max()]
        x = x @ basis @ basis.T
    product = torch.linalg.multi_dot(
        [torch.eye(len(sxx), dtype=torch.float64), *(torch.from_numpy(w.T) for w in problem.weights)]
    )
    return x, x @ product + noise


def _with_numbers(parts: Any, layers: int) -> Any:
    """Parts with numbers of layers in them as patterns of names."""

    def pattern(part: Any) -> Any:
        if is_list(part) and not isinstance(part, Mapping):
            return [pattern(each) for each in part]
        if not isinstance(part, int) or isinstance(part, bool):
            return part
        return f"{whole('parts', part, 0, layers - 1)}.weight"

    if isinstance(parts, int):
        parts = [parts]
    if is_list(parts) and not isinstance(parts, Mapping) and all(isinstance(each, int) for each in parts):
        parts = {str(NamedPart(str(each))): each for each in parts}
    return {name: pattern(part) for name, part in parts.items()} if isinstance(parts, Mapping) else parts
