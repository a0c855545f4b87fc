"""Beside the network's path stands that of noise, and what is said of both is measured."""

from __future__ import annotations

import re

from app.pages.stages.config import StagesConfig
from app.pages.stages.panels.noise import TIMES, compare, noise_card
from app.pages.stages.scene import get_scene
from llc_core import expected_noise


def test_the_shares_that_are_said_are_those_of_the_paths():
    scene, card = get_scene(StagesConfig(widths=(4, 2, 4), singular_values=(2.0, 1.0))), noise_card()
    compare(card, scene, 0)
    walk, network = card.choices
    assert walk["said"].startswith("Yes.")
    assert network["said"].startswith("No, ")
    assert network["bars"][0]["text"] == f"{scene.path(TIMES, 2).shares[0]:.0%}"
    assert walk["hidden"][0]["share"] == float(expected_noise(TIMES).shares[0])
    for each in card.choices:
        points = re.search('points="([^"]+)"', each["picture"])[1].split()
        assert len(points) == TIMES
        assert all(0 <= float(part) <= 300 for point in points for part in point.split(","))
    compare(card, scene, 1)
    assert card.choices[0]["picture"] != walk["picture"] and card.choices[1]["picture"] == network["picture"]
