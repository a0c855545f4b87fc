"""What a verdict says of chains on a Bayesian network's posterior: whether their loss has settled. Functions are judged apart."""

from __future__ import annotations

import math

from llc_core.diagnostics.convergence import ESS_LIMIT, R_HAT_LIMIT
from llc_core.diagnostics.evidence import Evidence, Fault

OF_A_PRIOR = "w0 is the centre of the prior"


def apart(e: Evidence) -> Fault | None:
    if math.isfinite(e.r_hat) and e.r_hat <= R_HAT_LIMIT:
        return None
    if e.chains == 1 and math.isfinite(e.ess):
        return None
    return Fault(
        f"The chains' losses have not settled (R-hat {e.r_hat:.3f}).", "Take more steps, or use SplitHMC.", True
    )


def few_draws(e: Evidence) -> Fault | None:
    if e.ess >= ESS_LIMIT:
        return None
    return Fault(f"The losses are worth only {e.ess:.0f} independent draws.", "Take more steps or more chains.", True)


def checked(e: Evidence) -> str:
    return (
        f"The losses of the posterior have settled (R-hat {e.r_hat:.3f}, ESS {e.ess:.0f}); a Bayesian network's mean excess loss is "
        f"no learning coefficient, since {OF_A_PRIOR}."
    )
