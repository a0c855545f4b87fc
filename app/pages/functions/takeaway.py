"""What a visitor can take away from the page "Weights and functions", and bring back to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from app.pages.functions.config import ROWS, FunctionsConfig
from app.pages.functions.job import ChainsSeen
from app.pages.functions.scene import WEIGHTS, Posterior, Scene, effort, scene_of
from app.sharing.desk import TakeawayDesk
from app.sharing.exports import config_json, keywords, literal
from app.sharing.exports import python_code as engine_code
from app.sharing.reading import read_settings
from llc_core.sweeps.csv_tables import table_csv

NAME = "functions"
FILES = {"bands": "Bands (CSV)", "results": "Results (CSV)", "ksd": "Stein discrepancy (CSV)", "risk": "Risks (CSV)"}
FIGURES = {"functions": "Bands", "ensemble": "Stein discrepancy"}


def python_code(config: FunctionsConfig) -> str:
    """A script that runs as pasted: the gauges of the finished run, and the distance to the exact posterior."""
    scene = scene_of(config)
    if scene.deep is not None:
        return engine_code(config.run)
    if scene.network is None:
        return case_code(config)
    arguments = {name: value for name, value in config.problem.items() if name != "kind"}
    gaussian = config.problem["likelihood"] == "gaussian"
    loss = "np.square(residual)" if gaussian else "np.abs(residual)"
    watched = f'{{"name": "WeightDraws", "count": {WEIGHTS}, "every": {config.every}, "most": {2 * ROWS}}}'
    lines = [
        "import numpy as np",
        "",
        "import llc_core",
        "from llc_core.diagnostics.convergence import r_hat",
        "",
        f"problem = llc_core.BayesianNetwork(**{literal(arguments)})",
        f"inputs = {literal(scene.inputs.tolist())}",
        "places = [*inputs, *problem.data.x[:, 0]]",
        "found = llc_core.estimate(",
        "    problem,",
        f"    {literal(dict(config.sampler))},",
        f'    gradient="full", chains={config.chains}, steps={config.steps}, burn_in={config.burn_in}, seed={config.seed},',
        *([f"    device={config.device!r},"] if config.device else []),
        "    observables=[",
        f'        {{"name": "Predictions", "inputs": places, "every": {config.every}, "most": {2 * ROWS}}},',
        f"        {watched},",
        "    ],",
        "    progress=False,",
        ")",
        'f, w = (found.observables[name]["draws"] for name in ("Predictions", "WeightDraws"))  # [T, chains, …]',
        "residual = f[:, :, len(inputs) :] - problem.data.y",
        "f = f[:, :, : len(inputs)]",
        'print(f"R-hat of weights, median: {np.median([r_hat(w[:, :, i]) for i in range(w.shape[2])]):.3f}")',
        f'print(f"R-hat of the loss: {{r_hat({loss}.mean(axis=2)):.3f}}")',
        'print(f"R-hat of functions, largest: {max(r_hat(f[:, :, i]) for i in range(f.shape[2])):.3f}")',
    ]
    lines += [
        "try:",
        f"    exact = llc_core.finite_width(problem, inputs, {keywords(effort(scene.network))})",
        "    away = (f.mean(axis=(0, 1)) - exact.mean) / exact.sd",
        '    print(f"distance to the exact posterior: {np.sqrt(np.mean(away**2)):.2f} sd")',
        "except ValueError as error:  # its own chains do not agree",
        "    print(error)",
    ]
    return "\n".join(lines) + "\n"


CASE_LINES = {
    "linear": [
        "x = np.array([-2.0, -1.0, 0.5, 1.5])",
        "y = x * np.sin(1.5 * x) + 0.125 * x**3",
        "j = np.arange(12)",
        "features = torch.from_numpy(math.sqrt(2 / 3) * np.cos(x[:, None] * (1 + j) / 4 + j**2))",
        "pair = llc_core.linear_equivalence(features, torch.from_numpy(y), 0.05, step_size, steps, chains, seed=seed)",
        "functions = pair.functions.numpy()",
    ],
    "torus": [
        "random = torch.Generator().manual_seed(seed)",
        "start = torch.rand(chains, 1, generator=random, dtype=torch.float64) - 0.5",
        "start = start + torch.randint(-100, 101, (chains, 1), generator=random)",
        "pair = llc_core.torus_equivalence(start, step_size=step_size, steps=steps, seed=seed)",
        "functions = np.sin(2 * np.pi * (np.linspace(0, 1, 34) + pair.functions.numpy()))",
    ],
    "sorting": [
        "random = torch.Generator().manual_seed(seed)",
        "start = torch.randn(chains, 3, generator=random, dtype=torch.float64).abs()",
        "x = torch.linspace(0.3, 3.0, 7, dtype=torch.float64)",
        "y = torch.sin(x[:, None] * torch.tensor([0.6, 1.2, 2.0], dtype=torch.float64)).sum(dim=1)",
        "force = llc_core.sines_force(x, y, 0.05)",
        "pair = llc_core.sorted_equivalence(start, force, step_size=step_size, steps=steps, seed=seed)",
        "at = np.linspace(0.1, 3.4, 34)",
        "functions = np.sin(pair.functions.numpy()[..., None, :] * at[:, None]).sum(axis=-1)",
    ],
}
"""What a script says of each case."""


def case_code(config: FunctionsConfig) -> str:
    """A script for a case in which the functions have a chain of their own."""
    first = config.steps // 2 // config.every
    last = -(-config.steps // config.every)
    lines = [
        "import math",
        "",
        "import numpy as np",
        "import torch",
        "",
        "import llc_core",
        "from llc_core.diagnostics.convergence import r_hat",
        "",
        f"step_size, steps, chains, seed = {config.sampler['step_size']!r}, {config.steps}, {config.chains}, {config.seed}",
        *CASE_LINES[config.problem["kind"]],
        f"f, w = functions[{first}:{last}], pair.weights.numpy()[{first}:{last}]  # the second half, [T, chains, …]",
        'print(f"R-hat of weights, median: {np.median([r_hat(w[:, :, i]) for i in range(w.shape[2])]):.3f}")',
        'print(f"R-hat of functions, largest: {max(r_hat(f[:, :, i]) for i in range(f.shape[2])):.3f}")',
        'print(f"two paths differ by: {pair.difference:.0e}")',
    ]
    return "\n".join(lines if "math." in "".join(lines[8:]) else lines[2:]) + "\n"


def bands_csv(scene: Scene, seen: ChainsSeen, exact: Posterior | None, limit: Posterior | None) -> str:
    """One row per input: the chains' mean and band, and those of the exact posterior and of the Gaussian process."""
    config = scene.config
    edges = seen.band.edges[config.band]
    columns: dict[str, Any] = {
        "x": scene.inputs,
        "mean": edges.mean,
        "low": edges.low[config.share],
        "high": edges.high[config.share],
    }
    for name, found in (("exact", exact), ("gaussian_process", limit)):
        if found is not None:
            columns |= {
                f"{name}_mean": found.mean,
                f"{name}_low": found.low[config.share],
                f"{name}_high": found.high[config.share],
            }
    return table_csv(list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))


def results_csv(scene: Scene, seen: ChainsSeen, distance: float) -> str:
    gauges = seen.gauges
    values = {
        "iteration": gauges.iteration,
        "r_hat_weights_median": gauges.weights,
        "r_hat_weights_largest": gauges.most,
        "r_hat_loss": gauges.loss,
        "r_hat_functions_largest": gauges.functions,
        "ess_functions_median": gauges.ess,
        "distance_to_exact_sd": distance,
        "llc": seen.llc.value,
        "llc_se": seen.llc.se,
        "config": json.dumps(scene.config.to_dict(), sort_keys=True),
    }
    return table_csv(["name", "value"], values.items())


class FunctionsTakeaway(TakeawayDesk):
    """apply: called with the configuration in a file.  files: makes all that are CSV, ValueError before there are any."""

    def __init__(self, apply: Callable[[FunctionsConfig], str], files: Callable[[str], str]):
        super().__init__(NAME, FILES, FIGURES, partial(read_settings, FunctionsConfig), apply)
        self._files = files

    def show(self, config: FunctionsConfig) -> None:
        """The page runs this now."""
        self.begin(python_code(config), config_json(config))

    def own(self, key: str) -> tuple[str, str]:
        return f"{NAME}_{key}.csv", self._files(key)
