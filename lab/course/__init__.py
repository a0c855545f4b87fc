"""A course of fifteen moments for a class: notes, a quiz, and hand-outs to print."""
