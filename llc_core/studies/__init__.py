"""Questions answered by several runs: calibration, temperatures, information criteria, training, causes of error."""
