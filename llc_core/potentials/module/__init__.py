"""Any `torch.nn.Module` with a loss and data as a potential."""
