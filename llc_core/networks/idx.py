"""IDX files, the format of MNIST: a header of big-endian numbers, then the array. Plain or compressed by gzip."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
LARGEST = 1 << 32
"""Most bytes of an array. A header that says more is not believed."""


def read_idx(path: str | Path) -> np.ndarray:
    """The array in an IDX file. Header and length are checked first; nothing is unpickled.

    Raises ValueError with one sentence for a file that is absent, damaged or of another format.
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in TYPES:
                raise ValueError(
                    f"{path} is no IDX file: its first bytes are {head!r}; take the file from its source again."
                )
            sizes = file.read(4 * head[3])
            if len(sizes) < 4 * head[3]:
                raise ValueError(f"{path} ends inside its header; take the file from its source again.")
            shape = struct.unpack(f">{head[3]}I", sizes)
            dtype = np.dtype(TYPES[head[2]])
            need = math.prod(shape) * dtype.itemsize
            if need > LARGEST:
                raise ValueError(f"{path} claims {need:,} bytes in its header; at most {LARGEST:,} are read.")
            body = file.read(need + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; name a file in IDX format.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read ({type(error).__name__}); take the file from its source again."
        ) from None
    if len(body) != need:
        found = "more" if len(body) > need else f"{len(body):,}"
        raise ValueError(
            f"{path} holds {found} bytes of data where its header says {need:,}; take the file from its source again."
        )
    return np.frombuffer(body, dtype).reshape(shape)
