"""Which chains find 25 modes: the divergence of what they visit from the exact masses, method beside method (Deng et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.cores import available_cores
from llc_core.fields import hyper, is_list, short
from llc_core.plane.exact import PlaneLaw, kl_of_cells, plane_law
from llc_core.potentials.plane.surfaces import surface
from llc_core.studies.papers.claims import Claim, Measured, at_least, less
from llc_core.studies.papers.contour_sampling.mode_methods import NOISE, Method, followed, read_methods
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

GRADIENTS_A_SECOND, PUSHES_A_SECOND = 4e6, 6e3
"""Of one core: gradients of chains, RESULTS.md, and steps of 100 particles."""
LOOK_SECONDS = 0.005
"""For a trial's estimate by nearest neighbours."""
OF_ITS_MASS, OF_TRIALS = 0.1, 0.8
"""A mode that has less than this share of its mass was not found; share of the trials that are to find all."""
GRID = 2000


def read_labels(label: str, value: Any) -> tuple[str, ...]:
    if not is_list(value):
        raise ValueError(f"{label} is {short(value)}; give a list of labels of methods.")
    return tuple(map(str, value))


@register
@dataclass(frozen=True)
class Modes(Study):
    """Methods at equal gradients, but where a method says otherwise.

    gradients: of one trial, all chains together.  trials: independent ones, for the errors.  looks: points of the curves.
    contour: label of the method whose claims are judged against the others.  ours: labels of those that the paper does not have,
    which are in the table and in the figure only.  show: the divergence along the way ("course"), or what each method found over
    what is there, cell by cell ("cells"), the contour's also before its weights.
    """

    methods: tuple[Method, ...] = hyper((), read=read_methods)
    gradients: int = hyper(400_000, 1000, 10_000_000_000)
    trials: int = hyper(20, 2, 10_000)
    looks: int = hyper(10, 1, 1000)
    seed: int = hyper(0, 0, 2**31)
    contour: str = hyper("", read=lambda label, value: str(value))
    ours: tuple[str, ...] = hyper((), read=read_labels)
    show: str = hyper("course", choices=("course", "cells"))

    def agree(self) -> None:
        labels = [method.label for method in self.methods]
        for name, each in (("contour", self.contour), *(("ours", each) for each in self.ours)):
            if each not in labels:
                raise ValueError(f"{name} is {short(each)}; give the label of a method: {', '.join(labels)}.")

    def cost(self) -> Cost:
        rates = [100 * PUSHES_A_SECOND if method.particles else GRADIENTS_A_SECOND for method in self.methods]
        moves = [
            method.times * self.gradients * self.trials / rate for method, rate in zip(self.methods, rates, strict=True)
        ]
        looks = len(self.methods) * (self.trials * self.looks * LOOK_SECONDS + 5)
        # Two figures run the same methods, or some of them.
        words = f"{self.trials} trials of {self.gradients:,} gradients for each method" + "".join(
            f", of {round(each.times * self.gradients):,} for {each.label.partition(',')[0]}"
            for each in self.methods
            if each.times != 1
        )
        return Cost(sum(moves) + looks / max(1, available_cores() // 2), 400, words)

    def run(self, at: Place) -> Found:
        law = plane_law(surface(noise=NOISE), points=GRID)
        masses = law.cells(5)
        rows = {method.label: self._row(method, law, at) for method in self.methods}
        kl, near = ({name: Measured.of(row[what][-1]) for name, row in rows.items()} for what in ("kl", "near"))
        # Particles push each other apart: their nearest neighbours are farther than those of independent points.
        spread = {method.label for method in self.methods if method.particles}
        claims: list[Claim] = [
            less(
                f"{self.contour} is nearer to the exact {words} than {name} (KL {how})", (self.contour, found[self.contour]), (name, one),
                apart=Measured.of(np.subtract(rows[name][what][-1], rows[self.contour][what][-1])),
            )
            for found, what, words, how in (
                (kl, "kl", "masses", "of the cells"), (near, "near", "distribution", "by nearest neighbours")
            )
            for name, one in found.items()
            if name != self.contour and name not in self.ours and not (found is near and name in spread)
        ]  # fmt: skip
        own = rows[self.contour]
        whole = np.array([(cells >= OF_ITS_MASS * masses).all() for cells in np.array(own["cells"])])
        text = f"{self.contour} finds all 25 modes (share of trials in which every cell has {OF_ITS_MASS:g} of its mass or more)"
        claim = at_least(text, share_of(whole), OF_TRIALS)
        claims.append(Claim(text, claim.holds, f"{whole.sum()} of {self.trials} trials, so {claim.found}"))
        before = kl_of_cells(masses, np.array(own["bare"]))
        text = f"its weights bring {self.contour} nearer to the exact masses (KL of the cells)"
        after = ("after", kl[self.contour])
        claims.append(
            less(text, after, ("before", Measured.of(before)), apart=Measured.of(before - np.array(own["kl"][-1])))
        )
        numbers = {
            name: {
                "KL": one.value, "se": one.se, "median": float(np.median(rows[name]["kl"][-1])), "by neighbours": near[name].numbers,
                "seconds": rows[name]["seconds"][-1], "steps": rows[name]["steps"][-1],
            }
            for name, one in kl.items()
        }  # fmt: skip
        table = [
            f"{name:32} KL {one}, median {numbers[name]['median']:.4f}; by nearest neighbours {near[name]}; "
            f"{rows[name]['steps'][-1]:,} steps, {rows[name]['seconds'][-1]:.2g} s of one core for a trial"
            for name, one in kl.items()
        ]
        return Found(claims, numbers, lambda: self._figure(rows, masses), table)

    def _row(self, method: Method, law: PlaneLaw, at: Place) -> Mapping[str, Any]:
        def make() -> dict[str, Any]:
            return followed(method, self.gradients, self.trials, self.looks, self.seed, law)

        asked = ["modes, exact points by trial", method.to_dict(), self.gradients, self.trials, self.looks, self.seed]
        return at.part(asked, make, method.label)

    def _figure(self, rows: Mapping[str, Mapping[str, Any]], masses: np.ndarray) -> Any:
        from llc_core.plots.style import beside_each_other

        if self.show == "course":
            axes = {
                "gradients": "gradients of a trial",
                "steps": "steps of each chain",
                "seconds": "seconds of one core, for a trial",
            }
            panels = [self._course(rows, "kl", along, words) for along, words in axes.items()]
            return beside_each_other(*panels, self._course(rows, "near", "gradients", axes["gradients"]))
        maps = {name: row["cells"] for name, row in rows.items()}
        maps[f"{self.contour}, before its weights"] = rows[self.contour]["bare"]
        return beside_each_other(*(self._map(name, np.mean(cells, axis=0) / masses) for name, cells in maps.items()))

    def _course(self, rows: Mapping[str, Mapping[str, Any]], what: str, along: str, words: str) -> Any:
        """Means over the trials with bands of one standard error."""
        from llc_core.plots.kinds import curves

        named = {}
        for name, row in rows.items():
            kl = np.array(row[what], dtype=float)
            there = np.isfinite(kl).all(axis=1)
            mean, se = kl[there].mean(axis=1), kl[there].std(axis=1, ddof=1) / self.trials**0.5
            named[name] = (np.array(row[along])[there], mean, np.stack([mean - se, mean + se]))
        how = "KL of the cells" if what == "kl" else "KL by nearest neighbours"
        return curves(
            named, xlabel=words, ylabel=f"{how}, mean ± s.e.", logx=True, logy=what == "kl", height=420, legend_position="right"
        )  # fmt: skip

    def _map(self, name: str, ratio: np.ndarray) -> Any:
        from llc_core.plots.style import finished, holoviews

        looks: dict[str, Any] = {"cmap": "RdBu_r", "clim": (0.5, 1.5), "colorbar": True, "clabel": "found / exact"}
        looks |= {"xlabel": "x", "ylabel": "y", "show_grid": False, "height": 300}
        image = holoviews().Image(np.flipud(ratio.T), bounds=(-2.5, -2.5, 2.5, 2.5))
        return finished(image, title=name, **looks)


def share_of(held: np.ndarray) -> Measured:
    """The share of trials [R] in which something held, and its binomial error, with two more of either kind: then two errors are
    right for all or none of them too (Agresti & Coull 1998)."""
    count = len(held) + 4
    share = float((held.sum() + 2) / count)
    return Measured(share, (share * (1 - share) / count) ** 0.5)
