"""Search a position and draw it with visits and ownership."""

from pathlib import Path

import tengen

board = tengen.Board(9, moves="B E5 W C5 B E3 W G4")
analysis = tengen.analyse(board, visits=30)
print(analysis)
Path("analysis.svg").write_text(analysis.svg(), encoding="utf-8")
