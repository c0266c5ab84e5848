// The register machine: runs the code of a formula over blocks of rows.
//
// Single precision trains: each operation goes over the rows of several functions in vectors,
// so that choosing it costs little. Double precision, which predicts, is in exact_machine.h.
#pragma once

#include <cstddef>

#include "code.h"
#include "exact_machine.h"
#include "processing.h"

namespace newron {
namespace {

// ---- single precision ----

// Rows of one register: those of function i begin at `at + i * step`.
struct Register {
  float* at;
  std::size_t step;
};

inline Floats fast_log(Floats x) {
  x = most(x, all(1.17549435e-38f));
  const Bits bits = (Bits)x;
  const Floats k = __builtin_convertvector((Ints)(bits >> 23) - 127, Floats);
  const Floats m = (Floats)((bits & 0x007fffffu) | 0x3f800000u);
  return k * 0.693147181f + fast_log1p_unit(m - 1.0f);
}

inline Floats fast_sqrt(Floats x) {
  for (int i = 0; i < kWidth; ++i) x[i] = x[i] > 0.0f ? __builtin_sqrtf(x[i]) : 0.0f;
  return x;
}

// sin(pi r) for the nearest whole number of half turns.
inline Floats fast_sin(Floats x) {
  x = most(least(x, all(1e6f)), all(-1e6f));
  const Floats shifted = x * 0.318309886f + kRound;
  const Floats n = shifted - kRound;
  const Floats r = ((x - n * 3.140625f) - n * 9.67502594e-4f) - n * 1.50995803e-7f;
  const Floats s = r * r;
  Floats p = all(2.6083159809e-6f);
  p = p * s - 1.981069071e-4f;
  p = p * s + 8.3330785855e-3f;
  p = p * s - 1.6666659713e-1f;
  const Floats value = r + r * s * p;
  return (Floats)((Bits)value ^ ((Bits)shifted << 31));
}

inline Floats fast_cos(Floats x) { return fast_sin(x + 1.57079633f); }

inline Floats truth(Ints holds) { return holds ? all(1.0f) : all(0.0f); }

template <class F>
inline void run_unary(const Register* r, const int* line, int n, int rows, F f) {
  const Register out = r[line[1]], a = r[line[2]];
  for (int i = 0; i < n; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    float* to = out.at + at * out.step;
    const float* x = a.at + at * a.step;
    for (int t = 0; t < rows; t += kWidth) store(to + t, f(load(x + t)));
  }
}

template <class F>
inline void run_binary(const Register* r, const int* line, int n, int rows, F f) {
  const Register out = r[line[1]], a = r[line[2]], b = r[line[3]];
  for (int i = 0; i < n; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    float* to = out.at + at * out.step;
    const float* x = a.at + at * a.step;
    const float* y = b.at + at * b.step;
    for (int t = 0; t < rows; t += kWidth) store(to + t, f(load(x + t), load(y + t)));
  }
}

inline void run_select(const Register* r, const int* line, int n, int rows) {
  const Register out = r[line[1]], c = r[line[2]], a = r[line[3]], b = r[line[4]];
  for (int i = 0; i < n; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    float* to = out.at + at * out.step;
    const float* holds = c.at + at * c.step;
    const float* x = a.at + at * a.step;
    const float* y = b.at + at * b.step;
    for (int t = 0; t < rows; t += kWidth) {
      store(to + t, load(holds + t) != 0.0f ? load(x + t) : load(y + t));
    }
  }
}

// All lines of a code, for n functions at once.
inline void run(const CodeView& code, const Register* r, int n, int rows) {
  const int* line = code.lines;
  for (int k = 0; k < code.n_lines; ++k, line += 5) {
    switch (static_cast<Operation>(line[0])) {
      case Operation::add:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return a + b; });
        break;
      case Operation::subtract:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return a - b; });
        break;
      case Operation::multiply:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return a * b; });
        break;
      case Operation::divide:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return a / b; });
        break;
      case Operation::negate:
        run_unary(r, line, n, rows, [](Floats a) { return -a; });
        break;
      case Operation::absolute:
        run_unary(r, line, n, rows, [](Floats a) { return most(a, -a); });
        break;
      case Operation::min:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return least(a, b); });
        break;
      case Operation::max:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return most(a, b); });
        break;
      case Operation::less:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return truth(a < b); });
        break;
      case Operation::less_or_equal:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return truth(a <= b); });
        break;
      case Operation::equal:
        run_binary(r, line, n, rows, [](Floats a, Floats b) { return truth(a == b); });
        break;
      case Operation::select:
        run_select(r, line, n, rows);
        break;
      case Operation::sqrt:
        run_unary(r, line, n, rows, [](Floats a) { return fast_sqrt(a); });
        break;
      case Operation::exp:
        run_unary(r, line, n, rows, [](Floats a) { return fast_exp(a); });
        break;
      case Operation::log:
        run_unary(r, line, n, rows, [](Floats a) { return fast_log(a); });
        break;
      case Operation::sin:
        run_unary(r, line, n, rows, [](Floats a) { return fast_sin(a); });
        break;
      case Operation::cos:
        run_unary(r, line, n, rows, [](Floats a) { return fast_cos(a); });
        break;
      case Operation::sigmoid:
        run_unary(r, line, n, rows, [](Floats a) { return fast_sigmoid(a); });
        break;
      case Operation::tanh:
        run_unary(r, line, n, rows, [](Floats a) { return fast_tanh(a); });
        break;
      case Operation::copy:
        run_unary(r, line, n, rows, [](Floats a) { return a; });
        break;
    }
  }
}

inline void fill_row(float* out, int rows, float value) {
  for (int t = 0; t < rows; t += kWidth) store(out + t, all(value));
}

// ---- functions of one's own ----

// Forward computes h and its derivatives together and keeps them; backward only adds up.
struct Formula {
  static constexpr const char* name = "formula";
  static constexpr int kept(int) { return 0; }  // as many as the code has outputs

  static std::size_t rows_of(const Bundle& n, int count) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(n.stride);
  }

  static float* kept_at(const Bundle& n, int e, int slot) {
    return n.kept + rows_of(n, e * n.code->n_outputs + slot);
  }

  static void add(const Bundle& n, float* y) {
    for (int first = 0; first < n.n_edges; first += kGroup) {
      const int last = first + kGroup < n.n_edges ? first + kGroup : n.n_edges;
      compute(n, first, last - first);
      for (int t = 0; t < n.rows; t += kWidth) {
        Floats sum = load(y + t);
        for (int e = first; e < last; ++e) sum += n.weight(e) * load(kept_at(n, e, 0) + t);
        store(y + t, sum);
      }
    }
  }

  static void compute(const Bundle& n, int first, int count) {
    const CodeView& code = *n.code;
    Register r[kMostRegisters];
    const std::size_t own = static_cast<std::size_t>(n.stride), group = own * kGroup;
    float* next = n.registers;
    for (int k = 0; k < code.n_registers; ++k) {
      const int output = k - code.first_output();
      if (k >= code.n_inputs && output < 0) {
        r[k] = {n.constants + rows_of(n, k - code.n_inputs), 0};
      } else if (output >= 0 && output < code.n_outputs) {
        r[k] = {kept_at(n, first, output), rows_of(n, code.n_outputs)};
      } else {
        r[k] = {next, own};
        next += group;
      }
    }
    for (int i = 0; i < count; ++i) {
      const int e = first + i;
      const float* x = n.input(e);
      const std::size_t at = static_cast<std::size_t>(i) * own;
      for (int m = 0; m < n.factors; ++m) {
        const float w = n.w[e * n.factors + m], b = n.b[e * n.factors + m];
        float* z = r[m].at + at;
        for (int t = 0; t < n.rows; t += kWidth) store(z + t, w * (load(x + t) - b));
      }
      const int more = code.n_inputs - n.factors;
      for (int k = 0; k < more; ++k) {
        fill_row(r[n.factors + k].at + at, n.rows, n.parameters[e * more + k]);
      }
    }
    run(code, r, count, n.rows);
  }

  static void pull(const Bundle& n, const float* g, int g_step, const Slopes& s) {
    const int more = n.code->n_inputs - n.factors;
    for (int e = 0; e < n.n_edges; ++e, g += g_step) {
      float* gx = n.source[e] < s.first_wanted ? nullptr : s.gradients + (n.input(e) - n.signals);
      for (int m = 0; m < n.factors; ++m) {
        m == 0 && s.alpha != nullptr ? pull_factor<true>(n, e, m, g, gx, s)
                                     : pull_factor<false>(n, e, m, g, gx, s);
      }
      for (int k = 0; k < more; ++k) {
        const float sum = dot(g, kept_at(n, e, 1 + n.factors + k), n.rows);
        s.parameters[e * more + k] += n.weight(e) * sum;
      }
    }
  }

  template <bool WithAlpha>
  static void pull_factor(const Bundle& n, int e, int m, const float* g, float* gx,
                          const Slopes& s) {
    const int i = e * n.factors + m;
    const float* x = n.input(e);
    const float *slope = kept_at(n, e, 1 + m), *h = kept_at(n, e, 0);
    const float w = n.w[i], b = n.b[i], weight = n.weight(e), through = weight * w;
    Sum sum_x, sum_d, sum_h;
    for (int block = 0; block < n.rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        const Floats gt = load(g + t), d = gt * load(slope + t);
        sum_x.part[v] += d * load(x + t);
        sum_d.part[v] += d;
        if (WithAlpha) sum_h.part[v] += gt * load(h + t);
        if (gx != nullptr) store(gx + t, load(gx + t) + d * through);
      }
    }
    const float of_x = total(sum_x), of_d = total(sum_d);
    s.w[i] += weight * (of_x - b * of_d);
    s.b[i] -= through * of_d;
    if (WithAlpha) s.alpha[e] += n.scale * total(sum_h);
  }

  static float dot(const float* a, const float* b, int rows) {
    Sum sum;
    for (int block = 0; block < rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        sum.part[v] += load(a + t) * load(b + t);
      }
    }
    return total(sum);
  }

  // Its meaning needs the code: see run_exact.
  static void meaning(const double*, int, const double*, const double*, int, double*) {}
};

// The table: the place of a function in it is its number in the core.
using AllFunctions = List<OneFactor<Heaviside>, OneFactor<Sigmoid>, TanhProd, OneFactor<Linear>,
                          OneFactor<Relu>, OneFactor<Selu>, Formula>;

}  // namespace
}  // namespace newron
