"""One HTML file that teaches what λ is, without a server: `python -m lab.page.build` writes it."""
