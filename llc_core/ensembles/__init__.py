"""Ensembles of draws: what they predict, how sure they are of it, and whether that is worth anything."""

from llc_core.ensembles.outside import Detection, detection
from llc_core.ensembles.prediction import EnsemblePrediction, predictive
from llc_core.ensembles.scores import brier, calibration_error, negative_log_likelihood

__all__ = [
    "Detection",
    "EnsemblePrediction",
    "brier",
    "calibration_error",
    "detection",
    "negative_log_likelihood",
    "predictive",
]
