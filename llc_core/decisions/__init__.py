"""Contextual bandits: decisions by nets that a sampler moves, beside an exact linear baseline."""

from llc_core.decisions.agent import Agent, Memory
from llc_core.decisions.environment import Environment, Pulls
from llc_core.decisions.games import Game, Played, RegretCurve, Round, difference, play, regret_curve
from llc_core.decisions.linear_agent import BayesianLinear
from llc_core.decisions.mushrooms import Mushrooms, MushroomTable, in_words, letters_of, made_mushrooms, read_mushrooms
from llc_core.decisions.named_agents import (
    OpenContour,
    const_sgd,
    dropout,
    eps_greedy,
    paper_contour,
    paper_sampler,
    pcsgld,
    picsgld,
    psgld,
)
from llc_core.decisions.network_agent import SampledNets
from llc_core.decisions.policies import EpsilonGreedy, Policy, PosteriorMean, Thompson
from llc_core.decisions.synthetic import LinearBandit, WheelBandit

__all__ = [
    "Agent",
    "BayesianLinear",
    "RegretCurve",
    "Environment",
    "EpsilonGreedy",
    "Game",
    "LinearBandit",
    "Memory",
    "MushroomTable",
    "Mushrooms",
    "OpenContour",
    "Played",
    "Policy",
    "PosteriorMean",
    "Pulls",
    "Round",
    "SampledNets",
    "Thompson",
    "WheelBandit",
    "const_sgd",
    "difference",
    "dropout",
    "eps_greedy",
    "in_words",
    "letters_of",
    "made_mushrooms",
    "paper_contour",
    "paper_sampler",
    "pcsgld",
    "picsgld",
    "play",
    "psgld",
    "read_mushrooms",
    "regret_curve",
]
