"""LLC Lab's engine: estimate the local learning coefficient of a network, beside exact answers where they are known."""

from llc_core import interactions as _interactions
from llc_core import samplers as _samplers
from llc_core.auditing.report import Audit, audit
from llc_core.bins import Bins
from llc_core.config import RunConfig
from llc_core.diagnostics.conclusion import Conclusion, conclude
from llc_core.diagnostics.convergence import SteinDiscrepancy, kernel_stein_discrepancy
from llc_core.diagnostics.predictive import Predictive
from llc_core.diagnostics.signals import Signal, health
from llc_core.engine.run import Run
from llc_core.ensembles import EnsemblePrediction, predictive
from llc_core.estimating import estimate, run
from llc_core.interactions import *  # noqa: F403  every registered interaction is public
from llc_core.line import LineRun, LineSnapshot, simulate
from llc_core.potentials import BayesianNetwork, DeepLinearFamily, DeepLinearNetwork, NetworkPotential, Potential
from llc_core.potentials.line.build import landscape
from llc_core.potentials.line.landscape import Landscape
from llc_core.potentials.line.named import LANDSCAPES
from llc_core.potentials.module.losses import CrossEntropy
from llc_core.potentials.module.other_rows import moving_only, with_rows
from llc_core.potentials.plane.regression import PLANAR, Planar, planar_landscape
from llc_core.potentials.plane.surfaces import SURFACES, Surface, surface
from llc_core.potentials.polished import Polished
from llc_core.potentials.polishing import polish
from llc_core.references.functions.equivalences import (
    PairedPaths,
    linear_equivalence,
    repelling_particles,
    sines_force,
    sorted_equivalence,
    torus_equivalence,
    von_mises_force,
)
from llc_core.references.functions.finite_width import finite_width
from llc_core.references.functions.mixture import Mixture
from llc_core.references.functions.nngp import GaussianPosterior, nngp_posterior
from llc_core.references.gibbs import gibbs_reference
from llc_core.references.nuts import nuts_reference
from llc_core.references.volume import VolumeScaling, volume_scaling
from llc_core.results import Estimate
from llc_core.samplers import *  # noqa: F403  every registered sampler is public
from llc_core.studies.answer_key import Answer, Answers, answers
from llc_core.studies.calibration.search import Calibration, calibrate
from llc_core.studies.compressibility import Compressibility, compressibility
from llc_core.studies.covariances.exact import LinearLosses, linear_losses
from llc_core.studies.covariances.influences import Influence, influence
from llc_core.studies.covariances.kernels import LossKernel, loss_kernel
from llc_core.studies.covariances.parts import Susceptibilities, susceptibilities
from llc_core.studies.covariances.patterns import Pattern, patterning
from llc_core.studies.covariances.sketches import KernelSketch
from llc_core.studies.information import Losses, debiased, generalisation, gibbs_generalisation, waic, wbic
from llc_core.studies.over_training import llc_over_training
from llc_core.studies.paths import PrincipalPath, expected_noise, noise_path, principal_path
from llc_core.studies.refined import Refined, refined
from llc_core.studies.risk.comparison import Risks, semi_synthetic_risk
from llc_core.studies.risk.task import SemiSynthetic, semi_synthetic
from llc_core.studies.stages import Stage, Stages, stages
from llc_core.studies.temperatures import Reweighted, TemperatureSlope, reweight, reweighted, temperature_llc
from llc_core.studies.tempering.answers import Basin, FreeEnergy
from llc_core.studies.tempering.measuring import free_energy
from llc_core.sweeps import SweepSpec, run_sweep
from llc_core.theory.coefficients import learning_coefficient, local_learning_coefficient
from llc_core.theory.nngp import nngp_kernel
from llc_core.theory.quadrature import Density, Posterior, density, one_sided_posterior, posterior
from llc_core.theory.rank_tables import masked_rank_table, numerical_rank_table
from llc_core.types import Energy, LearningCoefficient, Snapshot
from llc_core.verdicts import Verdict
from llc_core.version import __version__

__all__ = [
    "LANDSCAPES",
    "PLANAR",
    "SURFACES",
    "Answer",
    "Answers",
    "Audit",
    "Bins",
    "Basin",
    "BayesianNetwork",
    "Calibration",
    "Compressibility",
    "Conclusion",
    "CrossEntropy",
    "DeepLinearFamily",
    "DeepLinearNetwork",
    "Density",
    "Energy",
    "EnsemblePrediction",
    "Estimate",
    "FreeEnergy",
    "GaussianPosterior",
    "Influence",
    "KernelSketch",
    "Landscape",
    "LearningCoefficient",
    "LineRun",
    "LineSnapshot",
    "LinearLosses",
    "LossKernel",
    "Losses",
    "NetworkPotential",
    "Mixture",
    "Pattern",
    "Planar",
    "Polished",
    "Posterior",
    "PrincipalPath",
    "Potential",
    "Predictive",
    "Refined",
    "Reweighted",
    "Risks",
    "Run",
    "RunConfig",
    "Signal",
    "SemiSynthetic",
    "SteinDiscrepancy",
    "Snapshot",
    "Stage",
    "Stages",
    "Surface",
    "Susceptibilities",
    "SweepSpec",
    "TemperatureSlope",
    "Verdict",
    "VolumeScaling",
    "__version__",
    "answers",
    "audit",
    "calibrate",
    "compressibility",
    "conclude",
    "debiased",
    "density",
    "estimate",
    "expected_noise",
    "finite_width",
    "free_energy",
    "generalisation",
    "gibbs_generalisation",
    "gibbs_reference",
    "health",
    "influence",
    "kernel_stein_discrepancy",
    "landscape",
    "llc_over_training",
    "learning_coefficient",
    "linear_losses",
    "local_learning_coefficient",
    "loss_kernel",
    "masked_rank_table",
    "moving_only",
    "nngp_kernel",
    "nngp_posterior",
    "noise_path",
    "numerical_rank_table",
    "nuts_reference",
    "one_sided_posterior",
    "patterning",
    "planar_landscape",
    "polish",
    "posterior",
    "predictive",
    "principal_path",
    "refined",
    "reweight",
    "reweighted",
    "run",
    "run_sweep",
    "semi_synthetic",
    "semi_synthetic_risk",
    "simulate",
    "stages",
    "surface",
    "susceptibilities",
    "temperature_llc",
    "volume_scaling",
    "waic",
    "wbic",
    "with_rows",
    *_interactions.__all__,
    *_samplers.__all__,
    "PairedPaths",
    "linear_equivalence",
    "repelling_particles",
    "sines_force",
    "sorted_equivalence",
    "torus_equivalence",
    "von_mises_force",
]
