"""Type aliases for the arrays used throughout the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]
Int8Array = NDArray[np.int8]
Int16Array = NDArray[np.int16]
Int32Array = NDArray[np.int32]
UInt8Array = NDArray[np.uint8]
UInt64Array = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
Arrays = tuple[NDArray[Any], ...]
