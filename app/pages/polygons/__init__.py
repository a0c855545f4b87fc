"""Page "Polygons": six features in two dimensions, and what each polygon costs."""
