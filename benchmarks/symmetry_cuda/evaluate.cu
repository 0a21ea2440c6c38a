// Evaluate many 19x19 positions of an internal symmetry network on tensor cores, from one category byte a
// point to the value of the board. One thread block works on one board at a time and never writes an
// intermediate to device memory.
//
// Both layers are matrix products over the nine neighbours, 16 points at a time (mma.m16n8k16): the inputs
// as one-hot rows of 16 halves (exact), then the 12 hidden units as rows of 16 halves. Neighbours need no
// copying: a row of the left operand is wherever the neighbour's row lies. Two ways:
//   fast   weights and hidden units in half precision, tanh.approx
//   exact  weights and hidden units as sums of two halves, tanh by exp: float32's error to a few 1e-6
//     nvcc -O3 -arch=sm_90 -DSIZE=19 -shared -Xcompiler -fPIC evaluate.cu -o evaluate.so

#include <cuda_fp16.h>
#include <cstdint>

#ifndef SIZE
#define SIZE 19
#endif
enum { C = SIZE * SIZE, W = SIZE + 1, N = (SIZE + 2) * W + 1, TILES = (C + 15) / 16 };
enum { WARPS = 8, NT = WARPS * 32, MINE = (TILES + WARPS - 1) / WARPS };
enum { HID = 12, OUT = 8, CELL = 24 };

struct Memory {
  uint4 hot[2][N];     // one-hot inputs: halves 0-7 and 8-15 of each point
  uint4 hid[2][2][N];  // hidden units: [main or rest][halves 0-7 or 8-15]
  uint2 low[36][32];   // the rest of the weights' fragments (exact only)
  float table[3][9], part[2][WARPS], bias[CELL];
  uint8_t state[C];
};

__device__ __forceinline__ int cell(int i) { return (i / SIZE + 1) * W + i % SIZE + 1; }
__device__ __forceinline__ constexpr int step(int nu) {
  return nu == 0 ? 0 : nu == 1 ? 1 : nu == 2 ? -W : nu == 3 ? -1 : nu == 4 ? W
       : nu == 5 ? 1 - W : nu == 6 ? -1 - W : nu == 7 ? W - 1 : W + 1;
}
__device__ __forceinline__ void load_rows(uint32_t (&a)[4], const uint4 *row) {
  uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at));
}
__device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint2 b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}
template <bool EXACT> __device__ __forceinline__ float tanh_(float v) {
  if (EXACT) return 1.f - __fdividef(2.f, 1.f + __expf(2.f * v));
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
__device__ __forceinline__ uint32_t pack(__half a, __half b) {
  return (uint32_t)__half_as_ushort(a) | ((uint32_t)__half_as_ushort(b) << 16);
}
// Two neighbouring weights as halves, and what is left of them.
__device__ __forceinline__ uint32_t halves(float a, float b, bool rest) {
  __half x = __float2half_rn(a), y = __float2half_rn(b);
  if (!rest) return pack(x, y);
  return pack(__float2half_rn(a - __half2float(x)), __float2half_rn(b - __half2float(y)));
}
__device__ __forceinline__ float weight1(const float *w, int nu, int k, int n) {
  return k < 14 ? w[(nu * 14 + k) * CELL + n] : 0.f;
}
__device__ __forceinline__ float weight2(const float *w, int nu, int k, int n) {
  return k < HID ? w[126 * CELL + CELL + (k * 9 + nu) * OUT + n] : 0.f;
}

template <bool EXACT>
__global__ void __launch_bounds__(NT, EXACT ? 1 : 2)
    evaluate_kernel(const float *weights, const float *table, const uint8_t *symbols, int boards,
                    float *values) {
  extern __shared__ __align__(16) unsigned char raw[];
  Memory &m = *(Memory *)raw;
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5, g = lane >> 2, t = lane & 3;
  // Weights as right operands: b.x holds rows 2t, 2t+1 and b.y rows 2t+8, 2t+9 of column g.
  uint2 first[9][3], second[9];
#pragma unroll
  for (int nu = 0; nu < 9; nu++) {
#pragma unroll
    for (int c = 0; c < 3; c++) {
      int k = 2 * t, n = c * 8 + g;
      float a = weight1(weights, nu, k, n), b = weight1(weights, nu, k + 1, n);
      float d = weight1(weights, nu, k + 8, n), e = weight1(weights, nu, k + 9, n);
      first[nu][c] = make_uint2(halves(a, b, false), halves(d, e, false));
      if (EXACT && warp == 0)
        m.low[nu * 3 + c][lane] = make_uint2(halves(a, b, true), halves(d, e, true));
    }
    int k = 2 * t;
    float a = weight2(weights, nu, k, g), b = weight2(weights, nu, k + 1, g);
    float d = weight2(weights, nu, k + 8, g), e = weight2(weights, nu, k + 9, g);
    second[nu] = make_uint2(halves(a, b, false), halves(d, e, false));
    if (EXACT && warp == 0)
      m.low[27 + nu][lane] = make_uint2(halves(a, b, true), halves(d, e, true));
  }
  for (int i = tid; i < 27; i += NT) (&m.table[0][0])[i] = table[i];
  for (int i = tid; i < CELL; i += NT) m.bias[i] = weights[126 * CELL + i];
  for (int p = tid; p < N; p += NT) {
    m.hot[0][p] = make_uint4(0, 0, 0, 0);
    m.hot[1][p] = make_uint4(0, 0, 0x3C000000u, 0);  // off the board: input 13
    for (int k = 0; k < 4; k++) m.hid[k >> 1][k & 1][p] = make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  // Which point each lane addresses and which two it holds results of, tile by tile.
  int from[MINE], low[MINE], high[MINE];
#pragma unroll
  for (int i = 0; i < MINE; i++) {
    int base = (warp + i * WARPS) * 16, r = (lane & 7) + ((lane >> 3) & 1) * 8;
    from[i] = cell(base + r < C ? base + r : 0);
    low[i] = base + g < C ? base + g : -1;
    high[i] = base + g + 8 < C ? base + g + 8 : -1;
  }
  const int half = lane >> 4;
  int parity = 0, before = -1;
  for (int board = blockIdx.x; board < boards; board += gridDim.x, parity ^= 1) {
    const uint8_t *x = symbols + (size_t)board * C;
    for (int i = tid; i < C; i += NT) {
      uint32_t s = x[i], one = (s & 1) ? 0x3C000000u : 0x3C00u, word = s >> 1;
      int p = cell(i);
      m.hot[0][p] = make_uint4(word == 0 ? one : 0, word == 1 ? one : 0, word == 2 ? one : 0,
                               word == 3 ? one : 0);
      m.hot[1][p] = make_uint4(word == 4 ? one : 0, word == 5 ? one : 0, word == 6 ? one : 0, 0);
      m.state[i] = s < 6 ? 2 : s < 12 ? 1 : 0;
    }
    __syncthreads();
    if (tid == 0 && before >= 0) {
      float all = 0.f;
      for (int w = 0; w < WARPS; w++) all += m.part[parity ^ 1][w];
      values[before] = all;
    }
    float out[MINE][4];
    int states[MINE];
#pragma unroll
    for (int i = 0; i < MINE; i++) {
      float acc[3][4];
#pragma unroll
      for (int c = 0; c < 3; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) acc[c][k] = m.bias[c * 8 + 2 * t + (k & 1)];
#pragma unroll
      for (int nu = 0; nu < 9; nu++) {
        uint32_t a[4];
        load_rows(a, &m.hot[half][from[i] + step(nu)]);
#pragma unroll
        for (int c = 0; c < 3; c++) {
          multiply(acc[c], a, first[nu][c]);
          if (EXACT) multiply(acc[c], a, m.low[nu * 3 + c][lane]);
        }
      }
#pragma unroll
      for (int k = 0; k < 4; k++) out[i][k] = acc[2][k];
      states[i] = (low[i] >= 0 ? m.state[low[i]] : 3) | (high[i] >= 0 ? m.state[high[i]] : 3) << 4;
#pragma unroll
      for (int c = 0; c < 2; c++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
          int at = r ? high[i] : low[i];
          if (at < 0 || (c == 1 && t > 1)) continue;
          float u = tanh_<EXACT>(acc[c][2 * r]), v = tanh_<EXACT>(acc[c][2 * r + 1]);
          ((uint32_t *)&m.hid[0][c][cell(at)])[t] = halves(u, v, false);
          if (EXACT) ((uint32_t *)&m.hid[1][c][cell(at)])[t] = halves(u, v, true);
        }
    }
    __syncthreads();
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < MINE; i++) {
#pragma unroll
      for (int nu = 0; nu < 9; nu++) {
        uint32_t a[4];
        load_rows(a, &m.hid[0][half][from[i] + step(nu)]);
        multiply(out[i], a, second[nu]);
        if (EXACT) {
          multiply(out[i], a, m.low[27 + nu][lane]);
          load_rows(a, &m.hid[1][half][from[i] + step(nu)]);
          multiply(out[i], a, second[nu]);
        }
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        int s = (k < 2 ? states[i] : states[i] >> 4) & 15;
        if (s == 3) continue;
        float o = 0.5f + 0.5f * tanh_<EXACT>(0.5f * out[i][k]);
        sum += m.table[s][2 * t + (k & 1)] * o;
        if (t == 0 && !(k & 1)) sum += m.table[s][8];
      }
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) m.part[parity][warp] = sum;
    before = board;
  }
  __syncthreads();
  if (tid == 0 && before >= 0) {
    float all = 0.f;
    for (int w = 0; w < WARPS; w++) all += m.part[parity ^ 1][w];
    values[before] = all;
  }
}

// Launch; all pointers are the device's: weights (flat, packing.py), table (3, 9), symbols (boards, C).
extern "C" int isn_evaluate(const float *weights, const float *table, const uint8_t *symbols,
                            int boards, float *values, int exact, int blocks, void *stream) {
  auto kernel = exact ? evaluate_kernel<true> : evaluate_kernel<false>;
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)sizeof(Memory));
  if (e != cudaSuccess) return (int)e;
  kernel<<<blocks, NT, sizeof(Memory), (cudaStream_t)stream>>>(weights, table, symbols, boards,
                                                              values);
  return (int)cudaGetLastError();
}
