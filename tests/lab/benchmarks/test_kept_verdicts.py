"""Trust decisions on all evidence that is kept: a change of the verdict, or of the evidence it reads, shows in their numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.benchmarks.verdicts.runs import evidence_of
from llc_core.diagnostics.verdict import judge

RESULTS = Path(__file__).resolve().parents[3] / "lab/results"
DECISIONS = {
    "verdicts_seed2": (187, 22, 167),
    "verdicts_seed31": (35, 6, 30),
    "verdict_samplers": (55, 16, 52),
    "verdict_remedies": (1366, 372, 1364),
    "verdict_remedies_today": (1356, 322, 1356),
    "no_minimum": (551, 166, 549),
}
"""File → how many estimates it holds, how many of them are trusted by what the chains show, and in how many cases that is what
was decided when they were kept. Where it is not, an exact answer spoke too, or the verdict was another: none is trusted only now."""


@pytest.mark.parametrize("file", DECISIONS)
def test_decisions_on_kept_evidence_are_those_that_are_known(file):
    found = []
    for line in (RESULTS / f"{file}.jsonl").read_text().splitlines():
        kept = json.loads(line)
        for row in kept["row"].get("stages", [kept["row"]]):
            if row.get("slope"):  # of two temperatures, which have a verdict of their own
                continue
            sampler = row["sampler"] if "sampler" in row else kept["asked"][2]["sampler"]
            found.append((bool(judge(evidence_of(row, sampler))), row["trusted"]))
    assert (len(found), sum(now for now, _ in found), sum(now == then for now, then in found)) == DECISIONS[file]
    assert not any(now and not then for now, then in found)
