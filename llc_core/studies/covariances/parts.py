"""Susceptibilities: what each part of the weights answers to, probe by probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.estimating import estimate
from llc_core.fields import is_list, short, whole
from llc_core.potentials.module.network import NetworkPotential
from llc_core.potentials.module.other_rows import moving_only, with_rows
from llc_core.results import Estimate
from llc_core.studies.covariances.draws import RowDraws, covariances, row_draws
from llc_core.studies.covariances.influences import draws_of


@dataclass(frozen=True)
class Susceptibilities:
    """What part C of the weights answers to probe p, from runs in which C alone moves. Source: arXiv 2504.18274.

    φ = L − L(w0) is the excess loss on the data, as far as C moves it, and ℓ_p the loss of a probe row.

    values, se: [parts, probes] χ = −nβ·Cov_C(φ, ℓ_p − L): by how much the mean of φ grows, for each small share h of the data that
        is replaced by the probe. The paper's equation has no factor nβ: divide by `n_beta` for it.
    added, added_se: −nβ·Cov_C(φ, ℓ_p), where the probe is added and nothing is taken away. It is 0 for a part that does not
        touch the probe, while χ is then nβ·Var_C(φ), since less of the data binds the part. χ is `added` plus that.
    parts, probes: their names.  estimates: the run of each part, with its λ̂ and its verdict.
    notes: for each part empty, or a sentence where there were too few draws.
    """

    parts: tuple[str, ...]
    probes: tuple[str, ...]
    values: np.ndarray
    se: np.ndarray
    added: np.ndarray
    added_se: np.ndarray
    estimates: Mapping[str, Estimate]
    notes: tuple[str, ...]

    @property
    def n_beta(self) -> float:
        return next(iter(self.estimates.values())).n_beta

    def rows(self) -> list[dict[str, Any]]:
        """The table: one dictionary for each part and probe, as pandas.DataFrame takes them."""
        return [
            {
                "part": part,
                "probe": probe,
                "susceptibility": float(self.values[i, j]),
                "se": float(self.se[i, j]),
                "added": float(self.added[i, j]),
                "added_se": float(self.added_se[i, j]),
            }
            for i, part in enumerate(self.parts)
            for j, probe in enumerate(self.probes)
        ]

    def plot(self) -> Any:
        """A heat map of χ, parts × probes, as a HoloViews object. The extra "plots" brings what it needs."""
        from llc_core.plots import covariances as drawing

        return drawing.susceptibilities(self)

    def __repr__(self) -> str:
        lines = [f"{'part':>16}  {'probe':>10}  {'χ':>10}  {'±':>8}  {'added':>10}  {'±':>8}"]
        for row in self.rows():
            numbers = (
                f"{row['susceptibility']:>10.3g}  {row['se']:>8.2g}  {row['added']:>10.3g}  {row['added_se']:>8.2g}"
            )
            lines.append(f"{row['part']:>16}  {row['probe']:>10}  {numbers}")
        said = (f"{part}: {note}" for part, note in zip(self.parts, self.notes, strict=True) if note)
        return "\n".join([*lines, *said])


def susceptibilities(
    problem: NetworkPotential,
    parts: Mapping[str, Any] | Sequence[str],
    probes: Any,
    sampler: Any = None,
    *,
    every: int = 10,
    most: int = 1024,
    **options: Any,
) -> Susceptibilities:
    """One run for each part of the weights, in which it alone moves, and what it answers to each probe.

    problem: the network with its data.
    parts: {name: what moves}, as `NetworkPotential(parameters=…)` has it: a pattern, a list of patterns, or masks such as
    `head_masks(model, layer, head)`; or patterns alone, which are then the names.
    probes: a batch (inputs, labels) of rows of their own, or a list of numbers of rows in the data.
    every, most: how often draws are kept and how many, as in RowLosses.  sampler, options: of `llc_core.estimate`.
    """
    if not isinstance(problem, NetworkPotential):
        raise ValueError(f"problem is a {type(problem).__name__}; parts are those of a NetworkPotential.")
    chosen = _parts(parts)
    own = _own_rows(probes)
    kept = {"every": every, "most": most}
    # Without numbers all rows would be kept, so that beside a batch one row is, which nobody asks for.
    asked = [{"name": "RowLosses", "rows": own or [0], "probes": not own, **kept}, {"name": "LossDraws", **kept}]
    further = list(options.pop("observables", ()))
    found: dict[str, Estimate] = {}
    values, notes = [], []
    for name, parameters in chosen.items():
        part = moving_only(problem, parameters)
        second = None if own else with_rows(part, probes)
        given = {"progress": False, **options}
        found[name] = estimate(part, sampler, observable=second, observables=[*asked, *further], **given)
        draws = row_draws(found[name])
        phi = draws_of(draws, "LossDraws")
        values.append(answers_of(draws, draws.of_rows if own else draws.of_probes))
        # A part may answer to no probe at all, so that the loss alone tells whether there are enough draws.
        notes.append(covariances(phi, phi, draws.weights).note)
    table = np.array(values)
    count = table.shape[2]
    names = tuple(f"row {k}" for k in own) if own else tuple(f"probe {k}" for k in range(count))
    chi, se, added, added_se = table.swapaxes(0, 1)
    return Susceptibilities(tuple(chosen), names, chi, se, added, added_se, found, tuple(notes))


def answers_of(draws: RowDraws, losses: np.ndarray) -> np.ndarray:
    """χ, its error, `added` and its error, [4, P], of a run with LossDraws at the same draws.  losses: [T, C, P] of probes, or means of some."""
    phi, factor = draws_of(draws, "LossDraws"), -draws.n_beta
    found = (covariances(phi, each, draws.weights) for each in (losses - phi, losses))
    return np.array([row for each in found for row in (factor * each.values[0], -factor * each.se[0])])


def _parts(parts: Any) -> dict[str, Any]:
    if isinstance(parts, str):
        return {parts: parts}
    chosen = dict(parts) if isinstance(parts, Mapping) else {each: each for each in parts} if is_list(parts) else {}
    if not chosen or not all(isinstance(name, str) for name in chosen):
        raise ValueError(f"parts is {short(parts)}; give {{name: what moves}}, such as {{'first': 'layers.0.*'}}.")
    return chosen


def _own_rows(probes: Any) -> list[int]:
    """Numbers of rows in the data; empty where probes are a batch."""
    numbers = isinstance(probes, list | tuple | range) and all(np.ndim(each) == 0 for each in probes)
    if not numbers:
        return []
    if not len(probes):
        raise ValueError("probes is empty; give a batch (inputs, labels) or numbers of rows.")
    return [whole("probes", int(each) if isinstance(each, np.integer) else each, 0) for each in probes]
