"""Which step size, localisation and temperature? All are tried in one run, and a plateau is picked."""
