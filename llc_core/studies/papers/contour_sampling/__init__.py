"""Studies of Deng et al. 2022, interacting contour SGLD: the laws of θ, 25 modes, digits, pictures, mushrooms."""
