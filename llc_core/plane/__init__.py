"""Interacting chains on the plane, compiled, beside the exact law of the energy they move on."""

from llc_core.plane.exact import PlaneLaw, plane_law
from llc_core.plane.run import PlaneRun, PlaneSnapshot

__all__ = ["PlaneLaw", "PlaneRun", "PlaneSnapshot", "plane_law"]
