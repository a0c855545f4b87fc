"""Real networks: data sets, models, training with checkpoints, and λ̂ along the way."""

from llc_core.networks.checkpoints import potential_at
from llc_core.networks.data.pictures import cifar10, cifar100, svhn
from llc_core.networks.data.splits import Halves, Split, digit_halves, digits, mnist, small_mnist
from llc_core.networks.data.text import TokenRows, synthetic_text, token_rows
from llc_core.networks.data.tokens import Tokenizer, shipped_text, text_rows
from llc_core.networks.files import load_state, save_state
from llc_core.networks.heads import head_masks
from llc_core.networks.models import MODELS, build_model
from llc_core.networks.optimizers import Adam, AdamW, EntropySGD, MomentumSGD
from llc_core.networks.parts import named_parts
from llc_core.networks.published import PUBLISHED, PictureSettings, picture_settings
from llc_core.networks.training import Checkpoint, Training, train

__all__ = [
    "MODELS",
    "PUBLISHED",
    "Adam",
    "AdamW",
    "Checkpoint",
    "EntropySGD",
    "Halves",
    "MomentumSGD",
    "PictureSettings",
    "Split",
    "TokenRows",
    "Tokenizer",
    "Training",
    "build_model",
    "cifar10",
    "cifar100",
    "digit_halves",
    "digits",
    "head_masks",
    "load_state",
    "mnist",
    "named_parts",
    "picture_settings",
    "potential_at",
    "save_state",
    "shipped_text",
    "small_mnist",
    "svhn",
    "synthetic_text",
    "text_rows",
    "token_rows",
    "train",
]
