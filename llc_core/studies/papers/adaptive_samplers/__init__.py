"""Studies of Rensmeyer & Niggemann 2025: what locally adaptive samplers converge to, and what the correction costs."""
