"""What this app changes in other libraries, or takes from parts of them that are not meant for others: a file each.

Its first words say what for, which versions it holds for, and what it gains; `tests/app/patches` has a test of the same name that
fails where the library has changed, or has no need of it any more. What Panel or Bokeh lack in another version is left alone.
"""
