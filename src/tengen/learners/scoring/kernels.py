"""Make the verdicts on the blocks of a position agree with each other; know no features."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import number_alike
from tengen.jit import kernel


@kernel
def _count_once(x, seen, mark):
    """Tell whether part x is met for the first time under this mark."""
    if seen[x] == mark:
        return False
    seen[x] = mark
    return True


@kernel
def settle(line, width, part, count, logit, alive):
    """Make who is alive consistent, at the least cost in logits; return how many parts changed.

    Two rules hold afterwards. Of two enemy blocks that touch not both are dead. What a dead block
    and its neighbours leave empty touches no living block of its own colour: then either it lives
    too, or its friends die with it.
    """
    n = line.shape[0]
    changes = 0
    kind = np.empty(n, np.int8)
    field = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    seen = np.zeros(count, np.int64)
    mark = 0
    for turn in range(4 * count + 4):
        changed = False
        for p in range(n):
            if line[p] != 1 and line[p] != 2:
                continue
            for q in (p + 1, p + width):
                if line[q] == 3 - line[p] and not alive[part[p]] and not alive[part[q]]:
                    x = part[p] if logit[part[p]] >= logit[part[q]] else part[q]
                    alive[x] = True
                    changes += 1
                    changed = True
        for p in range(n):
            kind[p] = -1 if line[p] == 3 or (line[p] != 0 and alive[part[p]]) else 0
        for number in range(number_alike(kind, width, field, stack)):
            for colour in (1, 2):
                mark += 1
                revive, kill = 0.0, 0.0
                any_dead, any_friend = False, False
                for p in range(n):
                    if field[p] != number:
                        continue
                    if line[p] == colour and _count_once(part[p], seen, mark):
                        any_dead = True
                        revive += max(-logit[part[p]], 0.0)
                    for q in (p + 1, p - 1, p + width, p - width):
                        if line[q] == colour and alive[part[q]]:
                            if _count_once(part[q], seen, mark):
                                any_friend = True
                                kill += max(logit[part[q]], 0.0)
                if not (any_dead and any_friend):
                    continue
                for p in range(n):
                    if field[p] != number:
                        continue
                    # After long enough only the dead may change, so that it ends.
                    if revive <= kill or turn > count:
                        if line[p] == colour and not alive[part[p]]:
                            alive[part[p]] = True
                            changes += 1
                    else:
                        for q in (p + 1, p - 1, p + width, p - width):
                            if line[q] == colour and alive[part[q]]:
                                alive[part[q]] = False
                                changes += 1
                changed = True
                break
            if changed:
                break
        if not changed:
            break
    return changes
