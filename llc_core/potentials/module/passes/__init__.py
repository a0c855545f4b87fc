"""Forward and backward passes of a module for all chains: by hand, by torch.func, by autograd, or recorded."""
