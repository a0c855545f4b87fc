"""What a verdict says of chains on a Bayesian network's posterior: whether their loss has settled. Functions are judged apart."""

from __future__ import annotations

import math

from llc_core.diagnostics.convergence import ESS_LIMIT, R_HAT_LIMIT
from llc_core.diagnostics.evidence import Evidence
from llc_core.verdicts import Fault, Kind


def apart(e: Evidence) -> Fault | None:
    settled = math.isfinite(e.r_hat) and e.r_hat <= R_HAT_LIMIT
    alone = e.chains == 1 and math.isfinite(e.ess)
    return None if settled or alone else Kind.LOSSES_APART.fault(r_hat=e.r_hat)


def few_draws(e: Evidence) -> Fault | None:
    return None if e.ess >= ESS_LIMIT else Kind.FEW_LOSSES.fault(ess=e.ess)
