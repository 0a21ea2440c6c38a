"""The file of a network for the page: its kernels in half precision, and its design."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from tengen.models.store import Tensors, pack
from tengen.network import DeepNetwork

DESIGN = "tengen.design"


def page_network(network: DeepNetwork) -> bytes:
    """Return the bytes of a safetensors file with all that the page needs of a network."""
    return pack(as_in_page(network.weights_), {DESIGN: json.dumps(asdict(network.design_))})


def as_in_page(weights: Tensors) -> Tensors:
    """Return weights with the kernels and matrices in half precision.

    Other numbers, such as the variances of norms, are few, and too large for that.
    """
    return {name: w.astype(np.float16) if w.ndim > 1 else w for name, w in weights.items()}
