"""Fast simulation of chains on the line."""

from llc_core.line.run import LineRun, simulate, warm_up
from llc_core.line.snapshot import LineSnapshot

__all__ = ["LineRun", "LineSnapshot", "simulate", "warm_up"]
