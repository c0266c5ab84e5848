// Compiled once for each instruction set, see ARCHITECTURE.md: no templates of the
// standard library here.
#include "engine_kernels.h"

#include <cstddef>

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
constexpr double kNever = -1e300;
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

// The largest of k scores of each row, and the sum of exp(score - largest); `from` says where a
// row's scores are.
template <class From>
void sum_exps(From from, int n, int k, double* __restrict largest, double* __restrict sums) {
  for (int i = 0; i < n; ++i) {
    const double* z = from(i);
    double top = z[0];
    for (int o = 1; o < k; ++o) top = z[o] > top ? z[o] : top;
    largest[i] = top;
    sums[i] = 0.0;
  }
  for (int o = 0; o < k; ++o) {
    for (int i = 0; i < n; ++i) sums[i] += exact_exp(from(i)[o] - largest[i]);
  }
}

void exp_sums(const double* scores, int n, int k, double* __restrict largest,
              double* __restrict sums) {
  const std::ptrdiff_t width = k;
  for (int begin = 0; begin < n; begin += kRowBlock) {
    const int size = n - begin < kRowBlock ? n - begin : kRowBlock;
    const double* mine = scores + begin * width;
    sum_exps([=](int i) { return mine + i * width; }, size, k, largest + begin, sums + begin);
  }
}

void class_slopes(const double* scores, const float* targets, const double* weights,
                  const int* rows, int n, int k, double* slope, double* curve) {
  double largest[kRowBlock], sums[kRowBlock], first[kRowBlock], second[kRowBlock];
  const std::ptrdiff_t width = k;
  for (int begin = 0; begin < n; begin += kRowBlock) {
    const int size = n - begin < kRowBlock ? n - begin : kRowBlock;
    const int* mine = rows + begin;
    sum_exps([=](int i) { return scores + mine[i] * width; }, size, k, largest, sums);
    for (int o = 0; o < k; ++o) {
      const float label = static_cast<float>(o);
      for (int i = 0; i < size; ++i) {
        const std::ptrdiff_t row = mine[i];
        const double p = exact_exp(scores[row * width + o] - largest[i]) / sums[i];
        const double spread = p * (1.0 - p);
        first[i] = weights[row] * (p - (targets[row] == label ? 1.0 : 0.0));
        second[i] = weights[row] * (spread > kLeastSpread ? spread : kLeastSpread);
      }
      for (int i = 0; i < size; ++i) {
        slope[mine[i] * width + o] = first[i];
        curve[mine[i] * width + o] = second[i];
      }
    }
  }
}

void find_gains(const Gains& terms, double* __restrict out) {
  const int n = terms.n, k = terms.n_outputs;
  const double ridge = terms.ridge, least = terms.least_weight;
  const std::ptrdiff_t size = n;
  const bool rising = terms.rising;
  for (int i = 0; i < n; ++i) out[i] = -terms.base;
  for (int o = 0; o < k; ++o) {
    const double *slope = terms.parts + o * size, *curve = terms.parts + (k + o) * size;
    const double fixed_slope = terms.fixed[o], fixed_curve = terms.fixed[k + o];
    const double all_slope = terms.all[o], all_curve = terms.all[k + o];
    for (int i = 0; i < n; ++i) {
      const double s = fixed_slope + slope[i], c = fixed_curve + curve[i];
      const double rest = all_slope - s, room = all_curve - c;
      const double here = s / (c + ridge);
      const double there = rest / ((room > 0.0 ? room : 0.0) + ridge);
      const double sum = out[i] + (s * here + rest * there);
      out[i] = rising & (here > there) ? kNever : sum;
    }
  }
  const double* weight = terms.parts + 2 * k * size;
  const double fixed_weight = terms.fixed[2 * k], all_weight = terms.all[2 * k];
  for (int i = 0; i < n; ++i) {
    const double on = fixed_weight + weight[i], gain = 0.5 * out[i];
    const bool enough = (on >= least) & (all_weight - on >= least);
    out[i] = enough & (gain > 0.0) ? gain : 0.0;
  }
}

}  // namespace

namespace NEWRON_ISA {
extern const EngineKernels engine_kernels;
const EngineKernels engine_kernels = {add_lookups, add_cells,     tanh_values,
                                      dot,         binary_losses, binary_slopes,
                                      exp_sums,    class_slopes,  find_gains};
}  // namespace NEWRON_ISA

}  // namespace newron
