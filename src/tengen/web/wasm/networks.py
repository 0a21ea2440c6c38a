"""The file of a network for the page: its weights in half precision, and its design."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from tengen.models.store import pack
from tengen.network import DeepNetwork

DESIGN = "tengen.design"


def page_network(network: DeepNetwork) -> bytes:
    """Return the bytes of a safetensors file with all that the page needs of a network."""
    halves = {name: weights.astype(np.float16) for name, weights in network.weights_.items()}
    return pack(halves, {DESIGN: json.dumps(asdict(network.design_))})
