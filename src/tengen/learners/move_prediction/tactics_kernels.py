"""Read what a move does at once: captures, ataris, liberties, nearness; no search, no learning.

`read_blocks` of the board's ladders lists the liberties of all blocks once per position; the
kernels here use these lists. Arrays called start, count and saves are indexed by points (block
heads), `libs` is one flat list.
"""

# mypy: ignore-errors

from __future__ import annotations

from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, HEAD, NEXT, ROWS, SCALARS, SIZE
from tengen.jit import inner_kernel

# What `read_move` writes about a move.
CAPTURED = 0  # stones taken
CAPTURES_LAST = 1  # 1 if the last move's block is taken
CAPTURE_SAVES = 2  # 1 if a taken block held an own block in atari
SAVED = 3  # stones of own neighbouring blocks in atari
LIBERTIES = 4  # of the new block, counted to _MANY
SIZE_AFTER = 5  # stones of the new block
ATARIED = 6  # stones of the largest enemy block that gets its last but one liberty filled
ATARIS = 7  # how many enemy blocks are put into atari
ATARI_LAST = 8  # 1 if the last move's block is put into atari
OWN_BLOCKS = 9  # own blocks next to the move
ENEMY_BLOCKS = 10  # enemy blocks next to the move
OWN_LIBERTIES = 11  # least liberties of an own neighbouring block before the move, 0 for none
ENEMY_LIBERTIES = 12  # least liberties of an enemy neighbouring block, 0 for none
ENEMY_SIZE = 13  # stones of that enemy block, of the largest such one
EMPTY_NEIGHBOURS = 14
FACTS = 15
_MANY = 9


@inner_kernel
def _saves_a_neighbour(s, head, count):
    """Tell whether taking the block saves an enemy of it that is in atari."""
    width = s[SCALARS, COLS] + 1
    other = 3 - s[COLOUR, head]
    x = head
    while True:
        for k in range(4):
            q = x + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, q] == other and count[s[HEAD, q]] == 1:
                return True
        x = s[NEXT, x]
        if x == head:
            return False


@inner_kernel
def read_move(s, p, mover, last_head, start, count, libs, stamp, mark, facts):
    """Write the facts of `mover` playing the legal point `p`; `mark` is new for every call."""
    width = s[SCALARS, COLS] + 1
    for i in range(FACTS):
        facts[i] = 0
    own0 = own1 = own2 = own3 = -1
    foe0 = foe1 = foe2 = -1
    liberties = 0
    size = 1
    stamp[p] = mark
    for k in range(4):
        q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
        c = s[COLOUR, q]
        if c == EMPTY:
            facts[EMPTY_NEIGHBOURS] += 1
            if stamp[q] != mark:
                stamp[q] = mark
                liberties += 1
            continue
        if c == BORDER:
            continue
        head = s[HEAD, q]
        n = count[head]
        if c == mover:
            if head == own0 or head == own1 or head == own2:
                continue
            own3, own2, own1, own0 = own2, own1, own0, head
            size += s[SIZE, head]
            facts[OWN_BLOCKS] += 1
            if n == 1:
                facts[SAVED] += s[SIZE, head]
            if facts[OWN_LIBERTIES] == 0 or n < facts[OWN_LIBERTIES]:
                facts[OWN_LIBERTIES] = n
            for j in range(start[head], start[head] + n):
                if liberties >= _MANY:
                    break
                x = libs[j]
                if stamp[x] != mark:
                    stamp[x] = mark
                    liberties += 1
        else:
            if head == foe0 or head == foe1 or head == foe2:
                continue
            foe2, foe1, foe0 = foe1, foe0, head
            facts[ENEMY_BLOCKS] += 1
            if facts[ENEMY_LIBERTIES] == 0 or n < facts[ENEMY_LIBERTIES]:
                facts[ENEMY_LIBERTIES] = n
                facts[ENEMY_SIZE] = s[SIZE, head]
            elif n == facts[ENEMY_LIBERTIES]:
                # The largest: which comes first depends on how the board lies.
                facts[ENEMY_SIZE] = max(facts[ENEMY_SIZE], s[SIZE, head])
            if n == 1:
                facts[CAPTURED] += s[SIZE, head]
                if head == last_head:
                    facts[CAPTURES_LAST] = 1
                if _saves_a_neighbour(s, head, count):
                    facts[CAPTURE_SAVES] = 1
            elif n == 2:
                facts[ATARIS] += 1
                facts[ATARIED] = max(facts[ATARIED], s[SIZE, head])
                if head == last_head:
                    facts[ATARI_LAST] = 1
    if facts[CAPTURED] > 0:
        # Taken stones next to the new block become its liberties.
        for k in range(4):
            q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, q] != 3 - mover or count[s[HEAD, q]] != 1:
                continue
            head = s[HEAD, q]
            x = head
            while True:
                for m in range(4):
                    y = x + (1 if m == 0 else -1 if m == 1 else width if m == 2 else -width)
                    joined = y == p
                    if s[COLOUR, y] == mover:
                        h = s[HEAD, y]
                        joined = h == own0 or h == own1 or h == own2 or h == own3
                    if joined and stamp[x] != mark:
                        stamp[x] = mark
                        liberties += 1
                x = s[NEXT, x]
                if x == head:
                    break
    facts[LIBERTIES] = min(liberties, _MANY)
    facts[SIZE_AFTER] = size


@inner_kernel
def distance_maps(s, mover, near_own, near_enemy):
    """Write the steps from every point to the nearest own and enemy stone (row-major, to 9)."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for r in range(rows):
        for c in range(cols):
            colour = s[COLOUR, (r + 1) * (cols + 1) + c + 1]
            i = r * cols + c
            near_own[i] = 0 if colour == mover else 9
            near_enemy[i] = 0 if colour == 3 - mover else 9
            if r > 0:
                near_own[i] = min(near_own[i], near_own[i - cols] + 1)
                near_enemy[i] = min(near_enemy[i], near_enemy[i - cols] + 1)
            if c > 0:
                near_own[i] = min(near_own[i], near_own[i - 1] + 1)
                near_enemy[i] = min(near_enemy[i], near_enemy[i - 1] + 1)
    for r in range(rows - 1, -1, -1):
        for c in range(cols - 1, -1, -1):
            i = r * cols + c
            if r < rows - 1:
                near_own[i] = min(near_own[i], near_own[i + cols] + 1)
                near_enemy[i] = min(near_enemy[i], near_enemy[i + cols] + 1)
            if c < cols - 1:
                near_own[i] = min(near_own[i], near_own[i + 1] + 1)
                near_enemy[i] = min(near_enemy[i], near_enemy[i + 1] + 1)


@inner_kernel
def density_maps(s, mover, reach, sums, out_own, out_enemy):
    """Count own and enemy stones in the square of `reach` around every point (row-major).

    `sums` is room for (2, rows + 1, cols + 1) prefix sums.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    sums[:] = 0
    for r in range(rows):
        for c in range(cols):
            colour = s[COLOUR, (r + 1) * (cols + 1) + c + 1]
            for k in range(2):
                hit = 1 if colour == (mover if k == 0 else 3 - mover) else 0
                sums[k, r + 1, c + 1] = sums[k, r, c + 1] + sums[k, r + 1, c] - sums[k, r, c] + hit
    for r in range(rows):
        r0, r1 = max(0, r - reach), min(rows, r + reach + 1)
        for c in range(cols):
            c0, c1 = max(0, c - reach), min(cols, c + reach + 1)
            i = r * cols + c
            out_own[i] = sums[0, r1, c1] - sums[0, r0, c1] - sums[0, r1, c0] + sums[0, r0, c0]
            out_enemy[i] = sums[1, r1, c1] - sums[1, r0, c1] - sums[1, r1, c0] + sums[1, r0, c0]
