"""Which chains find 25 modes: the divergence of what they visit from the exact masses, method beside method (Deng et al. 2022)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.compute.cores import available_cores
from llc_core.fields import Settings, hyper, is_list, short
from llc_core.interactions import Interaction, build
from llc_core.interactions.replica_exchange import ReplicaExchange
from llc_core.plane.exact import kl_of_cells, plane_law
from llc_core.plane.run import PlaneRun
from llc_core.potentials.plane.surfaces import surface
from llc_core.samplers.sgld import SGLD
from llc_core.studies.papers.claims import Claim, Measured, at_least, less
from llc_core.studies.papers.study import Cost, Found, Place, Study, register

NOISE = 0.25
"""Standard deviation of the noise on energies and slopes."""
GRADIENTS_A_SECOND = 4e6
"""Of one core, RESULTS.md."""
COUNTED_FROM = 1000
"""Steps after the pilot before places are counted."""
OF_ITS_MASS = 0.1
"""A mode that has less than this share of its mass was not found."""
GRID = 2000


@dataclass(frozen=True)
class Method(Settings):
    """label: its name.  step_size: of SGLD, in the half convention.  chains: of a group; a ladder has one a level.
    interaction: a name or a table; None: chains do not interact.  starts: [P, 2]; None: w0.
    """

    what = "method"

    label: str = hyper("", read=lambda label, value: str(value))
    step_size: float = hyper(6e-3, 0.0, 1.0, open_low=True)
    chains: int = hyper(5, 1, 1000)
    interaction: Mapping[str, Any] | None = hyper(None, read=lambda label, value: build(value).to_dict())
    starts: tuple[tuple[float, float], ...] | None = hyper(
        None, read=lambda label, value: tuple((float(x), float(y)) for x, y in value)
    )

    @property
    def built(self) -> Interaction | None:
        return None if self.interaction is None else build(self.interaction)


def read_methods(label: str, value: Any) -> tuple[Method, ...]:
    if not is_list(value) or not len(value):
        raise ValueError(f"{label} is {short(value)}; give a list of tables, each with a label and a step_size.")
    return tuple(Method.read_from(label, each) for each in value)


def started(method: Method, gradients: int, trials: int, seed: int) -> PlaneRun:
    """A run of a method on the 25 modes with as many gradients a trial, before its first step."""
    own = method.built
    return PlaneRun(
        SGLD(step_size=method.step_size), surface(noise=NOISE), own, steps=gradients // method.chains, trials=trials, seed=seed,
        count_from=(getattr(own, "pilot", 0) or 0) + COUNTED_FROM, starts=method.starts,
        **({} if isinstance(own, ReplicaExchange) else {"chains": method.chains}),
    )  # fmt: skip


@register
@dataclass(frozen=True)
class Modes(Study):
    """Methods at equal gradients.

    gradients: of one trial, all chains together.  trials: independent ones, for the errors.  looks: points of the curves.
    contour: label of the method whose claims are judged against the others.  show: the divergence along the way ("course"), or
    what each method found over what is there, cell by cell ("cells").
    """

    methods: tuple[Method, ...] = hyper((), read=read_methods)
    gradients: int = hyper(400_000, 1000, 10_000_000_000)
    trials: int = hyper(20, 2, 10_000)
    looks: int = hyper(20, 1, 1000)
    seed: int = hyper(0, 0, 2**31)
    contour: str = hyper("", read=lambda label, value: str(value))
    show: str = hyper("course", choices=("course", "cells"))

    def agree(self) -> None:
        labels = [method.label for method in self.methods]
        if self.contour not in labels:
            raise ValueError(f"contour is {short(self.contour)}; give the label of a method: {', '.join(labels)}.")

    def cost(self) -> Cost:
        processor = len(self.methods) * (self.gradients * self.trials / GRADIENTS_A_SECOND + 5)
        words = f"{len(self.methods)} methods, {self.trials} trials of {self.gradients:,} gradients"
        return Cost(processor / max(1, available_cores() // 2), 300, words)

    def run(self, at: Place) -> Found:
        masses = plane_law(surface(noise=NOISE), points=GRID).cells(5)
        rows = {method.label: self._row(method, masses, at) for method in self.methods}
        kl = {name: Measured.of(row["kl"][-1]) for name, row in rows.items()}
        claims: list[Claim] = [
            less(f"{self.contour} is nearer to the exact masses than {name} (KL of the cells)", (self.contour, kl[self.contour]), (name, one))
            for name, one in kl.items()
            if name != self.contour
        ]  # fmt: skip
        share = (np.array(rows[self.contour]["cells"]) / masses).min(axis=(1, 2))
        text = f"{self.contour} finds all 25 modes (least share of a cell's mass)"
        claims.append(at_least(text, Measured.of(share), OF_ITS_MASS))
        numbers = {
            name: {"KL": one.value, "se": one.se, "median": float(np.median(rows[name]["kl"][-1])), "seconds": rows[name]["seconds"]}
            for name, one in kl.items()
        }  # fmt: skip
        table = [f"{name:32} KL {one}, median {numbers[name]['median']:.4f}" for name, one in kl.items()]
        return Found(claims, numbers, lambda: self._figure(rows, masses), table)

    def _row(self, method: Method, masses: np.ndarray, at: Place) -> Mapping[str, Any]:
        """gradients [looks], kl [looks, trials], cells [trials, 5, 5], seconds of the processor."""

        def make() -> dict[str, Any]:
            run = started(method, self.gradients, self.trials, self.seed)
            course, began = [], time.process_time()
            while not run.finished:
                seen = run.advance(-(-run.total_steps // self.looks))
                course.append((seen.gradients, kl_of_cells(masses, seen.masses()).tolist()))
            gradients, kl = zip(*course, strict=True)
            cells = seen.masses().round(6).tolist()
            return {"gradients": gradients, "kl": kl, "cells": cells, "seconds": round(time.process_time() - began, 1)}

        asked = ["modes", method.to_dict(), self.gradients, self.trials, self.looks, self.seed]
        return at.part(asked, make, method.label)

    def _figure(self, rows: Mapping[str, Mapping[str, Any]], masses: np.ndarray) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import beside_each_other, finished, holoviews

        if self.show == "course":
            named = {}
            for name, row in rows.items():
                kl = np.array(row["kl"], dtype=float)
                there = np.isfinite(kl).all(axis=1)
                mean, se = kl[there].mean(axis=1), kl[there].std(axis=1, ddof=1) / self.trials**0.5
                named[name] = (np.array(row["gradients"])[there], mean, np.stack([mean - se, mean + se]))
            return curves(
                named, xlabel="gradients", ylabel="KL of the cells, mean ± s.e.", logx=True, logy=True, width=900, height=420,
                legend_position="right",
            )  # fmt: skip
        hv = holoviews()
        looks: dict[str, Any] = {
            "cmap": "RdBu_r",
            "clim": (0.5, 1.5),
            "colorbar": True,
            "clabel": "found / exact",
            "height": 300,
        }
        looks |= {"xlabel": "x", "ylabel": "y", "show_grid": False}
        images = {name: np.flipud((np.mean(row["cells"], axis=0) / masses).T) for name, row in rows.items()}
        return beside_each_other(
            *(
                finished(hv.Image(image, bounds=(-2.5, -2.5, 2.5, 2.5)), title=name, **looks)
                for name, image in images.items()
            )
        )
