"""Page "Landscapes": chains on the plane, where every answer is exact."""
