"""Interacting chains on the plane, beside the exact distribution of the energy they move on."""

from llc_core.plane.exact import PlaneLaw, kl_of_cells, plane_law
from llc_core.plane.particles import ParticleRun
from llc_core.plane.run import PlaneRun, PlaneSnapshot

__all__ = ["ParticleRun", "PlaneLaw", "PlaneRun", "PlaneSnapshot", "kl_of_cells", "plane_law"]
