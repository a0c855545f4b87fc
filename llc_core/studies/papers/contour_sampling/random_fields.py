"""The field that θ learns by, CSGLD's θ(J)^ζ and the new θ(J), at small and at large ζ (Deng et al. 2022, appendix B.1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from llc_core.fields import hyper
from llc_core.interactions.contour import Contour
from llc_core.plane.exact import plane_law
from llc_core.plane.run import PlaneRun
from llc_core.potentials.plane.surfaces import surface
from llc_core.samplers.sgld import SGLD
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, less, near, ours
from llc_core.studies.papers.contour_sampling.mode_methods import NOISE, PIECE
from llc_core.studies.papers.contour_sampling.modes import GRADIENTS_A_SECOND, GRID
from llc_core.studies.papers.study import Cost, Found, Place, Study, register, rising

USUAL, STEP, LOW, HIGH = 0.75, 6e-3, -1.0, 11.4945
"""The paper's ζ on the 25 modes, its step in the half convention, and the ends of its bins."""
STARTS = ((0, -1), (0, 0), (-1, 0), (0, 1), (1, 0))
AT_A_MODE = 0.25
"""A chain is at a mode within this distance of it along both axes; they are one apart."""
STILL, MOST = 0.01, 0.5
"""Shares of the way from where θ begins to θ*: θ did not move below the one, and came most of the way above the other."""
NEW, OLD, NONE = "new field", "old field", "no interaction"
WAYS = (NEW, OLD, NONE)


@register
@dataclass(frozen=True)
class RandomFields(Study):
    """Five chains on the 25 modes whose energy is multiplied by s = ζ/0.75, as more data would: bins are s times as wide, steps 1/s of
    the usual ones, so that ζ·τ/Δu, the force and the new field's θ* on U/s stay about what they are at ζ = 0.75. The old field's θ* is
    the bins' masses.

    zetas: ζ.  large: from which ζ on the paper's words are judged.  steps: of each chain.  trials: independent ones, the same noise
    for each field.  looks: points of the curves.
    """

    zetas: tuple[float, ...] = hyper((0.75, 20.0), read=rising("numbers", 2, above=0))
    large: float = hyper(20.0, 0.0, 1e7)
    steps: int = hyper(200_000, 1000, 1_000_000_000)
    trials: int = hyper(10, 2, 10_000)
    looks: int = hyper(20, 1, 1000)
    seed: int = hyper(0, 0, 2**31)

    def agree(self) -> None:
        if not self.large <= max(self.zetas):
            raise ValueError(f"large is {self.large:g}, above all of zetas; give one that is not, such as 20.")

    def cost(self) -> Cost:
        gradients = len(self.zetas) * len(WAYS) * self.trials * self.steps * len(STARTS)
        words = f"{self.trials} trials of five chains × {self.steps:,} steps, at {len(self.zetas)} ζ by two fields and without any"
        return Cost(gradients / GRADIENTS_A_SECOND + 10, 400, words)

    def run(self, at: Place) -> Found:
        rows = {(zeta, way): self._row(zeta, way, at) for zeta in self.zetas for way in WAYS}
        gone = {
            key: Measured.of(1 - np.array(row["off"][-1]) / row["off at first"])
            for key, row in rows.items()
            if key[1] != NONE
        }
        came = {key: np.array(row["came"], dtype=float) for key, row in rows.items()}
        claims: list[Claim] = []
        for zeta in (zeta for zeta in self.zetas if zeta >= self.large):
            new, old, none = (came[zeta, way] for way in WAYS)
            told, text = f"ζ = {zeta:g}", "share of its way to θ*"
            claims += [
                at_most(f"{told}: by the old field θ stays where it begins ({text})", gone[zeta, OLD], STILL),
                at_least(f"{told}: by the new field θ comes most of the way ({text})", gone[zeta, NEW], MOST),
                less(
                    f"{told}: chains come to another mode more often by the new field (times in a trial)", (OLD, Measured.of(old)),
                    (NEW, Measured.of(new)), apart=Measured.of(new - old),
                ),
                *ours([near(f"{told}: by the old field they do as without any (difference)", Measured.of(old - none), 0.0, 1.0, NONE)]),
            ]  # fmt: skip
        least = min(self.zetas)
        if least < self.large:
            text = f"ζ = {least:g}: by the old field too θ comes most of the way (share of its way to θ*)"
            claims += ours([at_least(text, gone[least, OLD], MOST)])
        table = []
        for (zeta, way), row in rows.items():
            line = f"ζ = {zeta:<8g} {way:14} other modes reached {Measured.of(row['came'])} times in a trial, {Measured.of(row['found'])} of 25"
            if way != NONE:
                off = Measured.of(row["off"][-1])
                line += f"; θ off θ* by {off}, {row['off at first']:.3g} at first; multiplier below 0 at {Measured.of(row['turned'])} of steps"
            table.append(line)
        numbers = {
            f"ζ = {zeta:g}, {way}": {
                "came": Measured.of(row["came"]).numbers, "found": Measured.of(row["found"]).numbers,
                **({} if way == NONE else {"way gone": gone[zeta, way].numbers, "off at first": row["off at first"]}),
            }
            for (zeta, way), row in rows.items()
        }  # fmt: skip
        return Found(claims, numbers, lambda: self._figure(rows, gone, came), table)

    def _row(self, zeta: float, way: str, at: Place) -> Mapping[str, Any]:
        asked = ["fields of θ", zeta, way, self.steps, self.trials, self.looks, self.seed]
        return at.part(asked, lambda: self._made(zeta, way), f"ζ = {zeta:g}, {way}")

    def _made(self, zeta: float, way: str) -> dict[str, Any]:
        """steps [L]: at looks.  off [L, trials]: total variation between θ and θ*.  came, found, turned [trials]: how often chains came
        to another mode than their last one, how many modes they were at, and the share of steps whose multiplier was below 0."""
        scale = zeta / USUAL
        own = Contour(
            low=LOW * scale, high=HIGH * scale, zeta=zeta, field="old" if way == OLD else "new", freeze="never"
        )
        target = surface(noise=NOISE, n_beta=scale)
        fixed = plane_law(target, points=GRID).theta(own.edges, 1.0 if way == OLD else zeta)
        run = PlaneRun(
            SGLD(step_size=STEP / scale), target, None if way == NONE else own, chains=len(STARTS), trials=self.trials,
            steps=self.steps, starts=STARTS, seed=self.seed,
        )  # fmt: skip
        pieces = -(-self.steps // PIECE)
        due = {round(pieces * (k + 1) / self.looks) for k in range(self.looks)}
        last = np.repeat(names(np.array(STARTS))[None], self.trials, axis=0)
        came, turned = np.zeros(self.trials), np.zeros(self.trials)
        found = np.zeros((self.trials, 25), dtype=bool)
        rows: dict[str, list[Any]] = {"steps": [], "off": []}
        for piece in range(1, pieces + 1):
            seen = run.advance(PIECE)
            modes = at_modes(seen.trail, last)
            came += (np.diff(modes, axis=1) != 0).sum(axis=(1, 2))
            found[np.arange(self.trials)[:, None], modes.reshape(self.trials, -1)] = True
            turned += (seen.heat < 0).sum(axis=(1, 2))
            last = modes[:, -1]
            if piece in due and way != NONE:
                theta = seen.shared[:, : own.bins]
                off = np.abs(theta / theta.sum(axis=1, keepdims=True) - fixed).sum(axis=1) / 2
                rows["steps"].append(seen.steps)
                rows["off"].append(off.round(9).tolist())
        first = round(float(np.abs(1 / own.bins - fixed).sum() / 2), 9)
        return {
            **rows, "off at first": first, "came": came.tolist(), "found": found.sum(axis=1).tolist(),
            "turned": (turned / self.steps / len(STARTS)).tolist(),
        }  # fmt: skip

    def _figure(
        self, rows: Mapping[tuple[float, str], Any], gone: Mapping[tuple[float, str], Measured], came: Mapping[Any, Any]
    ) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other, line_at

        ways = {
            way: (self.zetas, [gone[z, way].value for z in self.zetas], [gone[z, way].se for z in self.zetas])
            for way in (NEW, OLD)
        }
        reached = {}
        for way in WAYS:
            each = {zeta: Measured.of(came[zeta, way]) for zeta in self.zetas}
            some = {zeta: one for zeta, one in each.items() if one.value}
            reached[way] = (list(some), [one.value for one in some.values()], [one.se for one in some.values()])
        shown = {self.zetas[0], min(zeta for zeta in self.zetas if zeta >= self.large), self.zetas[-1]}
        along = {
            f"ζ = {zeta:g}, {way}": (np.array(row["steps"]) / 1000, np.mean(row["off"], axis=1))
            for (zeta, way), row in rows.items()
            if way != NONE and zeta in shown
        }
        colors = [color for color in CHAINS for _ in (NEW, OLD)]
        looks: dict[str, Any] = {"height": 380, "legend_position": "bottom"}
        return beside_each_other(
            curves(ways, line_at(0.0), xlabel="ζ", ylabel="share of θ's way to θ*, ± 2 s.e.", logx=True, **looks),
            curves(reached, xlabel="ζ", ylabel="other modes reached (none: no point)", logx=True, logy=True, **looks),
            curves(along, colors=colors, dashes=("solid", "dashed"), xlabel="steps, in thousands", ylabel="total variation of θ and θ*",
                   **{**looks, "legend_position": "right"}),
        )  # fmt: skip


def names(modes: np.ndarray) -> np.ndarray:
    """A number from 0 to 24 for the mode nearest to places [..., 2]."""
    row, column = np.moveaxis(np.clip(np.rint(modes), -2, 2).astype(int) + 2, -1, 0)
    named: np.ndarray = row * 5 + column
    return named


def at_modes(trail: np.ndarray, last: np.ndarray) -> np.ndarray:
    """[R, T + 1, P], the mode at which each chain was last, at first `last` [R, P]: a chain on a ridge between two belongs to the one it
    came from, however often it crosses.  trail: [R, T, P, 2]."""
    there = np.abs(trail - np.rint(trail)).max(axis=-1) <= AT_A_MODE
    named = np.concatenate([last[:, None], names(trail)], axis=1)
    when = np.arange(named.shape[1])[None, :, None] * np.pad(there, ((0, 0), (1, 0), (0, 0)))
    found: np.ndarray = np.take_along_axis(named, np.maximum.accumulate(when, axis=1), axis=1)
    return found
