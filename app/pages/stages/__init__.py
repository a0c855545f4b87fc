"""Page "Stages": λ climbs in steps while a deep linear network learns."""
