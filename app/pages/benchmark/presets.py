"""One click from each question that the benchmark answers. The sentences say what is shown; the numbers come from the store."""

from __future__ import annotations

from app.pages.preset import Preset


class BenchmarkPreset(Preset):
    """Of `BenchmarkConfig`."""


PRESETS = (
    BenchmarkPreset(
        "paper",
        "Printed estimate",
        "Hitchcock & Hoogland’s estimator: one minibatch as baseline, global λ. Smaller runs: 2 chains, up to 5,000 steps, half burn-in. "
        "SGHMC and SGNHT are corrected. Added: equal ranks, UnderdampedLangevin. As printed: lab/sweeps/printed_1k.toml.",
        {"gradient": "minibatch", "estimator": "printed", "truth": "global"},
    ),
    BenchmarkPreset(
        "baseline",
        "Same batch",
        "Same runs, fairer baseline: what remains is each sampler’s own error.",
        {"gradient": "minibatch"},
    ),
    BenchmarkPreset(
        "control",
        "Control variate",
        "The gradient’s error at w0 is subtracted: less noise, so that larger steps stay accurate.",
        {"gradient": "control_variate"},
    ),
    BenchmarkPreset(
        "full",
        "Full data",
        "Exact gradients: no noise is left, only burn-in at small steps and discretisation at large ones.",
        {"gradient": "full"},
    ),
    BenchmarkPreset(
        "global",
        "Local or global?",
        "Ranks as in the paper, full data, against the global λ. Where the local λ at w0 is larger, do chains "
        "stay with it? Compare with “expected λ̂” as truth: at γ = 1 many leave for the global value.",
        {"gradient": "full", "truth": "global", "ranks": "paper"},
    ),
    BenchmarkPreset(
        "all",
        "All gradients",
        "Every sampler with every gradient: lines are dotted for minibatch, dashed for control variate, whole for full data.",
        {"spread": False},
    ),
)
