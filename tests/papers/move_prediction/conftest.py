"""Let the tests of this folder share `prediction_games`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
