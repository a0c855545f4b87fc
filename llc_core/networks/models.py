"""Networks by name: each description is JSON, and the same description and seed give the same numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from torch import nn

from llc_core.compute.precision import SINGLE
from llc_core.compute.streams import seeded, stream_seed
from llc_core.fields import choice, known_keys, whole
from llc_core.networks.attention import AttentionOnly
from llc_core.networks.resnets import resnet, wide_resnet

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "silu": nn.SiLU}
LARGEST_WIDTH = 1_000_000


def mlp(widths: Sequence[int] = (64, 64, 64, 10), activation: str = "relu") -> nn.Module:
    """Linear layers of the given widths, inputs first, with an activation between them."""
    if isinstance(widths, str) or not isinstance(widths, Sequence) or len(widths) < 2:
        raise ValueError(f"widths is {widths!r}; list at least the numbers of inputs and outputs, as in [64, 64, 10].")
    sizes = [whole("widths", w, 1, LARGEST_WIDTH) for w in widths]
    between = ACTIVATIONS[choice("activation", activation, tuple(ACTIVATIONS))]
    layers: list[nn.Module] = []
    for inputs, outputs in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(inputs, outputs, **SINGLE), between()]
    return nn.Sequential(*layers[:-1])


def small_cnn(
    side: int = 8, channels: Sequence[int] = (8, 16), classes: int = 10, hidden: Sequence[int] = (), kernel: int = 3
) -> nn.Module:
    """For square images of one channel, given as vectors: two convolutions, each followed by pooling that halves the image, then
    linear layers.

    hidden: units of ReLU layers between the images and the classes.  kernel: pixels of a convolution's side, an odd number.
    """
    side, classes = whole("side", side, 4, 4096), whole("classes", classes, 2, LARGEST_WIDTH)
    for name, value in (("channels", channels), ("hidden", hidden)):
        if isinstance(value, str) or not isinstance(value, Sequence) or (name == "channels" and len(value) != 2):
            raise ValueError(
                f"{name} is {value!r}; give {'two numbers' if name == 'channels' else 'numbers'}, as in [8, 16]."
            )
    if (kernel := whole("kernel", kernel, 1, 63)) % 2 == 0:
        raise ValueError(f"kernel is {kernel}; give an odd number, so that an image keeps its size.")
    first, second = (whole("channels", c, 1, LARGEST_WIDTH) for c in channels)
    widths = [second * (side // 4) ** 2, *(whole("hidden", width, 1, LARGEST_WIDTH) for width in hidden)]
    return nn.Sequential(
        nn.Unflatten(1, (1, side, side)),
        *(nn.Conv2d(1, first, kernel, padding=kernel // 2, **SINGLE), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(first, second, kernel, padding=kernel // 2, **SINGLE), nn.ReLU(), nn.AvgPool2d(2)),
        nn.Flatten(),
        *(layer for pair in pairwise(widths) for layer in (nn.Linear(*pair, **SINGLE), nn.ReLU())),
        nn.Linear(widths[-1], classes, **SINGLE),
    )


def transformer(vocabulary: int = 16, length: int = 32, dim: int = 32, layers: int = 4, heads: int = 8) -> nn.Module:
    """Attention only, with learnable positions. 4 layers of 8 heads as in Hitchcock & Hoogland D.4, small otherwise."""
    vocabulary, length = whole("vocabulary", vocabulary, 2, LARGEST_WIDTH), whole("length", length, 1, LARGEST_WIDTH)
    dim, layers, heads = whole("dim", dim, 1, 65536), whole("layers", layers, 1, 1000), whole("heads", heads, 1, 65536)
    if dim % heads:
        raise ValueError(f"dim is {dim}, which {heads} heads cannot share; use a multiple of heads.")
    return AttentionOnly(vocabulary, length, dim, layers, heads)


MODELS: dict[str, Callable[..., nn.Module]] = {
    "mlp": mlp,
    "small_cnn": small_cnn,
    "transformer": transformer,
    "resnet": resnet,
    "wide_resnet": wide_resnet,
}


def build_model(description: Mapping[str, Any] | str, seed: int = 0) -> nn.Module:
    """The network that a description such as {"kind": "mlp", "widths": [64, 64, 10]} names, with fresh parameters.

    The parameters depend on the seed alone; torch's own random state is left as it was.
    """
    if isinstance(description, str):
        description = {"kind": description}
    if not isinstance(description, Mapping):
        raise ValueError(f"A model is described by a mapping with a kind, not by a {type(description).__name__}.")
    given = dict(description)
    build = MODELS[choice("kind", given.pop("kind", None), tuple(MODELS))]
    known_keys(description["kind"], given, inspect.signature(build).parameters)
    with seeded(stream_seed(whole("seed", seed), "model") % (1 << 62)):
        return build(**given)
