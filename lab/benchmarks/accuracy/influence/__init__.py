"""Covariances of losses of rows, and what they are for, beside answers in closed form."""
