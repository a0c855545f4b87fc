"""LLC Lab's engine: estimate the local learning coefficient of a network, beside exact answers where they are known."""

from llc_core import samplers as _samplers
from llc_core.aoyagi import learning_coefficient, local_learning_coefficient
from llc_core.config import RunConfig
from llc_core.engine import Run, estimate, run
from llc_core.gibbs import gibbs_reference
from llc_core.histogram import Bins
from llc_core.line import LineRun, LineSnapshot, simulate
from llc_core.potentials import DeepLinearNetwork, NetworkPotential, Potential
from llc_core.potentials.landscapes import LANDSCAPES, Landscape, landscape
from llc_core.rank_tables import masked_rank_table, numerical_rank_table
from llc_core.results import Estimate
from llc_core.samplers import *  # noqa: F403  every registered sampler is public
from llc_core.types import Energy, LearningCoefficient, Snapshot, Verdict
from llc_core.version import __version__

__all__ = [
    "LANDSCAPES",
    "Bins",
    "DeepLinearNetwork",
    "Energy",
    "Estimate",
    "Landscape",
    "LearningCoefficient",
    "LineRun",
    "LineSnapshot",
    "NetworkPotential",
    "Potential",
    "Run",
    "RunConfig",
    "Snapshot",
    "Verdict",
    "__version__",
    "estimate",
    "gibbs_reference",
    "landscape",
    "learning_coefficient",
    "local_learning_coefficient",
    "masked_rank_table",
    "numerical_rank_table",
    "run",
    "simulate",
    *_samplers.__all__,
]
