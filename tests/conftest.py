"""One thread per process: the tests' networks are tiny, and waiting threads would only fight over the cores."""

import torch

torch.set_num_threads(1)
