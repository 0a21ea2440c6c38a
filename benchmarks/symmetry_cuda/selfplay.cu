// Play games of self-play with internal symmetry networks on a GPU and take their TD(lambda) gradient.
//
// One thread block plays one game; all blocks of a launch play at once, `batch` games for each of several
// independent trainings. The rules, the categories, the values and the gradient are those of the Numba
// kernels beside this file (positions, random streams and whole-number liberty sums are the same, so a
// game is the same game as long as rounding does not tip a draw). Built for one board size:
//     nvcc -O3 -arch=sm_90 -DSIZE=9 -shared -Xcompiler -fPIC selfplay.cu -o selfplay.so
// Without CUDA it compiles as C++ (g++ -x c++ -DHOST) with one thread per block: slow, for tests.

#include <cmath>
#include <cstdint>

#ifndef SIZE
#define SIZE 9
#endif

#ifdef HOST
#define __global__
#define __device__
#define __forceinline__ inline
#define LANES 1
#define WARPS 1
#define SYNC()
#define WSYNC()
#define TID 0
static inline int any_thread(int v) { return v; }
static inline int warp_any(int v) { return v; }
static inline unsigned ballot(int v) { return v ? 1u : 0u; }
static inline int popc(unsigned v) { return v ? 1 : 0; }
template <class T> static inline T warp_sum(T v) { return v; }
static inline void add_int(int *p, int v) { *p += v; }
static inline void xor_word(unsigned long long *p, unsigned long long v) { *p ^= v; }
#define LT_MASK 0u
#else
#define LANES 32
#ifndef WARPS
#define WARPS 8
#endif
#define SYNC() __syncthreads()
#define WSYNC() __syncwarp()
#define BLOCK ((int)blockIdx.x)
#define TID ((int)threadIdx.x)
__device__ __forceinline__ int any_thread(int v) { return __syncthreads_or(v); }
__device__ __forceinline__ int warp_any(int v) { return __any_sync(~0u, v); }
__device__ __forceinline__ unsigned ballot(int v) { return __ballot_sync(~0u, v); }
__device__ __forceinline__ int popc(unsigned v) { return __popc(v); }
template <class T> __device__ __forceinline__ T warp_sum(T v) {
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ __forceinline__ void add_int(int *p, int v) { atomicAdd(p, v); }
__device__ __forceinline__ void xor_word(unsigned long long *p, unsigned long long v) {
  atomicXor(p, v);
}
#define LT_MASK ((1u << (threadIdx.x & 31)) - 1u)
#endif

#define NT (LANES * WARPS)
enum { C = SIZE * SIZE, W = SIZE + 1, N = (SIZE + 2) * (SIZE + 1) + 1, LIMIT = 3 * SIZE * SIZE };
enum { EMPTY = 0, BLACK = 1, WHITE = 2, BORDER = 3, ONE = 1 << 20 };
enum { HID = 12, OUT = 8, CELL = 24, FLAT = 9 * 14 * CELL + CELL + HID * 9 * OUT, PAD = 13 };
typedef unsigned long long u64;
#if SIZE <= 13
typedef uint8_t idx;  // an index of a cell among the changed ones, or NONE
#define NONE 255
#else
typedef uint16_t idx;
#define NONE 65535
#endif

// What one training is told; doubles and ints as the Python side packs them.
struct Params {
  double beta, lambda, capture;
  double maxlib;        // share of games in which one side plays for liberties
  float table[3][9];    // value of a vertex: seven outputs, a zero, the constant, by state
  float targets[7][5];  // targets of the outputs by final class
  int cats[5];          // mode and thresholds of the categories
  int pad;
  u64 seed;
  int64_t first;  // number of the first game of this launch
};

struct Warp {
  float dh[C * PAD];  // differences of hidden units of changed cells
  uint8_t x[N];       // inputs after the move
  idx at[N];          // place of a cell in `list`, or NONE
  uint16_t list[C], outs[C];
};

struct Back {
  float aim[C * 5], delta[N * OUT], dh[N * HID];
  float bins[14 * 9 * 19];
  double square;
};

// A position and its evaluation.
struct Board {
  float hi[126 * HID], oi[126 * OUT], oh[9 * HID * OUT], bias[CELL];
  float h[N * HID], read[C * 3], sums[WARPS];
  int lz[2][N], la[2][N];  // what a liberty counts for Black [0] and White [1]
  int sz[N], sa[N], libs[N], size[N];
  u64 hash[N];
  uint16_t label[N];
  uint8_t stone[N], x[N], cat[N];
};

// A game under way.
struct Game : Board {
  float ao[N * OUT], value[C];
  u64 seen[LIMIT + 2], now;
  double val[C + 1], exps[C + 1];
  uint8_t aim_class[N];
  int legal[C + 1];
  int turn, plies, passes, move;
  int simple, blocks[2], sums_libs[2];  // who plays for liberties, if anybody; totals by colour
  union {
    Warp warp[WARPS];
    Back back;
  };
};

#ifdef HOST
static const int READS[3][3] = {{0, 3, 4}, {2, 6, 7}, {1, 5, 7}};
#else
__constant__ int READS[3][3] = {{0, 3, 4}, {2, 6, 7}, {1, 5, 7}};
#endif

__device__ __forceinline__ int cell(int i) { return (i / SIZE + 1) * W + i % SIZE + 1; }
__device__ __forceinline__ int row_major(int p) { return (p / W - 1) * SIZE + (p - 1) % W; }
__device__ __forceinline__ int side(int k) { return k == 0 ? 1 : k == 1 ? -1 : k == 2 ? W : -W; }
__device__ __forceinline__ int step(int nu) {
  switch (nu) {
    case 0: return 0;
    case 1: return 1;
    case 2: return -W;
    case 3: return -1;
    case 4: return W;
    case 5: return 1 - W;
    case 6: return -1 - W;
    case 7: return W - 1;
    default: return W + 1;
  }
}
__device__ __forceinline__ float sigmoid(float v) { return 0.5f + 0.5f * tanhf(0.5f * v); }
__device__ __forceinline__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ __forceinline__ int category(int sz, int sa, int libs, const int *cats) {
  if (cats[0] == 0) {
    int q = sz - sa;
    if (sa >= cats[2]) return 5;
    if (sa >= cats[1]) return q < cats[3] ? 3 : 4;
    return q < cats[3] ? 0 : q < cats[4] ? 1 : 2;
  }
  if (cats[0] == 1) return (libs < 6 ? libs : 6) - 1;
  if (cats[0] == 3) {
    if (sa >= cats[2]) return 5;
    if (libs <= 2) return libs - 1;
    return sa >= cats[1] ? 4 : libs == 3 ? 2 : 3;
  }
  return 0;
}

// Give every stone the smallest point of its block as label.
__device__ void label_blocks(Board &g) {
  for (int i = TID; i < C; i += NT) g.label[cell(i)] = (uint16_t)cell(i);
  SYNC();
  for (;;) {
    int moved = 0;
    for (int i = TID; i < C; i += NT) {
      int p = cell(i), c = g.stone[p];
      if (c == EMPTY) continue;
      int low = g.label[p];
      for (int k = 0; k < 4; k++) {
        int q = p + side(k);
        if (g.stone[q] == c && g.label[q] < low) low = g.label[q];
      }
      if (g.label[low] < low) low = g.label[low];
      if (low < g.label[p]) {
        g.label[p] = (uint16_t)low;
        moved = 1;
      }
    }
    if (!any_thread(moved)) break;
  }
}

// Sum over every block's liberties, count them, and set categories and inputs.
__device__ void categorise(Board &g, const Params &par, const u64 *zobrist) {
  for (int p = TID; p < N; p += NT) {
    g.sz[p] = g.sa[p] = g.libs[p] = g.size[p] = 0;
    g.hash[p] = 0;
  }
  SYNC();
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p];
    if (c != EMPTY) {
      add_int(&g.size[g.label[p]], 1);
      xor_word(&g.hash[g.label[p]], zobrist[c * N + p]);
      continue;
    }
    int met[4];
    for (int k = 0; k < 4; k++) {
      int q = p + side(k), d = g.stone[q];
      met[k] = -1;
      if (d != BLACK && d != WHITE) continue;
      int l = g.label[q];
      if ((k > 0 && met[0] == l) || (k > 1 && met[1] == l) || (k > 2 && met[2] == l)) continue;
      met[k] = l;
      add_int(&g.sz[l], g.lz[d - 1][p]);
      add_int(&g.sa[l], g.la[d - 1][p]);
      add_int(&g.libs[l], 1);
    }
  }
  SYNC();
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p];
    if (c == EMPTY) {
      g.x[p] = 12;
    } else {
      int l = g.label[p], kind = category(g.sz[l], g.sa[l], g.libs[l], par.cats);
      g.cat[p] = (uint8_t)kind;
      g.x[p] = (uint8_t)(kind + (c == BLACK ? 6 : 0));
    }
  }
  SYNC();
}

__device__ void hidden_units(Board &g) {
  for (int it = TID; it < C * HID; it += NT) {
    int p = cell(it / HID), j = it % HID;
    float a = g.bias[j];
    for (int nu = 0; nu < 9; nu++) a += g.hi[(nu * 14 + g.x[p + step(nu)]) * HID + j];
    g.h[p * HID + j] = tanhf(a);
  }
  SYNC();
}

__device__ __forceinline__ float output_net(const Board &g, int p, int k) {
  float a = g.bias[16 + k];
  for (int nu = 0; nu < 9; nu++) {
    int q = p + step(nu);
    a += g.oi[(nu * 14 + g.x[q]) * OUT + k];
#pragma unroll
    for (int j = 0; j < HID; j++) a += g.h[q * HID + j] * g.oh[(nu * HID + j) * OUT + k];
  }
  return a;
}

// Evaluate the outputs that apply and what every point counts as a liberty from now on.
__device__ void evaluate_now(Board &g, const Params &par) {
  hidden_units(g);
  for (int it = TID; it < C * 3; it += NT) {
    int p = cell(it / 3), k = READS[g.stone[p]][it % 3];
    g.read[it] = k < 7 ? sigmoid(output_net(g, p, k)) : 0.f;
  }
  SYNC();
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p];
    int z = (int)(g.read[i * 3] * (float)ONE), a = (int)(g.read[i * 3 + 1] * (float)ONE);
    int b = (int)(g.read[i * 3 + 2] * (float)ONE);
    g.lz[1][p] = z;
    g.lz[0][p] = ONE - z;
    g.la[1][p] = c == WHITE ? 0 : a;                   // empty: Aw; black stone: Abk
    g.la[0][p] = c == EMPTY ? b : c == WHITE ? a : 0;  // empty: Ab; white stone: Ao
  }
  SYNC();
}

// Evaluate all outputs and vertex values of the base position; returns the board's value.
__device__ double evaluate_base(Game &g, const Params &par) {
  hidden_units(g);
  for (int it = TID; it < C * 7; it += NT) {
    int p = cell(it / 7), k = it % 7;
    g.ao[p * OUT + k] = output_net(g, p, k);
  }
  SYNC();
  float part = 0.f;
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p];
    float v = par.table[c][8];
    for (int m = 0; m < 3; m++) {
      int k = READS[c][m];
      if (k < 7) v += par.table[c][k] * sigmoid(g.ao[p * OUT + k]);
    }
    g.value[i] = v;
    part += v;
  }
  part = warp_sum(part);
  if (TID % LANES == 0) g.sums[TID / LANES] = part;
  SYNC();
  double total = 0;
  for (int w = 0; w < WARPS; w++) total += g.sums[w];
  return total;
}

__device__ __forceinline__ bool among(int l, const int *list, int n) {
  return (n > 0 && l == list[0]) || (n > 1 && l == list[1]) || (n > 2 && l == list[2]) ||
         (n > 3 && l == list[3]);
}

// A one-point eye that is not plainly false, as players/simple_kernels.py has it.
__device__ bool own_eye(const Game &g, int p, int me) {
  for (int k = 0; k < 4; k++) {
    int q = p + side(k), c = g.stone[q];
    if (c != BORDER && (c != me || g.libs[g.label[q]] == 1)) return false;
  }
  int bad = 0, edge = 0;
  for (int nu = 5; nu < 9; nu++) {
    int c = g.stone[p + step(nu)];
    bad += c == 3 - me;
    edge |= c == BORDER;
  }
  return bad <= (edge ? 0 : 1);
}

// One warp values one move. Writes g.val and g.legal at i + 1.
__device__ void candidate(Game &g, Warp &w, const Params &par, const u64 *zobrist, int i,
                          double total) {
  int lane = TID % LANES, p = cell(i), me = g.turn, en = 3 - me;
  int caps[4] = {0, 0, 0, 0}, own[4] = {0, 0, 0, 0}, rest[4] = {0, 0, 0, 0}, kinds[4] = {0, 0, 0, 0};
  int ncap = 0, nown = 0, nrest = 0;
  bool free_ = false;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int q = p + side(k), c = g.stone[q];
    if (c == EMPTY) {
      free_ = true;
    } else if (c == en) {
      int l = g.label[q];
      if (g.libs[l] == 1) {
        if (!among(l, caps, ncap)) caps[ncap++] = l;
      } else if (!among(l, rest, nrest)) {
        rest[nrest++] = l;
      }
    } else if (c == me) {
      int l = g.label[q];
      if (g.libs[l] > 1) free_ = true;
      if (!among(l, own, nown)) own[nown++] = l;
    }
  }
  u64 key = g.now ^ zobrist[me * N + p];
  int captured = 0;
  for (int k = 0; k < ncap; k++) {
    key ^= g.hash[caps[k]];
    captured += g.size[caps[k]];
  }
  if (key == 0) key = 1;
  int again = 0;
  for (int t = lane; t <= g.plies; t += LANES) again |= g.seen[t] == key;
  if ((!free_ && ncap == 0) || warp_any(again)) {
    if (lane == 0) g.legal[i + 1] = 0;
    return;
  }
  // Liberties of the new stone's block; own blocks relieved by captures gather theirs in `extra`.
  int *extra = (int *)w.dh;
  if (ncap) {
    for (int q = lane; q < 3 * N; q += LANES) extra[q] = 0;
    WSYNC();
  }
  int sz = 0, sa = 0, libs = 0, more = 0;
  for (int m = lane; m < C; m += LANES) {
    int q = cell(m), c = g.stone[q];
    bool gone = c == en && among(g.label[q], caps, ncap);
    if (q == p || !(c == EMPTY || gone)) continue;
    bool touches = false;
    int met[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int r = q + side(k);
      met[k] = -1;
      if (r == p) touches = true;
      if (g.stone[r] != me) continue;
      int l = g.label[r];
      if (among(l, own, nown)) {
        touches = true;
      } else if (gone) {
        if ((k > 0 && met[0] == l) || (k > 1 && met[1] == l) || (k > 2 && met[2] == l)) continue;
        met[k] = l;
        add_int(&extra[l], g.lz[me - 1][q]);
        add_int(&extra[N + l], g.la[me - 1][q]);
        add_int(&extra[2 * N + l], 1);
        more++;
      }
    }
    if (touches) {
      sz += g.lz[me - 1][q];
      sa += g.la[me - 1][q];
      libs++;
    }
  }
  sz = warp_sum(sz);
  sa = warp_sum(sa);
  libs = warp_sum(libs);
  if (g.turn == g.simple) {
    // This side plays for liberties: average of own blocks minus average of the enemy's.
    more = warp_sum(more);
    if (lane == 0) {
      int ours = g.blocks[me - 1] - nown + 1, others = g.blocks[en - 1] - ncap;
      int mine = g.sums_libs[me - 1] + libs + more, theirs = g.sums_libs[en - 1] - ncap - nrest;
      for (int k = 0; k < nown; k++) mine -= g.libs[own[k]];
      g.legal[i + 1] = !own_eye(g, p, me);
      g.val[i + 1] = (double)mine / ours - (others ? (double)theirs / others : 0.0);
    }
    return;
  }
  int kind = category(sz, sa, libs, par.cats);
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (k < nrest)
      kinds[k] = category(g.sz[rest[k]] - g.lz[en - 1][p], g.sa[rest[k]] - g.la[en - 1][p],
                          g.libs[rest[k]] - 1, par.cats);
  WSYNC();
  // Inputs after the move.
  int mine = me == BLACK ? 6 : 0, theirs = 6 - mine;
  for (int m = lane; m < C; m += LANES) {
    int q = cell(m), c = g.stone[q], x = g.x[q];
    if (q == p) {
      x = mine + kind;
    } else if (c == me) {
      int l = g.label[q];
      if (among(l, own, nown)) {
        x = mine + kind;
      } else if (ncap && extra[2 * N + l]) {
        x = mine + category(g.sz[l] + extra[l], g.sa[l] + extra[N + l],
                            g.libs[l] + extra[2 * N + l], par.cats);
      }
    } else if (c == en) {
      int l = g.label[q];
      if (among(l, caps, ncap)) {
        x = 12;
      } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (k < nrest && l == rest[k]) x = theirs + kinds[k];
      }
    }
    w.x[q] = (uint8_t)x;
  }
  WSYNC();
  // Hidden units that see a changed input.
  int nh = 0;
  for (int start = 0; start < C; start += LANES) {
    int m = start + lane, q = cell(m < C ? m : 0), dirty = 0;
    if (m < C)
      for (int nu = 0; nu < 9; nu++) dirty |= w.x[q + step(nu)] != g.x[q + step(nu)];
    unsigned mask = ballot(dirty);
    if (m < C) w.at[q] = (idx)NONE;
    if (dirty) {
      int at = nh + popc(mask & LT_MASK);
      w.list[at] = (uint16_t)q;
      w.at[q] = (idx)at;
    }
    nh += popc(mask);
  }
  WSYNC();
  for (int it = lane; it < nh * HID; it += LANES) {
    int at = it / HID, j = it % HID, q = w.list[at];
    float a = g.bias[j];
    for (int nu = 0; nu < 9; nu++) a += g.hi[(nu * 14 + w.x[q + step(nu)]) * HID + j];
    w.dh[at * PAD + j] = tanhf(a) - g.h[q * HID + j];
  }
  // Outputs that see a changed hidden unit.
  int no = 0;
  for (int start = 0; start < C; start += LANES) {
    int m = start + lane, q = cell(m < C ? m : 0), dirty = 0;
    if (m < C)
      for (int nu = 0; nu < 9; nu++) dirty |= w.at[q + step(nu)] != (idx)NONE;
    unsigned mask = ballot(dirty);
    if (dirty) w.outs[no + popc(mask & LT_MASK)] = (uint16_t)q;
    no += popc(mask);
  }
  WSYNC();
  float gain = 0.f;
  for (int it = lane; it < no * 3; it += LANES) {
    int q = w.outs[it / 3], c = g.stone[q];
    if (q == p) c = me;
    else if (c == en && among(g.label[q], caps, ncap)) c = EMPTY;
    int k = READS[c][it % 3];
    if (it % 3 == 0) gain += par.table[c][8] - g.value[row_major(q)];
    if (k == 7) continue;
    float a = g.ao[q * OUT + k];
    for (int nu = 0; nu < 9; nu++) {
      int r = q + step(nu), x = w.x[r], x0 = g.x[r], at = w.at[r];
      if (x != x0) a += g.oi[(nu * 14 + x) * OUT + k] - g.oi[(nu * 14 + x0) * OUT + k];
      if (at != NONE) {
#pragma unroll
        for (int j = 0; j < HID; j++) a += w.dh[at * PAD + j] * g.oh[(nu * HID + j) * OUT + k];
      }
    }
    gain += par.table[c][k] * sigmoid(a);
  }
  gain = warp_sum(gain);
  if (lane == 0) {
    g.legal[i + 1] = 1;
    g.val[i + 1] = total + (double)gain + (me == WHITE ? par.capture : -par.capture) * captured;
  }
}

// Draw a move as the CPU does and play it; pass is index 0.
__device__ void draw_and_play(Game &g, const Params &par, const u64 *zobrist, u64 &random) {
  bool simple = g.turn == g.simple;
  double sign = simple || g.turn == WHITE ? 1.0 : -1.0, top = simple ? -1e9 : sign * g.val[0];
  for (int i = 1; i <= C; i++)
    if (g.legal[i] && sign * g.val[i] > top) top = sign * g.val[i];
  for (int i = TID; i <= C; i += NT) {
    double d = sign * g.val[i] - top;
    g.exps[i] = !g.legal[i] ? 0.0 : simple ? (i ? d > -1e-9 : top < -1e8) : exp(par.beta * d);
  }
  random += 0x9E3779B97F4A7C15ull;
  double u = (double)(mix(random) >> 11) * (1.0 / 9007199254740992.0);
  SYNC();
  if (TID == 0) {
    double total = 0;
    for (int i = 0; i <= C; i++) total += g.exps[i];
    double left = u * total;
    int chosen = -1, best = 0;
    for (int i = 0; i <= C && chosen < 0; i++) {
      if (!g.legal[i]) continue;
      if (sign * g.val[i] == top) best = i;
      left -= g.exps[i];
      if (left <= 0.0) chosen = i;
    }
    g.move = chosen < 0 ? best : chosen;
  }
  SYNC();
  if (g.move > 0) {
    int p = cell(g.move - 1), me = g.turn, en = 3 - me, caps[4] = {0, 0, 0, 0}, n = 0;
    for (int k = 0; k < 4; k++) {
      int q = p + side(k);
      if (g.stone[q] == en && g.libs[g.label[q]] == 1 && !among(g.label[q], caps, n))
        caps[n++] = g.label[q];
    }
    SYNC();
    for (int i = TID; i < C; i += NT) {
      int q = cell(i);
      if (q == p) g.stone[q] = (uint8_t)me;
      else if (n && g.stone[q] == en && among(g.label[q], caps, n)) g.stone[q] = EMPTY;
    }
    if (TID == 0) {
      g.now ^= zobrist[me * N + p];
      for (int k = 0; k < n; k++) g.now ^= g.hash[caps[k]];
    }
  }
  SYNC();
  if (TID == 0) {
    g.plies++;
    g.passes = g.move == 0 ? g.passes + 1 : 0;
    g.turn = 3 - g.turn;
    g.seen[g.plies] = g.now ? g.now : 1;
  }
  SYNC();
}

// Final class of every vertex; also returns the area score for Black (thread 0's is right).
__device__ int classes(Game &g) {
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), t = 0;
    if (g.stone[p] == EMPTY)
      for (int k = 0; k < 4; k++) {
        int c = g.stone[p + side(k)];
        if (c == BLACK || c == WHITE) t |= c;
      }
    g.cat[p] = (uint8_t)t;
  }
  SYNC();
  for (;;) {
    int moved = 0;
    for (int i = TID; i < C; i += NT) {
      int p = cell(i), t = g.cat[p];
      if (g.stone[p] != EMPTY) continue;
      for (int k = 0; k < 4; k++)
        if (g.stone[p + side(k)] == EMPTY) t |= g.cat[p + side(k)];
      if (t != g.cat[p]) {
        g.cat[p] = (uint8_t)t;
        moved = 1;
      }
    }
    if (!any_thread(moved)) break;
  }
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p], t = g.cat[p];
    g.aim_class[p] = (uint8_t)(c == WHITE ? 1 : c == BLACK ? 3 : t == WHITE ? 0 : t == BLACK ? 4 : 2);
  }
  SYNC();
  int score = 0;
  for (int i = 0; i < C; i++) {
    int a = g.aim_class[cell(i)];
    score += a >= 3 ? 1 : a <= 1 ? -1 : 0;
  }
  return score;
}

__device__ void decode(int c, const float *o, float *q) {
  q[0] = q[1] = q[2] = q[3] = q[4] = 0.f;
  if (c == EMPTY) {
    q[0] = o[1];
    q[1] = fmaxf(o[0] - o[1], 0.f);
    q[4] = o[2];
    q[3] = fmaxf(1.f - o[0] - o[2], 0.f);
  } else if (c == WHITE) {
    q[1] = o[0];
    q[4] = o[1];
    q[3] = fmaxf(1.f - o[0] - o[1], 0.f);
  } else {
    q[0] = o[1];
    q[1] = fmaxf(o[0] - o[1], 0.f);
    q[3] = 1.f - o[0];
  }
  float total = q[0] + q[1] + q[3] + q[4];
  if (total > 0.f)
    for (int i = 0; i < 5; i++) q[i] /= total;
}

enum { OWN = (HID * 9 * 7 + NT - 1) / NT };  // hidden-to-output gradients a thread keeps

// Go back through the game and write its gradient in the layout of packing.py.
__device__ void gradient(Game &g, const Params &par, const uint8_t *xs, const uint8_t *cs,
                         const float *os, float *grads, double *stats) {
  Back &b = g.back;
  float own[OWN];
  for (int m = 0; m < OWN; m++) own[m] = 0.f;
  for (int k = TID; k < 14 * 9 * 19; k += NT) b.bins[k] = 0.f;
  for (int k = TID; k < N * OUT; k += NT) b.delta[k] = 0.f;
  for (int k = TID; k < N * HID; k += NT) b.dh[k] = 0.f;
  double square = 0, terms = 0;
  SYNC();
  for (int t = g.plies; t >= 0; t--) {
    for (int i = TID; i < C; i += NT) {
      int p = cell(i), c = cs[t * C + i];
      g.x[p] = xs[t * C + i];
      if (t == g.plies) {
        for (int m = 0; m < 5; m++) b.aim[i * 5 + m] = g.aim_class[p] == m ? 1.f : 0.f;
      } else if (t < g.plies - 1) {
        float q[5];
        decode(cs[(t + 1) * C + i], os + ((t + 1) * C + i) * 3, q);
        for (int m = 0; m < 5; m++)
          b.aim[i * 5 + m] =
              (float)(1.0 - par.lambda) * q[m] + (float)par.lambda * b.aim[i * 5 + m];
      }
      for (int k = 0; k < OUT; k++) b.delta[p * OUT + k] = 0.f;
      for (int r = 0; r < 3; r++) {
        int k = READS[c][r];
        if (k == 7) continue;
        float goal = 0.f;
        for (int m = 0; m < 5; m++) goal += par.targets[k][m] * b.aim[i * 5 + m];
        float d = goal - os[(t * C + i) * 3 + r];
        b.delta[p * OUT + k] = d;
        square += (double)d * d;
        terms += 1;
      }
    }
    SYNC();
    hidden_units(g);
    for (int it = TID; it < C * HID; it += NT) {
      int p = cell(it / HID), j = it % HID;
      float a = 0.f, h = g.h[p * HID + j];
      for (int nu = 0; nu < 9; nu++) {
        int q = p - step(nu);
#pragma unroll
        for (int k = 0; k < 7; k++) a += b.delta[q * OUT + k] * g.oh[(nu * HID + j) * OUT + k];
      }
      b.dh[p * HID + j] = a * (1.f - h * h);
    }
    SYNC();
    for (int m = 0; m < OWN; m++) {
      int e = TID + m * NT;
      if (e >= HID * 9 * 7) break;
      int k = e % 7, nu = e / 7 % 9, j = e / 63, d = step(nu);
      float a = 0.f;
      for (int y = 1; y <= SIZE; y++)
#pragma unroll
        for (int z = 1; z <= SIZE; z++) {
          int p = y * W + z;
          a += g.h[p * HID + j] * b.delta[(p - d) * OUT + k];
        }
      own[m] += a;
    }
    for (int e = TID; e < 9 * 19; e += NT) {
      int nu = e / 19, u = e % 19, d = step(nu);
      const float *from = u < HID ? b.dh + u : b.delta + (u - HID);
      int stride = u < HID ? HID : OUT;
      for (int y = 1; y <= SIZE; y++)
        for (int z = 1; z <= SIZE; z++) {
          int p = y * W + z;
          b.bins[g.x[p + d] * 171 + e] += from[p * stride];
        }
    }
    SYNC();
  }
  for (int k = TID; k < FLAT; k += NT) grads[k] = 0.f;
  SYNC();
  for (int e = TID; e < 9 * 19; e += NT) {
    int nu = e / 19, u = e % 19, at = u < HID ? u : 16 + u - HID;
    float all = 0.f;
    for (int x = 0; x < 14; x++) {
      grads[(nu * 14 + x) * CELL + at] = b.bins[x * 171 + e];
      all += b.bins[x * 171 + e];
    }
    if (nu == 0) grads[126 * CELL + at] = all;
  }
  for (int m = 0; m < OWN; m++) {
    int e = TID + m * NT;
    if (e >= HID * 9 * 7) break;
    int k = e % 7, nu = e / 7 % 9, j = e / 63;
    grads[126 * CELL + CELL + (j * 9 + nu) * OUT + k] = own[m];
  }
  square = warp_sum(square);
  terms = warp_sum(terms);
  // Warps add their parts one after the other: always in the same order.
  for (int w = 0; w < WARPS; w++) {
    if (TID == w * LANES) {
      stats[3] = (w ? stats[3] : 0) + square;
      stats[4] = (w ? stats[4] : 0) + terms;
    }
    SYNC();
  }
}

// Bring the weights into shared memory and clear the board.
__device__ void load(Board &g, const float *weights) {
  for (int k = TID; k < 126 * CELL; k += NT) {
    int row = k / CELL, u = k % CELL;
    if (u < HID) g.hi[row * HID + u] = weights[k];
    else if (u >= 16) g.oi[row * OUT + u - 16] = weights[k];
  }
  for (int k = TID; k < CELL; k += NT) g.bias[k] = weights[126 * CELL + k];
  for (int k = TID; k < HID * 9 * OUT; k += NT) {
    int o = k % OUT, nu = k / OUT % 9, j = k / (OUT * 9);
    g.oh[(nu * HID + j) * OUT + o] = weights[126 * CELL + CELL + k];
  }
  for (int p = TID; p < N; p += NT) {
    g.stone[p] = BORDER;
    g.x[p] = 13;
    g.label[p] = 0;
    for (int j = 0; j < HID; j++) g.h[p * HID + j] = 0.f;
    for (int c = 0; c < 2; c++) g.lz[c][p] = g.la[c][p] = 0;
  }
  SYNC();
  for (int i = TID; i < C; i += NT) g.stone[cell(i)] = EMPTY;
  SYNC();
}

// Blocks and their liberties by colour, for the side that plays for liberties.
__device__ void count_liberties(Game &g) {
  if (TID < 2) g.blocks[TID] = g.sums_libs[TID] = 0;
#ifdef HOST
  g.blocks[1] = g.sums_libs[1] = 0;
#endif
  SYNC();
  for (int i = TID; i < C; i += NT) {
    int p = cell(i), c = g.stone[p];
    if (c == EMPTY || g.label[p] != p) continue;
    add_int(&g.blocks[c - 1], 1);
    add_int(&g.sums_libs[c - 1], g.libs[p]);
  }
  SYNC();
}

__device__ void play(Game &g, const float *weights, const Params &par, const u64 *zobrist,
                     int64_t index, uint8_t *xs, uint8_t *cs, float *os, float *grads,
                     double *stats) {
  load(g, weights);
  for (int p = TID; p < N; p += NT)
    for (int w = 0; w < WARPS; w++) {
      g.warp[w].x[p] = 13;
      g.warp[w].at[p] = (idx)NONE;
    }
  if (TID == 0) {
    g.turn = BLACK;
    g.plies = g.passes = 0;
    g.now = 0;
    g.seen[0] = 1;
  }
  u64 random = mix(par.seed + 0x9E3779B97F4A7C15ull) ^
               mix(mix((u64)index) + 0x9E3779B97F4A7C15ull);
  if (TID == 0) {
    u64 coin = mix(random ^ 0xD1B54A32D192ED03ull);
    bool against = (double)(coin >> 11) * (1.0 / 9007199254740992.0) < par.maxlib;
    g.simple = against ? 1 + (int)(coin & 1) : 0;
  }
  SYNC();
  for (;;) {
    label_blocks(g);
    categorise(g, par, zobrist);
    evaluate_now(g, par);
    for (int i = TID; i < C; i += NT) {
      xs[g.plies * C + i] = g.x[cell(i)];
      cs[g.plies * C + i] = g.stone[cell(i)];
      for (int r = 0; r < 3; r++) os[(g.plies * C + i) * 3 + r] = g.read[i * 3 + r];
    }
    if (g.plies == LIMIT || g.passes == 2) break;
    categorise(g, par, zobrist);
    double total = evaluate_base(g, par);
    if (g.turn == g.simple) count_liberties(g);
    for (int i = TID / LANES; i < C; i += WARPS) {
      if (g.stone[cell(i)] == EMPTY) candidate(g, g.warp[TID / LANES], par, zobrist, i, total);
      else if (TID % LANES == 0) g.legal[i + 1] = 0;
    }
    if (TID == 0) {
      g.legal[0] = 1;
      g.val[0] = total;
    }
    SYNC();
    draw_and_play(g, par, zobrist, random);
  }
  SYNC();
  int score = classes(g);
  if (TID == 0) {
    stats[0] = g.plies;
    stats[1] = g.passes == 2;
    stats[2] = score;
  }
  gradient(g, par, xs, cs, os, grads, stats);
}

// Evaluate positions that have no past, as learner.py does: `rounds` times evaluation and categories.
// stones: C bytes a board; values: the board's value for White; zs: the C likelihoods that apply.
__device__ void settle(Board &g, const float *weights, const Params &par, const u64 *zobrist,
                       const uint8_t *stones, int rounds, float *value, float *zs) {
  load(g, weights);
  for (int i = TID; i < C; i += NT) {
    int p = cell(i);
    g.stone[p] = stones[i];
    g.lz[0][p] = g.lz[1][p] = ONE / 2;
    int eye = (int)(0.12f * (float)ONE);
    g.la[1][p] = stones[i] == WHITE ? 0 : eye;
    g.la[0][p] = stones[i] == BLACK ? 0 : eye;
  }
  SYNC();
  label_blocks(g);
  for (int r = 0; r < rounds; r++) {
    categorise(g, par, zobrist);
    evaluate_now(g, par);
  }
  float part = 0.f;
  for (int i = TID; i < C; i += NT) {
    int c = g.stone[cell(i)];
    float v = par.table[c][8];
    for (int m = 0; m < 3; m++)
      if (READS[c][m] < 7) v += par.table[c][READS[c][m]] * g.read[i * 3 + m];
    part += v;
    zs[i] = g.read[i * 3];
  }
  part = warp_sum(part);
  if (TID % LANES == 0) g.sums[TID / LANES] = part;
  SYNC();
  if (TID == 0) {
    float total = 0.f;
    for (int w = 0; w < WARPS; w++) total += g.sums[w];
    *value = total;
  }
  SYNC();
}

#ifdef HOST
extern "C" int isn_settle(const float *weights, const Params *params, const u64 *zobrist, int boards,
                          int rounds, const uint8_t *stones, float *values, float *zs, void *) {
  static Board g;
  for (int b = 0; b < boards; b++)
    settle(g, weights, *params, zobrist, stones + (size_t)b * C, rounds, values + b,
           zs + (size_t)b * C);
  return 0;
}

extern "C" int isn_round(const float *weights, const Params *params, const u64 *zobrist, int runs,
                         int batch, uint8_t *xs, uint8_t *cs, float *os, float *grads,
                         double *stats, void *) {
  static Game g;
  for (int b = 0; b < runs * batch; b++) {
    const Params &par = params[b / batch];
    play(g, weights + (size_t)(b / batch) * FLAT, par, zobrist, par.first + b % batch, xs, cs, os,
         grads + (size_t)b * FLAT, stats + b * 5);
  }
  return 0;
}
#else
__global__ void __launch_bounds__(NT, SIZE <= 9 ? 3 : 1) round_kernel(const float *weights, const Params *params,
                                                   const u64 *zobrist, int batch, uint8_t *xs,
                                                   uint8_t *cs, float *os, float *grads,
                                                   double *stats) {
  extern __shared__ __align__(16) unsigned char memory[];
  Game &g = *(Game *)memory;
  const size_t L = (size_t)(LIMIT + 1) * C;
  int b = BLOCK;
  const Params &par = params[b / batch];
  play(g, weights + (size_t)(b / batch) * FLAT, par, zobrist, par.first + b % batch, xs + b * L,
       cs + b * L, os + b * L * 3, grads + (size_t)b * FLAT, stats + b * 5);
}

__global__ void __launch_bounds__(NT) settle_kernel(const float *weights, const Params *params,
                                                    const u64 *zobrist, int boards, int rounds,
                                                    const uint8_t *stones, float *values,
                                                    float *zs) {
  extern __shared__ __align__(16) unsigned char memory[];
  Board &g = *(Board *)memory;
  for (int b = BLOCK; b < boards; b += gridDim.x)
    settle(g, weights, *params, zobrist, stones + (size_t)b * C, rounds, values + b,
           zs + (size_t)b * C);
}

extern "C" int isn_settle(const float *weights, const Params *params, const u64 *zobrist, int boards,
                          int rounds, const uint8_t *stones, float *values, float *zs,
                          void *stream) {
  cudaError_t e = cudaFuncSetAttribute(
      settle_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Board));
  if (e != cudaSuccess) return (int)e;
  int blocks = boards < 132 * 8 ? boards : 132 * 8;
  settle_kernel<<<blocks, NT, sizeof(Board), (cudaStream_t)stream>>>(weights, params, zobrist, boards,
                                                                    rounds, stones, values, zs);
  return (int)cudaGetLastError();
}

// Launch one round; all pointers are the device's. Returns CUDA's error code.
extern "C" int isn_round(const float *weights, const Params *params, const u64 *zobrist, int runs,
                         int batch, uint8_t *xs, uint8_t *cs, float *os, float *grads,
                         double *stats, void *stream) {
  static bool ready = false;
  if (!ready) {
    cudaError_t e = cudaFuncSetAttribute(
        round_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Game));
    if (e != cudaSuccess) return (int)e;
    ready = true;
  }
  round_kernel<<<runs * batch, NT, sizeof(Game), (cudaStream_t)stream>>>(
      weights, params, zobrist, batch, xs, cs, os, grads, stats);
  return (int)cudaGetLastError();
}
#endif

extern "C" int isn_sizes(int which) {
  switch (which) {
    case 0: return (int)sizeof(Params);
    case 1: return (int)sizeof(Game);
    case 2: return LIMIT;
    case 3: return FLAT;
    default: return SIZE;
  }
}
