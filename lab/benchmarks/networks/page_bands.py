"""Makes app/pages/functions/exact.json: the exact posteriors of the page's first networks, so that no visitor waits for them.

    python -m lab.benchmarks.networks.page_bands

It takes longer chains of the hidden layers than the page gives to networks of a visitor's own.
"""

from __future__ import annotations

import json

import torch

from app.pages.functions import scene as scenes
from app.pages.functions.presets import PRESETS
from app.pages.functions.scene import exact_law, scene_of
from lab.benchmarks.machine import machine
from llc_core.references.functions.finite_width import FiniteWidth

MOVES = {"same": 10_000, "wider": 1_500}
"""By preset."""
DIGITS = 5


def main() -> None:
    torch.set_num_threads(1)
    print(machine())
    answers = []
    for preset in PRESETS:
        if preset.name in MOVES:
            scene = scene_of(preset.config)
            work = FiniteWidth(scene.network, scene.inputs, method="chains", moves=MOVES[preset.name], seed=1)
            while not work.finished:
                work.advance()
            found = exact_law(work.mixture())
            print(f"{preset.title}: R-hat {found.r_hat:.3f}, {found.ess:.0f} effective draws", flush=True)
            assert found.settled
            edges = {
                name: {str(share): edge.round(DIGITS).tolist() for share, edge in getattr(found, name).items()}
                for name in ("low", "high")
            }
            answers.append(
                {
                    "problem": dict(scene.config.problem),
                    "inputs": scene.inputs.tolist(),
                    "mean": found.mean.round(DIGITS).tolist(),
                    "sd": found.sd.round(DIGITS).tolist(),
                    **edges,
                    "ess": round(found.ess, 1),
                    "r_hat": round(found.r_hat, 4),
                }
            )
    said = {"command": "python -m lab.benchmarks.networks.page_bands", "machine": machine(), "answers": answers}
    scenes.SHIPPED.write_text(json.dumps(said, indent=None, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
