"""The path of the network's outputs through their first two principal components, beside that of pure noise: which is which?"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from app.components.twins import Twins, bar, choice
from app.style import theme
from llc_core import Stages
from llc_core.studies.paths import PrincipalPath, expected_noise, noise_path, principal_path

TIMES, DIMENSIONS = 400, 1000
WIDTH, HEIGHT, EDGE = 300, 180, 10
QUESTION = "Two curves: which one is pure noise?"
WORDS = (
    "Pictures of training often show only the two main directions of a path. One curve is this network. "
    "The other is a random walk. Press the noise."
)
SAID = (
    "A random walk draws a smooth arc, and {noise:.0%} of its motion lies in one direction. This network has {network:.0%} there. "
    "So such a picture proves little. The corners are real: they are the rests."
)


def noise_card() -> Twins:
    return Twins(question=QUESTION, words=WORDS, sizing_mode="stretch_width", margin=0)


def compare(card: Twins, scene: Stages, seed: int) -> None:
    """Another flow is shown: its path and that of a walk of as many times, of this seed."""
    network, walk = scene.path(TIMES, 2), _walk(seed)
    expected = expected_noise(TIMES, 2)
    words = SAID.format(noise=expected.shares[0], network=network.shares[0])
    choices = []
    for name, path, answer in (("Curve A", walk, "Yes."), ("Curve B", network, "No, the other one.")):
        share = float(path.shares[0])
        dashed = expected.coordinates if path is walk else None
        choices.append(
            choice(
                name,
                f"{answer} {words}",
                [bar("motion in direction 1", share, f"{share:.0%}", "measured")],
                []
                if dashed is None
                else [bar("exact, of noise", float(expected.shares[0]), f"{expected.shares[0]:.0%}", "truth")],
                _drawn(path.coordinates),
            )
        )
    card.choices = choices


@lru_cache(maxsize=16)
def _walk(seed: int) -> PrincipalPath:
    return principal_path(noise_path(TIMES, DIMENSIONS, seed), 2)


def _drawn(path: np.ndarray) -> str:
    """path: [T, 2], within the picture."""
    low, high = path.min(axis=0), path.max(axis=0)
    at = EDGE + (path - low) / (high - low) * (np.array([WIDTH, HEIGHT]) - 2 * EDGE)
    points = " ".join(f"{x:.1f},{HEIGHT - y:.1f}" for x, y in at)
    ends = "".join(
        f'<circle cx="{at[k, 0]:.1f}" cy="{HEIGHT - at[k, 1]:.1f}" r="5" fill="{colour}"/>'
        for k, colour in ((0, theme.RECENT), (-1, theme.ESTIMATE))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
        f'<polyline points="{points}" fill="none" stroke="{theme.ESTIMATE}" stroke-width="2"/>{ends}</svg>'
    )
