// The rules of Go for thousands of games at once on a GPU, and the bytes the network reads.
//
// `inputs_kernels.py` says what a byte means; `Boards` in `search.py`, what the arrays hold. A
// position is its bytes and the side to move. Sets of points are a few words: bit row * WIDE +
// column, with one column that stays empty, so that no shift runs from one row into the next. The
// same text compiles as plain C++, where every kernel is a loop; so it is tested without a GPU.

#ifndef LINES
#define LINES 9
#endif
#define WIDE (LINES + 1)
#define WORDS ((LINES * WIDE + 63) / 64)
#define POINTS (LINES * LINES)
#define SET_WORDS (3 * WORDS + 1)
#define HISTORY 5
#define FACTS 4

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HERE static __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define EACH(i, n) const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)
#define BITS(x) __popcll(x)
#define FIRST(x) (__ffsll(x) - 1)
#else
#define HERE static inline
#define KERNEL extern "C" void
#define EACH(i, n) for (int i = 0; i < n; i++)
#define BITS(x) __builtin_popcountll(x)
#define FIRST(x) (__builtin_ffsll(x) - 1)
#endif

enum { OWN = 1, ENEMY = 2, LIBERTIES = 2, TAKES = 16, KO = 64 };  // of a byte
enum { TURN, PASSES, PLY, SCORE };                                 // of the facts
enum { BLACK = 1 };

typedef unsigned long long word;
struct Set { word w[WORDS]; };

HERE Set none() { Set s; for (int i = 0; i < WORDS; i++) s.w[i] = 0; return s; }
HERE Set both(Set a, Set b) { for (int i = 0; i < WORDS; i++) a.w[i] &= b.w[i]; return a; }
HERE Set either(Set a, Set b) { for (int i = 0; i < WORDS; i++) a.w[i] |= b.w[i]; return a; }
HERE Set without(Set a, Set b) { for (int i = 0; i < WORDS; i++) a.w[i] &= ~b.w[i]; return a; }
HERE bool any(Set a) { word x = 0; for (int i = 0; i < WORDS; i++) x |= a.w[i]; return x != 0; }
HERE bool same(Set a, Set b) {
    word x = 0;
    for (int i = 0; i < WORDS; i++) x |= a.w[i] ^ b.w[i];
    return x == 0;
}
HERE int size(Set a) { int n = 0; for (int i = 0; i < WORDS; i++) n += BITS(a.w[i]); return n; }

HERE Set at(int point) {
    const int bit = point / LINES * WIDE + point % LINES;
    Set s;
    for (int i = 0; i < WORDS; i++) s.w[i] = (bit >> 6) == i ? 1ull << (bit & 63) : 0;
    return s;
}

HERE int only_point(Set a) {
    for (int i = 0; i < WORDS; i++)
        if (a.w[i]) { const int bit = 64 * i + FIRST(a.w[i]); return bit / WIDE * LINES + bit % WIDE; }
    return -1;
}

// A set and its neighbours; what lies beyond the edges is for the caller to cut off.
HERE Set grown(Set a) {
    Set r;
    for (int i = 0; i < WORDS; i++) {
        const word below = i ? a.w[i - 1] : 0, above = i + 1 < WORDS ? a.w[i + 1] : 0, x = a.w[i];
        r.w[i] = x | x << 1 | below >> 63 | x >> 1 | above << 63
               | x << WIDE | below >> (64 - WIDE) | x >> WIDE | above << (64 - WIDE);
    }
    return r;
}

HERE Set flood(Set from, Set within) {
    for (;;) {
        const Set more = both(grown(from), within);
        if (same(more, from)) return from;
        from = more;
    }
}

// Neighbour k of a point as a set; empty beyond the edge.
HERE Set neighbour(int point, int k) {
    const int row = point / LINES, col = point % LINES;
    if (k == 0) return col + 1 < LINES ? at(point + 1) : none();
    if (k == 1) return col > 0 ? at(point - 1) : none();
    if (k == 2) return row + 1 < LINES ? at(point + LINES) : none();
    return row > 0 ? at(point - LINES) : none();
}

HERE int stone_byte(Set own, Set enemy, Set empty, Set bit) {
    const bool mine = any(both(own, bit));
    const Set liberties = both(grown(flood(bit, mine ? own : enemy)), empty);
    const int n = size(liberties);
    return (mine ? OWN : ENEMY) | ((n < 4 ? n : 4) - 1) << LIBERTIES;
}

HERE int empty_byte(Set own, Set enemy, Set empty, Set bit, int point) {
    Set liberties = without(both(grown(flood(bit, either(own, bit))), empty), bit);
    int takes = 0;
    for (int k = 0; k < 4; k++) {
        const Set q = both(neighbour(point, k), enemy);
        if (any(q) && size(both(grown(flood(q, enemy)), empty)) == 1) {
            takes = TAKES;
            liberties = either(liberties, q);
        }
    }
    const int n = size(liberties);
    return n ? (n < 3 ? n : 3) << LIBERTIES | takes : 0;
}

HERE void read_sets(const unsigned char *codes, Set *own, Set *enemy, Set *empty) {
    *own = *enemy = *empty = none();
    for (int p = 0; p < POINTS; p++) {
        const int stone = codes[p] & 3;
        const Set bit = at(p);
        if (stone == OWN) *own = either(*own, bit);
        else if (stone == ENEMY) *enemy = either(*enemy, bit);
        else *empty = either(*empty, bit);
    }
}

// Black's area less White's: stones, and empty points from which only one colour is reached.
HERE int area(Set black, Set white, Set empty) {
    const Set to_black = both(flood(black, either(black, empty)), empty);
    const Set to_white = both(flood(white, either(white, empty)), empty);
    return size(black) + size(without(to_black, to_white))
         - size(white) - size(without(to_white, to_black));
}

// Play a legal move a game: source slot -> target slot, all but the bytes, for which it writes sets.
KERNEL play_moves(const unsigned char *codes, short *history, int *facts, const long long *source,
                  const long long *moves, const long long *target, word *sets, int games) {
    EACH(g, games) {
        const long long from = source[g], to = target[g];
        const int move = (int)moves[g];
        Set own, enemy, empty;
        read_sets(codes + from * POINTS, &own, &enemy, &empty);
        int ko = -1;
        if (move < POINTS) {
            const Set bit = at(move), near = without(grown(bit), bit);
            const bool alone = !any(both(near, own)) && !any(both(near, empty));
            empty = without(empty, bit);
            own = either(own, bit);
            Set taken = none();
            for (int k = 0; k < 4; k++) {
                const Set q = both(neighbour(move, k), enemy);
                if (!any(q) || any(both(q, taken))) continue;
                const Set block = flood(q, enemy);
                if (!any(both(grown(block), empty))) taken = either(taken, block);
            }
            enemy = without(enemy, taken);
            empty = either(empty, taken);
            if (alone && size(taken) == 1) ko = only_point(taken);
        }
        const int turn = facts[from * FACTS + TURN];
        const int passes = move < POINTS ? 0 : facts[from * FACTS + PASSES] + 1;
        const int ply = facts[from * FACTS + PLY] + 1;
        facts[to * FACTS + TURN] = 3 - turn;
        facts[to * FACTS + PASSES] = passes;
        facts[to * FACTS + PLY] = ply;
        facts[to * FACTS + SCORE] = turn == BLACK ? area(own, enemy, empty) : area(enemy, own, empty);
        for (int i = HISTORY - 1; i > 0; i--)
            history[to * HISTORY + i] = history[from * HISTORY + i - 1];
        history[to * HISTORY] = move < POINTS ? (short)move : (short)-1;
        word *out = sets + (long long)g * SET_WORDS;  // as the other side sees them
        for (int i = 0; i < WORDS; i++) {
            out[i] = enemy.w[i];
            out[WORDS + i] = own.w[i];
            out[2 * WORDS + i] = empty.w[i];
        }
        out[3 * WORDS] = (word)(long long)ko;
    }
}

// Write the bytes of the positions that `play_moves` left as sets; one thread a point.
KERNEL write_bytes(const word *sets, const long long *target, unsigned char *codes, int games) {
    EACH(i, games * POINTS) {
        const int g = i / POINTS, point = i % POINTS;
        const word *in = sets + (long long)g * SET_WORDS;
        Set own, enemy, empty;
        for (int k = 0; k < WORDS; k++) {
            own.w[k] = in[k];
            enemy.w[k] = in[WORDS + k];
            empty.w[k] = in[2 * WORDS + k];
        }
        const Set bit = at(point);
        int code;
        if (!any(both(bit, empty))) code = stone_byte(own, enemy, empty, bit);
        else if ((int)(long long)in[3 * WORDS] == point) code = KO;
        else code = empty_byte(own, enemy, empty, bit, point);
        codes[target[g] * POINTS + point] = (unsigned char)code;
    }
}

// Say who owns every point of some positions: 1 the side to move, -1 the other, 0 nobody.
KERNEL write_owners(const unsigned char *codes, const long long *slots, signed char *owners,
                    int games) {
    EACH(g, games) {
        Set own, enemy, empty;
        read_sets(codes + slots[g] * POINTS, &own, &enemy, &empty);
        const Set to_own = both(flood(own, either(own, empty)), empty);
        const Set to_enemy = both(flood(enemy, either(enemy, empty)), empty);
        const Set mine = either(own, without(to_own, to_enemy));
        const Set theirs = either(enemy, without(to_enemy, to_own));
        for (int p = 0; p < POINTS; p++) {
            const Set bit = at(p);
            owners[(long long)g * POINTS + p] = any(both(bit, mine)) ? 1 : any(both(bit, theirs)) ? -1 : 0;
        }
    }
}
