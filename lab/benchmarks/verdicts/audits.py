"""How often `llc_core.audit` names a fault that was planted in loss traces, and how often it names one where there is none.

python -m lab.benchmarks.verdicts.audits [--seeds 100] [--clean 2000] [--first 40000]

The rules were made on seeds below 40,000, the first of these.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from lab.benchmarks.command import read_options
from lab.benchmarks.verdicts.traces import PLANTED, Made, all_clean
from llc_core import Audit, audit


def looked(found: Made) -> Audit:
    return audit(found.traces, found.n_beta, found.init_loss, **found.facts)


def main() -> None:
    options = read_options(globals(), {"seeds": 1, "clean": 5}, seeds=100, clean=2000, first=40_000)
    print("planted | named | other names beside")
    for plant, names in PLANTED.items():
        named, beside = 0, Counter[str]()
        for seed in range(options.first, options.first + options.seeds):
            found = {each.flaw.name for each in looked(plant(np.random.default_rng(seed))).findings}
            named += bool(found & set(names))
            beside.update(found - set(names))
        print(f"{plant.__name__} | {named} of {options.seeds} | {dict(beside)}")
    wrong, many = Counter[str](), Counter[str]()
    for seed, made in all_clean(range(options.first, options.first + options.clean)):
        many[made.kind] += 1
        if found := looked(made).findings:
            wrong[made.kind] += 1
            print(f"seed {seed}: {made.kind}, {made.traces.shape}: {', '.join(each.flaw.name for each in found)}")
    print("clean | traces with a name")
    for kind, count in many.items():
        print(f"{kind} | {wrong[kind]} of {count}")


if __name__ == "__main__":
    main()
