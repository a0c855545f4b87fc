"""A course of seventeen moments for a class: notes, a quiz, and hand-outs to print."""
