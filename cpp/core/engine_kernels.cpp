// Compiled once for each instruction set, see ARCHITECTURE.md: no templates of the
// standard library here.
#include "engine_kernels.h"

#include "vector_math.h"

namespace newron {

namespace {

typedef double Doubles __attribute__((vector_size(kVectorBytes)));
constexpr int kDoubles = kVectorBytes / 8;

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
  Doubles sums = {};
  int i = 0;
  for (; i + kDoubles <= n; i += kDoubles) {
    Doubles x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    sums += x * y;
  }
  double total = 0.0;
  for (int k = 0; k < kDoubles; ++k) total += sums[k];
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

}  // namespace

namespace NEWRON_ISA {
extern const EngineKernels engine_kernels;
const EngineKernels engine_kernels = {add_lookups, add_cells, tanh_values, dot};
}  // namespace NEWRON_ISA

}  // namespace newron
