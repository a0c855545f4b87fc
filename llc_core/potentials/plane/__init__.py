"""Potentials on the plane, with exact answers by quadrature."""
