"""Exact answers: learning coefficients, multiplicities, rank tables, quadrature."""
