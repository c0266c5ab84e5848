// Compiled once for each instruction set, see ARCHITECTURE.md: no templates of the
// standard library here.
#include "engine_kernels.h"

#include "vector_math.h"

namespace newron {

namespace {

// Sums run in eight lanes whatever the width, so that every instruction set adds in the
// same order.
typedef double Doubles __attribute__((vector_size(kVectorBytes)));
constexpr int kDoubles = kVectorBytes / 8;
constexpr int kDotLanes = 8;
constexpr int kDotVectors = kDotLanes / kDoubles;
constexpr int kRowBlock = 256;
constexpr double kLeastSpread = 1e-6;  // curvature of a row that is as good as sure

void add_lookups(const std::uint8_t* __restrict codes, const float* __restrict table, int n,
                 float* __restrict out) {
  for (int i = 0; i < n; ++i) out[i] += table[codes[i]];
}

void add_cells(const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
               const float* __restrict table, int n, float* __restrict out) {
  for (int i = 0; i < n; ++i) {
    out[i] += table[kLevels * (a[i] % kLevels) + b[i] % kLevels];
  }
}

void tanh_values(const double* __restrict t, int n, double w, double b, double* __restrict out) {
  for (int i = 0; i < n; ++i) out[i] = exact_tanh(w * (t[i] - b));
}

double dot(const double* a, const double* b, int n) {
  Doubles sums[kDotVectors] = {};
  int i = 0;
  for (; i + kDotLanes <= n; i += kDotLanes) {
    for (int v = 0; v < kDotVectors; ++v) {
      Doubles x, y;
      std::memcpy(&x, a + i + v * kDoubles, sizeof x);
      std::memcpy(&y, b + i + v * kDoubles, sizeof y);
      sums[v] += x * y;
    }
  }
  double total = 0.0;
  for (int k = 0; k < kDotLanes; ++k) total += sums[k / kDoubles][k % kDoubles];
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

void binary_losses(const double* __restrict scores, const float* __restrict targets,
                   const double* __restrict weights, int n, double* __restrict out) {
  for (int i = 0; i < n; ++i) {
    const double z = scores[i], size = z < 0.0 ? -z : z;
    const double tail = exact_log1p_unit(exact_exp(-size));
    out[i] = weights[i] * ((z > 0.0 ? z : 0.0) + tail - static_cast<double>(targets[i]) * z);
  }
}

void binary_slopes(const double* scores, const float* targets, const double* weights,
                   const int* rows, int n, double* slope, double* curve) {
  double first[kRowBlock], second[kRowBlock];
  for (int begin = 0; begin < n; begin += kRowBlock) {
    const int size = n - begin < kRowBlock ? n - begin : kRowBlock;
    const int* mine = rows + begin;
    for (int i = 0; i < size; ++i) {
      const double p = exact_sigmoid(scores[mine[i]]), spread = p * (1.0 - p);
      first[i] = weights[mine[i]] * (p - static_cast<double>(targets[mine[i]]));
      second[i] = weights[mine[i]] * (spread > kLeastSpread ? spread : kLeastSpread);
    }
    for (int i = 0; i < size; ++i) {
      slope[mine[i]] = first[i];
      curve[mine[i]] = second[i];
    }
  }
}

}  // namespace

namespace NEWRON_ISA {
extern const EngineKernels engine_kernels;
const EngineKernels engine_kernels = {add_lookups, add_cells,     tanh_values,
                                      dot,         binary_losses, binary_slopes};
}  // namespace NEWRON_ISA

}  // namespace newron
