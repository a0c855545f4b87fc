"""Ensembles of draws: what they predict, how sure they are of it, and whether that is worth anything."""

from llc_core.ensembles.outside import Detection, detection
from llc_core.ensembles.prediction import EnsemblePrediction, predictive
from llc_core.ensembles.running import RunningPrediction
from llc_core.ensembles.scores import (
    CalibrationCurve,
    brier,
    calibration_curve,
    calibration_error,
    negative_log_likelihood,
)

__all__ = [
    "CalibrationCurve",
    "Detection",
    "EnsemblePrediction",
    "RunningPrediction",
    "brier",
    "calibration_curve",
    "calibration_error",
    "detection",
    "negative_log_likelihood",
    "predictive",
]
