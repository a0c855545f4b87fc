"""Fast simulation of chains on the line."""

from llc_core.line.run import LineRun, LineSnapshot, simulate, warm_up

__all__ = ["LineRun", "LineSnapshot", "simulate", "warm_up"]
