"""A course of sixteen moments for a class: notes, a quiz, and hand-outs to print."""
