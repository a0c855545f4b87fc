"""λ̂ of every attention head over the training of a small language model, by two samplers at several step sizes (Hitchcock & Hoogland,
figure 4 and appendix D.4). Long, since the model, its chains and what is claimed of them are read together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from torch import nn

from llc_core.estimating import estimate
from llc_core.fields import Settings, hyper, is_list, short
from llc_core.networks.checkpoints import potential_at
from llc_core.networks.data.splits import Split
from llc_core.networks.data.tokens import text_rows
from llc_core.networks.heads import head_masks
from llc_core.networks.models import build_model
from llc_core.networks.optimizers import AdamW
from llc_core.networks.training import Checkpoint, train
from llc_core.samplers.registry import build as build_sampler
from llc_core.studies.papers.claims import Claim, Measured, at_least, less
from llc_core.studies.papers.learning_coefficient.crossings import rank_correlation, read_steps
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register, rising

FLOPS = 2e10
"""Of one core in a second, in single precision, at these sizes of matrices."""
OVERHEAD = 4e-3
"""Seconds of a step of one chain, however small the network."""
DRAWN = 100
"""Points of a trace that is kept."""
SHOWN = 4096
"""Rows that are trained on, and as many held out, where the text has as many."""
LOST = 3.0
"""An estimate this many times the sampler's median over ε, or as small a part of it, is no estimate of the same thing."""


@dataclass(frozen=True)
class Way(Settings):
    """label: how it is called.  sampler: its settings.  scale: its ε for each ε of the axis, since adaptive ones have another unit."""

    what = "sampler"

    label: str = hyper("SGLD", read=lambda label, value: str(value))
    sampler: Mapping[str, Any] = hyper(
        lambda: {"name": "SGLD"}, read=lambda label, value: build_sampler(value).to_dict()
    )
    scale: float = hyper(1.0, 0.0, 1e9, open_low=True)


def read_ways(label: str, value: Any) -> tuple[Way, ...]:
    if not is_list(value) or len(value) < 2:
        raise ValueError(f"{label} is {short(value)}; give two tables or more with label, sampler and scale.")
    return tuple(Way.read_from(label, each) for each in value)


@register
@dataclass(frozen=True)
class Heads(Study):
    """Model: attention only, of `layers` × `heads` heads and dimension `dim`, on rows of `length` tokens of text that ships with Python.

    checkpoints: steps of AdamW, in rising order; the last is the end of the training.  per_layer: heads of each layer that are looked at.
    rows: sequences that λ̂ counts, of those that are trained on.  chain_batch: of a chain's minibatches.
    step_sizes: ε of the axis; a sampler has them times its `scale`.
    """

    ways: tuple[Way, ...] = hyper((), read=read_ways)
    step_sizes: tuple[float, ...] = hyper((1e-4, 3e-4, 1e-3, 3e-3), read=read_steps)
    vocabulary: int = hyper(5000, 256, 10**6)
    length: int = hyper(1024, 4, 10**5)
    dim: int = hyper(256, 1, 65536)
    layers: int = hyper(4, 1, 1000)
    heads: int = hyper(8, 1, 65536)
    per_layer: int = hyper(8, 1, 65536)
    checkpoints: tuple[float, ...] = hyper((100, 400, 1200), read=rising("numbers of steps", 2, low=1))
    learning_rate: float = hyper(1e-3, 0.0, 1.0, open_low=True)
    weight_decay: float = hyper(0.05, 0.0, 1e3)
    batch: int = hyper(32, 1, 10**6)
    rows: int = hyper(128, 4, 10**7)
    chain_batch: int = hyper(32, 1, 10**7)
    localization: float = hyper(100.0, 0.0, 1e9, open_low=True)
    chains: int = hyper(2, 2, 1000)
    steps: int = hyper(200, 10, 10**7)
    burn_in: float = hyper(0.5, 0.0, 1.0, open_high=True)
    seed: int = hyper(0, 0, 2**31)

    def agree(self) -> None:
        if self.per_layer > self.heads:
            raise ValueError(f"per_layer is {self.per_layer} of {self.heads} heads; give at most as many.")
        if self.dim % self.heads:
            raise ValueError(f"dim is {self.dim}, which {self.heads} heads cannot share; use a multiple of heads.")

    @property
    def parameters(self) -> int:
        own = 2 * self.vocabulary + self.length + 2 + self.layers * (4 * self.dim + 2)
        return self.dim * own

    def _row_flops(self) -> float:
        """Of one sequence there and back: three products for each weight, and those of attention."""
        weights = self.vocabulary * self.dim + 4 * self.layers * self.dim**2
        return 6.0 * self.length * weights + 12.0 * self.layers * self.length**2 * self.dim

    def cost(self) -> Cost:
        runs = len(self.checkpoints) * self.layers * self.per_layer * len(self.ways)
        chains = runs * self.chains * len(self.step_sizes) * self.steps
        rows = self.checkpoints[-1] * self.batch + chains * min(self.chain_batch, self.rows)
        seconds = rows * self._row_flops() / FLOPS + chains * OVERHEAD + 15
        side = self.chains * len(self.step_sizes) * min(self.chain_batch, self.rows) * self.length
        memory = (
            600
            + (4 * self.parameters * (5 + len(self.checkpoints)) + 12 * side * (self.vocabulary + 8 * self.dim)) / 2**20
        )
        words = (
            f"a transformer of {self.layers} × {self.heads} heads and {self.parameters:,} parameters, {self.checkpoints[-1]:,g} steps; "
            f"{self.layers * self.per_layer} heads at {len(self.checkpoints)} checkpoints by {len(self.ways)} samplers × "
            f"{len(self.step_sizes)} ε, {self.chains} chains × {self.steps:,} steps"
        )
        return Cost(on_cores(seconds, 1), memory, words)

    def run(self, at: Place) -> Found:
        course = _Course(self, at)
        places = [(layer, head) for layer in range(self.layers) for head in range(self.per_layer)]
        rows: dict[str, list[Mapping[str, Any]]] = {}
        for way in self.ways:
            for checkpoint in self.checkpoints:
                for layer, head in places:
                    words = f"step {checkpoint:g}, layer {layer}, head {head}, {way.label}"
                    row = at.part(
                        [*self._asked(), way.to_dict(), checkpoint, layer, head],
                        lambda way=way, step=checkpoint, place=(layer, head): self._measured(
                            course, way, int(step), place, at
                        ),  # type: ignore[misc]
                        words,
                    )
                    rows.setdefault(way.label, []).append(row)
        shape = len(self.checkpoints), len(places), len(self.step_sizes)
        found = {
            label: {key: np.array([row[key] for row in kept], float).reshape(shape) for key in ("llc", "se", "dead")}
            for label, kept in rows.items()
        }  # fmt: skip
        losses = [float(row["loss"]) for row in next(iter(rows.values()))[:: len(places)]]
        numbers = {
            "checkpoints": self.checkpoints, "step_sizes": self.step_sizes, "places": places, "held-out loss": losses,
            **{label: {key: each.tolist() for key, each in of.items()} for label, of in found.items()},
        }  # fmt: skip
        table = [f"held-out loss at the checkpoints: {', '.join(f'{each:.3f}' for each in losses)}"]
        table += [self._line(label, of, i) for label, of in found.items() for i in range(len(self.step_sizes))]
        at.arrived(self._asked())
        return Found(self._claims(found), numbers, lambda: self._figure(found, rows), table)

    def _asked(self) -> list[Any]:
        own = {name: value for name, value in self.to_dict().items() if name not in ("ways", "per_layer", "name")}
        return ["heads", own]

    def _measured(self, course: _Course, way: Way, step: int, place: tuple[int, int], at: Place) -> dict[str, Any]:
        """llc, se, dead by ε; traces [ε][points][chains]; the held-out loss."""
        checkpoint = course.checkpoints[step]
        found = estimate(
            potential_at(course.model, checkpoint, course.some, parameters=head_masks(course.model, *place), batch_size=self.chain_batch),
            build_sampler(way.sampler), gradient="minibatch", localization=self.localization, chains=self.chains, steps=self.steps,
            burn_in=self.burn_in, grid={"step_size": [way.scale * size for size in self.step_sizes]}, seed=self.seed, device=at.device,
            progress=False,
        )  # fmt: skip
        every = max(1, self.steps // DRAWN)

        def plain(value: float) -> float | None:
            return float(value) if math.isfinite(value) else None

        return {
            "llc": [plain(each.llc) for each in found],
            "se": [plain(each.llc_se) for each in found],
            "dead": [each.diverged for each in found],
            "traces": [[[plain(float(x)) for x in row] for row in each.trace[::every]] for each in found],
            "loss": checkpoint.test_loss,
        }

    def _line(self, label: str, found: Mapping[str, np.ndarray], place: int) -> str:
        means = ", ".join(str(Measured.of(each)) for each in found["llc"][:, :, place])
        share = self._lost(found)[:, place].mean()
        return f"{label}, ε = {self.step_sizes[place]:g}: mean over heads at the checkpoints {means}; lost {share:.0%}"

    def _lost(self, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Of each head at the last checkpoint and each ε, whether λ̂ is none, a chain has died, or it is LOST times its median, [heads, ε]."""
        llc, dead = found["llc"][-1], found["dead"][-1]
        middle = np.nanmedian(llc, axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return np.asarray(~((dead == 0) & (llc < LOST * middle) & (llc * LOST > middle)))

    def _claims(self, found: Mapping[str, Mapping[str, np.ndarray]]) -> list[Claim]:
        claims, works, middle = [], {}, {}
        for label, of in found.items():
            lost = self._lost(of)
            works[label] = np.asarray(~lost.any(axis=0))
            some = works[label].copy()
            some[0] |= not some.any()
            kept = np.where(some, of["llc"], np.nan)
            middle[label] = np.nanmean(kept, axis=2)
            rise = Measured.of(middle[label][-1] - middle[label][0])
            claims += [
                at_least(f"{label}: λ̂ of heads rises over the training (last less first, mean over ε that work)", rise, 0.0),
                at_least(
                    f"{label}: estimates fail at ε = {self.step_sizes[-1]:g}, the largest (share of heads)",
                    Measured.of(lost[:, -1].astype(float)), 0.5,
                ),
            ]  # fmt: skip
        one, other = list(found)[:2]
        both = works[one] & works[other]
        text = f"{other} depends less on ε than {one} where both work (sd of log₁₀ λ̂ over ε)"
        if both.sum() < 2:  # over a single ε nothing spreads
            claims.append(Claim(text, None, f"both work at {both.sum()} of {len(both)} ε"))
        else:
            spread = {
                label: Measured.of(np.std(np.log10(found[label]["llc"][-1][:, both]), axis=1)) for label in (one, other)
            }
            claims.append(less(text, (other, spread[other]), (one, spread[one])))
        a, b = (middle[label].ravel() for label in (one, other))
        rank = Measured.resampled(lambda some: rank_correlation(a, b, some), len(a), seed=self.seed)
        claims.append(at_least("both samplers order heads and checkpoints alike (rank correlation)", rank, 0.7))
        return claims

    def _figure(
        self, found: Mapping[str, Mapping[str, np.ndarray]], rows: Mapping[str, list[Mapping[str, Any]]]
    ) -> Any:
        """For each sampler and ε: λ̂ of every head over the training, and below it the traces of the last head at the last checkpoint."""
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other

        drawn: list[Any] = []
        for label, of in found.items():
            traces = rows[label][-1]["traces"]
            for place, size in enumerate(self.step_sizes):
                named = {
                    f"layer {i // self.per_layer}, head {i % self.per_layer}": (self.checkpoints, of["llc"][:, i, place], of["se"][:, i, place])
                    for i in range(self.layers * self.per_layer)
                }  # fmt: skip
                axes: dict[str, Any] = {"title": f"{label}, ε = {size:g}", "height": 260}
                drawn.append(
                    curves(named, xlabel="training step", ylabel="λ̂ ± 2 s.e.", legend_position="top_left", **axes)
                )
                walk = np.array(traces[place], float)
                steps = np.arange(len(walk)) * max(1, self.steps // DRAWN)
                chains = {f"chain {c + 1}": (steps, walk[:, c]) for c in range(walk.shape[1])}
                drawn.append(curves(chains, colors=CHAINS, xlabel="step of the chain", ylabel="nβ·ΔL", **axes))
        return beside_each_other(*drawn, columns=2)


@dataclass
class _Course:
    """The training of a study's model, made when it is asked for first; it goes on where it was ended."""

    study: Heads
    at: Place

    @cached_property
    def data(self) -> Split:
        return text_rows(self.study.length, self.study.vocabulary)

    @property
    def some(self) -> Split:
        """The rows that λ̂ is of."""
        data, rows = self.data, self.study.rows
        return Split(data.name, data.inputs[:rows], data.targets[:rows], data.test_inputs, data.test_targets)

    @cached_property
    def model(self) -> nn.Module:
        study = self.study
        description = {
            "kind": "transformer", "vocabulary": study.vocabulary, "length": study.length, "dim": study.dim, "layers": study.layers,
            "heads": study.heads,
        }  # fmt: skip
        return build_model(description, study.seed)

    @cached_property
    def checkpoints(self) -> dict[int, Checkpoint]:
        study, data = self.study, self.data
        steps = [int(each) for each in study.checkpoints]
        few = Split(
            data.name, data.inputs[:SHOWN], data.targets[:SHOWN], data.test_inputs[:SHOWN], data.test_targets[:SHOWN]
        )
        course = train(
            self.model, few, AdamW(learning_rate=study.learning_rate, weight_decay=study.weight_decay), steps=steps[-1],
            checkpoints=steps, batch_size=min(study.batch, len(few)), seed=study.seed, device=self.at.device,
            kept=self.at.on_the_way(study._asked()),
        )  # fmt: skip
        return {each.step: each for each in course.checkpoints}
