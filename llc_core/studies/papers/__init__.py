"""The figures and tables of five papers: what runs for each, and which of its claims hold, with errors.

`llc_core.studies.papers.items` reads what `lab/papers` has of them; each folder beside it has the studies of one
paper, a module for each kind.
"""
