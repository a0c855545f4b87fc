"""Networks on digits 0 to 4 along SGD, SGLD and contour chains: losses, multipliers, and the way in two singular directions (Deng et al.
2022, Figure 2). Long, since the walks, what is claimed of them and their picture are read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from llc_core.fields import hyper, is_list, short, whole
from llc_core.networks.data.splits import KNOWN, Split
from llc_core.networks.published import PictureSettings
from llc_core.studies.papers.claims import Claim, Measured, at_least, at_most, less
from llc_core.studies.papers.learning_coefficient.optimisers import NO_FILES
from llc_core.studies.papers.study import Cost, Found, Place, Study, on_cores, register
from llc_core.studies.pictures.chains import ClassifierChains
from llc_core.studies.pictures.methods import METHODS, Method, contour_of
from llc_core.studies.pictures.task import PictureTask, picture_task

SGD, SGLD, CONTOUR = "SGD", "SGLD", "ICSGLD"
WALKS: Mapping[str, Method] = {
    SGD: METHODS["deep ensemble"],
    SGLD: METHODS["SGLD"],
    CONTOUR: Method(momentum=False, interaction=contour_of),
}
"""Networks of one seed begin alike in all three."""
DATA = {"digits": (721, 8), "mnist": (28_596, 28)}
"""Images of digits 0 to 4 to train on, pixels of a side."""
LOOKS, ASKED = 40, 200
"""Networks of a chain that are looked at, and images of either kind that their functions are compared on."""
DOWN, CLIMB = 0.1, 0.1
"""A network is down where its loss is at most this share of the first; a climb counts from this share of the fall on."""
FIELD, MENDING = 12, 10
"""Points along each side of the plane, and steps that mend each of them."""
FLOPS, CALL = 2e10, 3e-3
"""Operations of one core in a second in convolutions, and seconds of a step of one network besides."""


def read_sizes(label: str, value: Any) -> tuple[int, ...]:
    if not is_list(value) or not value:
        raise ValueError(f"{label} is {short(value)}; give a list of whole numbers, such as [32, 64].")
    return tuple(whole(label, each, 1, 100_000) for each in value)


@register
@dataclass(frozen=True)
class DigitModes(Study):
    """Settings in the paper's convention: w ← w − ε∇U + √(2εT)·N(0, 1) with U = N·L + (decay/2)‖w‖², L the mean cross entropy.

    maps, kernel, hidden: of two convolutions and of the layers after them.  batch_size: images of a step.
    zeta, bins, bin_width, rate: of the contour; the width in units of U.  chains: networks side by side, which share θ.
    seeds: repeats, with networks and noise of their own.
    """

    data: str = hyper("digits", choices=tuple(DATA))
    maps: tuple[int, ...] = hyper((32, 64), read=read_sizes)
    kernel: int = hyper(5, 1, 63)
    hidden: tuple[int, ...] = hyper((50, 50), read=read_sizes)
    epochs: int = hyper(300, 8, 1_000_000)
    batch_size: int = hyper(2500, 1, 1_000_000)
    step_size: float = hyper(1e-6, 0.0, 1.0, open_low=True)
    temperature: float = hyper(0.1, 0.0, 1e6, open_low=True)
    decay: float = hyper(25.0, 0.0, 1e9)
    zeta: float = hyper(3e4, 0.0, 1e7)
    bins: int = hyper(100_000, 2, 1_000_000)
    bin_width: float = hyper(10.0, 0.0, 1e9, open_low=True)
    rate: float = hyper(0.01, 0.0, 0.5)
    chains: int = hyper(3, 2, 1000)
    seeds: int = hyper(4, 2, 1000)

    @property
    def settings(self) -> PictureSettings:
        side = DATA[self.data][1]
        described = {
            "kind": "small_cnn",
            "side": side,
            "channels": list(self.maps),
            "hidden": list(self.hidden),
            "kernel": self.kernel,
        }
        return PictureSettings(
            described, epochs=self.epochs, step_size=self.step_size, momentum=0.0, temperature=self.temperature, milestones=(),
            zeta=self.zeta, bins=self.bins, bin_width=self.bin_width, rate_of_theta=self.rate, decay=self.decay, chains=self.chains,
            batch_size=self.batch_size, draws_from=0, augment=False,
        )  # fmt: skip

    def _products(self) -> float:
        """Of one image on its way through the network."""
        side = DATA[self.data][1]
        first, second = self.maps
        widths = [second * (side // 4) ** 2, *self.hidden, KNOWN]
        convolved = (side * self.kernel) ** 2 * first + (side // 2 * self.kernel) ** 2 * first * second
        return convolved + sum(a * b for a, b in zip(widths, widths[1:], strict=False))

    def cost(self) -> Cost:
        n = DATA[self.data][0]
        steps = len(WALKS) * self.seeds * self.chains * self.epochs * max(1, n // self.batch_size)
        rows = steps * min(self.batch_size, n)
        words = (
            f"{self.seeds} seeds of {self.chains} networks, {self.epochs:,} epochs each by {', '.join(WALKS)}, "
            f"on {n:,} images of digits 0 to 4"
        )
        memory = 500 + 12e-6 * LOOKS * self._weights() + 4e-5 * self.chains * self.bins
        return Cost(on_cores(6 * rows * self._products() / FLOPS + steps * CALL + 10, 1), memory, words)

    def _weights(self) -> int:
        side = DATA[self.data][1]
        first, second = self.maps
        widths = [second * (side // 4) ** 2, *self.hidden, KNOWN]
        dense = sum((a + 1) * b for a, b in zip(widths, widths[1:], strict=False))
        return (self.kernel**2 + 1) * first + (self.kernel**2 * first + 1) * second + dense

    def run(self, at: Place) -> Found:
        if self.data == "mnist" and at.mnist is None:
            raise ValueError(NO_FILES)
        own = {name: value for name, value in self.to_dict().items() if name not in ("name", "seeds")}

        def of(seed: int) -> Mapping[str, Any]:
            asked = ["digit modes", own, seed]
            kept = at.on_the_way(asked)
            return at.part(asked, lambda: self._walked(seed, at, kept), f"seed {seed + 1} of {self.seeds}")

        rows = [of(seed) for seed in range(self.seeds)]
        seen = {name: [_told(row, name) for row in rows] for name in WALKS}
        table = [
            f"{name:8}" + "; ".join(f"{what} {Measured.of([row[what] for row in found])}" for what in found[0])
            for name, found in seen.items()
        ]
        numbers = {"by seed": seen, "first seed": rows[0]}
        return Found(self._claims(seen), numbers, lambda: self._figure(rows[0]), table)

    def _walked(self, seed: int, at: Place, kept: Path | None) -> dict[str, Any]:
        """Of each way: losses [epochs][chains], share of chain-steps below 0 and lowest multiplier by epoch, modes of each chain, and the
        way of its first network on the plane [looks][2]."""
        task = in_units(picture_task(self.data, seed, at.mnist))
        walks = {name: self._walk(task, how, seed, at.device, kept) for name, how in WALKS.items()}
        ends = [each["functions"][-1][chain] for each in [walks[SGD]] for chain in range(self.chains)]
        far = float(np.mean([apart(a, b) for k, a in enumerate(ends) for b in ends[:k]])) / 2
        ways, field = self._plane(task, {name: each["weights"] for name, each in walks.items()}, seed)
        found: dict[str, Any] = {"far": far, "field": field, "first_loss": float(walks[SGD]["losses"][0].mean())}
        for name, each in walks.items():
            losses, looks = each["losses"], each["looks"]
            down = losses[looks] <= DOWN * losses[0]
            modes = [
                counted([f[chain] for f, there in zip(each["functions"], down[:, chain], strict=True) if there], far)
                for chain in range(self.chains)
            ]
            found[name] = {
                "losses": np.round(losses, 5).tolist(), "modes": modes, "way": np.round(ways[name], 4).tolist(),
                "looks": looks.tolist(), **{key: np.round(each[key], 4).tolist() for key in ("negative", "lowest")},
            }  # fmt: skip
        return found

    def _walk(self, task: PictureTask, how: Method, seed: int, device: str | None, kept: Path | None) -> dict[str, Any]:
        """kept: where a walk that was ended goes on, and one that is done is found while the others are on their way."""
        chains = ClassifierChains(task, self.settings, how, seed=seed, device=device)
        asked = torch.cat([task.split.test_inputs[:ASKED], task.foreign[:ASKED]]).to(chains.device)
        looks = np.unique(np.linspace(0, self.epochs - 1, LOOKS).astype(int))
        told: dict[str, list[Any]] = {name: [] for name in ("losses", "negative", "lowest", "functions", "weights")}
        mark = None if kept is None else chains.bookmark(kept, ["walk", LOOKS], [asked])
        if found := mark and mark.read():
            chains.load_state_dict(found["chains"])
            told = found["told"]

        def keep() -> None:
            if mark and (mark.due or chains.finished):
                mark.write({"chains": chains.state_dict(), "told": told})

        while not chains.finished:
            chains.advance(keep)
            told["losses"].append(torch.stack(chains.losses).mean(0))
            heats = torch.stack(chains.heats) if chains.heats else torch.ones(1, self.chains)
            told["negative"].append(float((heats < 0).double().mean()))
            told["lowest"].append(float(heats.min()))
            if chains.epochs_done - 1 in looks:
                chains.draws()
                with torch.no_grad():
                    each = [model(asked).softmax(-1).cpu() for model in chains.models]
                told["functions"].append(torch.stack(each))
                told["weights"].append(parameters_to_vector(chains.models[0].parameters()).detach().cpu().clone())
            if chains.finished:
                keep()
        stacked = {name: torch.stack(told[name]) for name in ("losses", "functions", "weights")}
        return {
            **told, "looks": looks, "losses": stacked["losses"].numpy(), "functions": stacked["functions"].numpy(),
            "weights": stacked["weights"],
        }  # fmt: skip

    def _plane(
        self, task: PictureTask, weights: Mapping[str, Tensor], seed: int
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The ways [looks, 2] in the first two right singular vectors of all of them together, less their mean, and the loss around.

        A point of the plane has the mean's other coordinates; they are then mended by steps of gradient descent that leave the plane's two
        alone.  field: x, y of the points, log₁₀ of the mended losses [y][x], and the share of the squares that two directions have.
        """
        every = torch.cat(list(weights.values())).double()
        mean = every.mean(0)
        _, sizes, directions = torch.linalg.svd(every - mean, full_matrices=False)
        plane = directions[:2]
        ways = {name: ((each.double() - mean) @ plane.T).numpy() for name, each in weights.items()}
        share = float((sizes[:2] ** 2).sum() / (sizes**2).sum())
        if seed:  # only the first one is drawn
            return ways, {"share": share}
        places = np.concatenate(list(ways.values()))
        low, high = places.min(0), places.max(0)
        x, y = (np.linspace(a - 0.1 * (b - a), b + 0.1 * (b - a), FIELD) for a, b in zip(low, high, strict=True))
        losses = np.array([[self._mended(task, mean + torch.tensor([a, b]) @ plane, plane) for a in x] for b in y])
        return ways, {"share": share, "x": x.tolist(), "y": y.tolist(), "loss": np.log10(losses).round(3).tolist()}

    def _mended(self, task: PictureTask, point: Tensor, plane: Tensor) -> float:
        model = self._model
        rows, targets = task.split.inputs[: self.batch_size], task.split.targets[: self.batch_size]
        rate, vector = self.step_size * len(task.split), point.float()
        for left in reversed(range(MENDING + 1)):
            vector_to_parameters(vector, model.parameters())
            loss = functional.cross_entropy(model(rows), targets)
            if left:
                grad = parameters_to_vector(torch.autograd.grad(loss, list(model.parameters()))).double()
                vector = vector - rate * (grad - (grad @ plane.T) @ plane).float()
        return max(float(loss.detach()), 1e-6)

    @property
    def _model(self) -> torch.nn.Module:
        from llc_core.networks.models import build_model

        return build_model(self.settings.model(KNOWN))

    def _claims(self, seen: Mapping[str, Sequence[Mapping[str, float]]]) -> list[Claim]:
        found = {
            name: {what: Measured.of([row[what] for row in rows]) for what in rows[0]} for name, rows in seen.items()
        }

        def more(text: str, what: str, other: str) -> Claim:
            pairs = Measured.of([a[what] - b[what] for a, b in zip(seen[CONTOUR], seen[other], strict=True)])
            return less(text, (other, found[other][what]), (CONTOUR, found[CONTOUR][what]), apart=pairs)

        return [
            less(f"{CONTOUR}: the multiplier turns negative (share of chain-steps)", ("0", Measured(0.0)), (CONTOUR, found[CONTOUR]["negative"])),
            *(
                at_most(f"{name}: the loss falls on (its mean over the last quarter, of that over the second)", found[name]["falls"], 1.0)
                for name in (SGD, SGLD)
            ),
            at_least(f"{CONTOUR}: the loss climbs again, by a tenth of its fall or more (largest climb)", found[CONTOUR]["climb"], CLIMB),
            *(more(f"{CONTOUR} climbs more than {name} (largest climb, share of the fall)", "climb", name) for name in (SGD, SGLD)),
            more(f"{CONTOUR} visits more modes than {SGLD} (of a chain)", "modes", SGLD),
            more(f"{SGLD}'s region is smaller than {CONTOUR}'s (spread on the plane, second half)", "spread", SGLD),
        ]  # fmt: skip

    def _figure(self, row: Mapping[str, Any]) -> Any:
        from llc_core.plots.kinds import curves
        from llc_core.plots.style import CHAINS, beside_each_other, finished, holoviews

        hv, epochs = holoviews(), np.arange(1, self.epochs + 1)
        losses = {name: (epochs, np.array(row[name]["losses"])[:, 0]) for name in WALKS}
        drawn = [
            curves(losses, xlabel="epoch", ylabel="training loss", logy=True, title="(a) loss", legend_position="bottom_left"),
            curves({CONTOUR: (epochs, row[CONTOUR]["lowest"])}, colors=CHAINS[2:], xlabel="epoch",
                   ylabel="lowest multiplier", title="multiplier of the slope"),
        ]  # fmt: skip
        field = row["field"]
        for (name, color), letter in zip(zip(WALKS, CHAINS, strict=False), "bcd", strict=True):
            way = np.array(row[name]["way"])
            ground = hv.QuadMesh((field["x"], field["y"], np.array(field["loss"]))).opts(cmap="Greys", colorbar=True)
            over = [hv.Curve(way).opts(color=color, line_width=2), hv.Scatter(way[-1:]).opts(color=color, size=9)]
            axes = {
                "xlabel": "first singular direction",
                "ylabel": "second",
                "title": f"({letter}) {name}, on log₁₀ of the loss",
            }
            drawn.append(finished(hv.Overlay([ground, *over]), **axes))
        return beside_each_other(*drawn, columns=2)


def _told(row: Mapping[str, Any], name: str) -> dict[str, float]:
    """Of one seed: what the claims are about, means over the chains.

    climb: the largest rise of the loss above the least before it, as a share of the fall from the first loss to the least.
    """
    losses, way = np.array(row[name]["losses"]), np.array(row[name]["way"])
    quarter = len(losses) // 4
    climb = (losses - np.minimum.accumulate(losses)).max(0) / (losses[0] - losses.min(0))
    second = way[len(way) // 2 :]
    return {
        "negative": float(np.mean(row[name]["negative"])),
        "climb": float(climb.mean()),
        "falls": float((losses[-quarter:].mean(0) / losses[quarter : 2 * quarter].mean(0)).mean()),
        "modes": float(np.mean(row[name]["modes"])),
        "spread": float(((second - second.mean(0)) ** 2).sum(1).mean() ** 0.5),
    }


def in_units(task: PictureTask) -> PictureTask:
    """Pixels less their mean, in units of their standard deviation, both over the images that are learned."""
    split = task.split
    mean, sd = split.inputs.mean(), split.inputs.std()
    known = Split(
        split.name, (split.inputs - mean) / sd, split.targets, (split.test_inputs - mean) / sd, split.test_targets
    )
    return PictureTask(known, (task.foreign - mean) / sd, task.classes)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Mean total variation over images of two functions [images, classes]."""
    return float(np.abs(one - other).sum(-1).mean() / 2)


def counted(functions: Sequence[np.ndarray], far: float) -> int:
    """Modes one after another: a function that is far from all that were counted is a new one."""
    found: list[np.ndarray] = []
    for function in functions:
        if all(apart(function, mode) > far for mode in found):
            found.append(function)
    return len(found)
