"""Degeneracies of ReLU networks: what leaves the loss of given rows as it is, counted, walked along, and λ (paper 000, appendix A).
Long, since every degeneracy brings its paths.

No row lies on the kink of a unit, so that near w0 the outputs are polynomials of the parameters. Where d − r directions leave all
of them as they are and the Jacobian at w0 has rank r, the zeros of the excess loss are a manifold with curvature across it: λ = r/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from llc_core.compute.precision import EXACT
from llc_core.compute.streams import torch_stream
from llc_core.estimating import estimate
from llc_core.fields import hyper
from llc_core.potentials.module.network import NetworkPotential
from llc_core.studies.papers.claims import Claim, Measured, alike, at_most, near
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

INPUTS = 2
OF_UNIT = INPUTS + 2
"""Parameters of a unit: weights and bias that go in, and a weight that goes out."""
MARGIN, REACH = 0.3, 0.03
"""How far all rows lie from all kinks, and how far paths go: so far that no row crosses one."""
ROUNDING = 1e-24
"""Of a mean square of outputs of about 1 in float64, with room: what a path may change the loss by."""
CLOSE = 0.05
"""By how much of λ its estimate by chains may miss it."""
NONE = 1e-9
"""Singular values below this share of the largest count as 0."""

N_BETA, LOCALIZATION = 10**9, 1e4
"""Chains then stay within .01 of w0 along flat directions, and γ is less than a thousandth of all other curvatures."""

Path = tuple[str, Callable[[Tensor, float], Tensor]]
"""What it does in words, and parameters and a length ↦ parameters."""


@dataclass(frozen=True)
class Degenerate:
    """units: rows of weights in, bias and weight out.  matters: r by the rules of the docstring of `cases`.  paths: d − r of them."""

    name: str
    units: tuple[tuple[float, ...], ...]
    matters: int
    paths: tuple[Path, ...]

    @property
    def parameters(self) -> Tensor:
        """w0 [d]: unit after unit, then the bias of the output."""
        return torch.tensor([*sum(self.units, ()), 0.4], **EXACT)


def outputs(w: Tensor, x: Tensor) -> Tensor:
    """f [n] at rows x [n, 2] with parameters w [d]."""
    units = w[:-1].view(-1, OF_UNIT)
    return torch.relu(x @ units[:, :INPUTS].T + units[:, INPUTS]) @ units[:, -1] + w[-1]


def _scaled(unit: int) -> Path:
    def at(w: Tensor, t: float) -> Tensor:
        moved = w.clone()
        own = moved[:-1].view(-1, OF_UNIT)[unit]
        own[:-1] *= np.exp(t)
        own[-1] *= np.exp(-t)
        return moved

    return f"unit {unit + 1} takes in more and gives out less", at


def _moved(unit: int, entry: int) -> Path:
    def at(w: Tensor, t: float) -> Tensor:
        moved = w.clone()
        moved[:-1].view(-1, OF_UNIT)[unit, entry] += t
        return moved

    return f"parameter {entry + 1} of unit {unit + 1} alone", at


def _exchanged(one: int, other: int, entry: int) -> Path:
    def at(w: Tensor, t: float) -> Tensor:
        moved = w.clone()
        units = moved[:-1].view(-1, OF_UNIT)
        units[one, entry] += t / units[one, -1]
        units[other, entry] -= t / units[other, -1]
        return moved

    return f"parameter {entry + 1} of unit {one + 1} against that of unit {other + 1}", at


def _shifted(unit: int) -> Path:
    def at(w: Tensor, t: float) -> Tensor:
        moved = w.clone()
        own = moved[:-1].view(-1, OF_UNIT)[unit]
        own[INPUTS] += t / own[-1]
        moved[-1] -= t
        return moved

    return f"the bias of unit {unit + 1} against that of the output", at


ORDINARY = ((1.0, 0.4, 0.2, 0.9), (-0.5, 1.1, -0.3, 1.2))
"""Units that are on for some rows and off for others."""


def cases() -> Iterator[Degenerate]:
    """The degeneracies, each beside two ordinary units.

    What matters: an ordinary unit has 4 parameters of which 3 matter, since it can be scaled; the output's bias is one more. A dead
    unit has none. Units that are always on are one affine map, 3 numbers with the output's bias. Of a unit without a way out only that
    way matters. Units with one kink are one unit.
    """
    base, two = 3 * len(ORDINARY) + 1, (_scaled(0), _scaled(1))
    yield Degenerate("scaling", ORDINARY, base, two)
    dead = tuple(_moved(2, entry) for entry in range(OF_UNIT))
    yield Degenerate("a dead unit", (*ORDINARY, (0.2, -0.3, -5.0, 0.8)), base, (*two, *dead))
    on = (0.3, 0.2, 5.0, 0.7)
    yield Degenerate("a unit that is always on", (*ORDINARY, on), base + INPUTS, (*two, _scaled(2), _shifted(2)))
    both = [_exchanged(2, 3, entry) for entry in range(INPUTS + 1)]
    yield Degenerate(
        "two units that are always on", (*ORDINARY, on, (-0.2, 0.4, 5.0, 1.1)), base + INPUTS,
        (*two, _scaled(2), _scaled(3), _shifted(2), *both),
    )  # fmt: skip
    free = tuple(_moved(2, entry) for entry in range(INPUTS + 1))
    yield Degenerate("elimination", (*ORDINARY, (0.8, -0.9, 0.1, 0.0)), base + 1, (*two, *free))
    shared = (*two, _scaled(2), *(_exchanged(1, 2, entry) for entry in range(INPUTS + 1)))
    yield Degenerate("overlap", (*ORDINARY, (*ORDINARY[1][:-1], 0.7)), base, shared)


@register
@dataclass(frozen=True)
class Degeneracies(Study):
    """rows: of inputs, drawn from a normal distribution and kept where they are far enough from all kinks.  chains, steps: of
    Hamiltonian Monte Carlo for λ̂, at an nβ and a γ that keep it where no row crosses a kink; 0 steps: without it."""

    rows: int = hyper(200, 50, 100_000)
    chains: int = hyper(8, 2, 1000)
    steps: int = hyper(600, 0, 1_000_000)
    seed: int = hyper(0, 0, 2**31)

    def cost(self) -> Cost:
        steps = 6 * self.steps * (0.01 + 5e-6 * self.chains * self.rows / 8)
        words = f"six networks on {self.rows:,} rows, and {self.chains} chains × {self.steps:,} steps for each"
        return Cost(2 + 2e-3 * self.rows + steps, 300, words)

    def run(self, at: Place) -> Found:
        claims: list[Claim] = []
        numbers: dict[str, Any] = {}
        walks: dict[str, np.ndarray] = {}
        table = []
        for case in cases():
            x, w = self.inputs(case), case.parameters
            values = np.linalg.svd(jacobian(w, x), compute_uv=False)
            rank = int((values > NONE * values[0]).sum())
            flat, walks[case.name] = tangents(case), np.array([along(case, path, x) for _, path in case.paths])
            kernel = float(np.abs(jacobian(w, x) @ flat.T).max())
            claims += [
                at_most(
                    f"{case.name}: the loss stays as it is along every path", Measured(walks[case.name].max()), ROUNDING
                ),
                near(
                    f"{case.name}: paths and what matters fill the space",
                    Measured(rank_of(flat) + rank),
                    len(w),
                    0.0,
                    "d",
                ),
                near(f"{case.name}: λ", Measured(rank / 2), case.matters / 2, 0.0, "by the count"),
            ]
            if self.steps:
                found = Measured(*self._estimated(case, at))
                exact = ("exact", Measured(case.matters / 2))
                claims.append(alike(f"{case.name}: λ̂ of chains", found, exact, CLOSE * case.matters / 2))
            numbers[case.name] = {
                "d": len(w), "rank": rank, "paths": {name: float(walk.max()) for (name, _), walk in zip(case.paths, walks[case.name], strict=True)},
                "singular values": values.tolist(), "Jacobian along paths": kernel,
            }  # fmt: skip
            table.append(f"{case.name}: d = {len(w)}, {len(case.paths)} flat directions, λ = {rank / 2:g}")
        return Found(claims, numbers, lambda: self._figure(), table)

    def inputs(self, case: Degenerate) -> Tensor:
        """[rows, 2], none of them near a kink."""
        random, units = torch_stream(self.seed, "inputs"), case.parameters[:-1].view(-1, OF_UNIT)
        kept = torch.empty(0, INPUTS, **EXACT)
        while len(kept) < self.rows:
            drawn = torch.randn(self.rows, INPUTS, generator=random, **EXACT).clamp(-3, 3)
            far = (drawn @ units[:, :INPUTS].T + units[:, INPUTS]).abs().min(dim=1).values > MARGIN
            kept = torch.cat([kept, drawn[far]])
        return kept[: self.rows]

    def problem(self, case: Degenerate) -> NetworkPotential:
        """The network at its own outputs, so that w0 is a minimum."""
        x, units = self.inputs(case), case.parameters[:-1].view(-1, OF_UNIT)
        into, out = nn.Linear(INPUTS, len(units)).double(), nn.Linear(len(units), 1).double()
        module = nn.Sequential(into, nn.ReLU(), out)
        with torch.no_grad():
            into.weight.copy_(units[:, :INPUTS])
            into.bias.copy_(units[:, INPUTS])
            out.weight.copy_(units[:, -1:].T)
            out.bias.copy_(case.parameters[-1:])
            return NetworkPotential(module, "mse", (x, module(x)), n=N_BETA)

    def _estimated(self, case: Degenerate, at: Place) -> tuple[float, float]:
        """λ̂ and its standard error."""

        def make() -> dict[str, float]:
            found = estimate(
                self.problem(case), "HMC", chains=self.chains, steps=self.steps, n_beta=N_BETA, localization=LOCALIZATION, seed=self.seed,
                progress=False,
            )  # fmt: skip
            return {"llc": float(found.llc), "se": float(found.llc_se)}

        asked = ["degenerate", case.name, self.rows, self.chains, self.steps, N_BETA, LOCALIZATION, self.seed]
        row = at.part(asked, make, f"{case.name}: chains")
        return row["llc"], row["se"]

    def _figure(self) -> Any:
        """The excess loss of each network along its last path and along the direction of steepest curvature."""
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other

        lengths, drawn = np.linspace(-REACH, REACH, 41), []
        for case in cases():
            x, w = self.inputs(case), case.parameters
            steep = torch.from_numpy(np.linalg.svd(jacobian(w, x))[2][0])
            (_, path), target = case.paths[-1], outputs(w, x)

            def rise(places: list[Tensor], x: Tensor = x, target: Tensor = target) -> tuple[Any, list[float]]:
                return lengths, [float((outputs(place, x) - target).square().mean()) for place in places]

            named = {
                "a flat path": rise([path(w, t) for t in lengths]),
                "steepest": rise([w + t * steep for t in lengths]),
            }
            axes: dict[str, Any] = {"xlabel": "length of the path", "ylabel": "L − L(w0)", "legend_position": "top"}
            drawn.append(curves(named, dashes=("solid", "dashed"), title=case.name, **axes))
        return beside_each_other(*drawn)


def jacobian(w: Tensor, x: Tensor) -> np.ndarray:
    """[n, d], of the outputs."""
    found: Tensor = torch.func.jacrev(outputs)(w, x)
    return np.asarray(found.numpy())


def along(case: Degenerate, path: Callable[[Tensor, float], Tensor], x: Tensor, reach: float = REACH) -> list[float]:
    """Excess losses, means of squares, at some lengths of a path to both sides."""
    w = case.parameters
    target = outputs(w, x)
    return [float((outputs(path(w, t), x) - target).square().mean()) for t in np.linspace(-reach, reach, 21)]


def tangents(case: Degenerate) -> np.ndarray:
    """[paths, d], by central differences: paths are straight or exponential, so that these have errors of 1e-10."""
    w, step = case.parameters, 1e-5
    return np.array([((path(w, step) - path(w, -step)) / (2 * step)).numpy() for _, path in case.paths])


def rank_of(directions: np.ndarray) -> int:
    values = np.linalg.svd(directions, compute_uv=False)
    return int((values > 1e-6 * values[0]).sum())
