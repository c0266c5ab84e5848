// The register machine: runs the code of a formula over blocks of rows.
//
// Single precision trains: each operation goes over the rows of several functions in vectors,
// so that choosing it costs little. Double precision predicts: the operations of
// newron/expressions/arithmetic.py, bit by bit.
#pragma once

#include <cstddef>

#include "code.h"
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

// ---- double precision ----

// m between 0.5 and 1, and k, with x = m 2^k; x is a normal number.
inline double split_power(double x, double* k) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  *k = static_cast<double>(((bits >> 52) & 2047) - 1022);
  return as_double((bits & 0x000fffffffffffff) | 0x3fe0000000000000);
}

inline double exact_log(double x) {
  x = x > 0x1p-1022 ? x : 0x1p-1022;
  double k;
  double m = split_power(x, &k);
  const bool low = m < 0.70710678118654752440;
  const double f = (low ? m + m : m) - 1.0;
  k = low ? k - 1.0 : k;
  const double s = f / (2.0 + f), z = s * s;
  double r = 1.479819860511658591e-01;
  r = r * z + 1.531383769920937332e-01;
  r = r * z + 1.818357216161805012e-01;
  r = r * z + 2.222219843214978396e-01;
  r = r * z + 2.857142874366239149e-01;
  r = r * z + 3.999999999940941908e-01;
  r = r * z + 6.666666666666735130e-01;
  r = r * z;
  const double h = 0.5 * f * f;
  return k * 6.93147180369123816490e-01 -
         ((h - (s * (h + r) + k * 1.90821492927058770002e-10)) - f);
}

// Sine (turn 0) or cosine (turn 1).
inline double exact_turn(double x, bool cosine) {
  x = x > 1e6 ? 1e6 : x;
  x = x < -1e6 ? -1e6 : x;
  const double n = (x * 6.36619772367581382433e-01 + kRound64) - kRound64;
  const double r = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) -
                   n * 2.02226624879595063154e-21;
  const double q = n - 4.0 * ((n * 0.25 + kRound64) - kRound64);
  const double z = r * r;
  double s = 1.58969099521155010221e-10;
  s = s * z - 2.50507602534068634195e-08;
  s = s * z + 2.75573137070700676789e-06;
  s = s * z - 1.98412698298579493134e-04;
  s = s * z + 8.33333333332248946124e-03;
  s = s * z - 1.66666666666666324348e-01;
  s = s * z * r + r;
  double c = -1.13596475577881948265e-11;
  c = c * z + 2.08757232129817482790e-09;
  c = c * z - 2.75573143513906633035e-07;
  c = c * z + 2.48015872894767294178e-05;
  c = c * z - 1.38888888888741095749e-03;
  c = c * z + 4.16666666666666019037e-02;
  c = c * z * z - 0.5 * z + 1.0;
  const double own = cosine ? c : s, next = cosine ? -s : c, before = cosine ? s : -c;
  if (q == 1.0) return next;
  if (q == -1.0) return before;
  return q == 2.0 || q == -2.0 ? -own : own;
}

inline double run_operation(Operation operation, double a, double b, double c) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::negate:
      return -a;
    case Operation::absolute:
      return __builtin_fabs(a);
    case Operation::min:
      return b < a ? b : a;
    case Operation::max:
      return b > a ? b : a;
    case Operation::less:
      return a < b ? 1.0 : 0.0;
    case Operation::less_or_equal:
      return a <= b ? 1.0 : 0.0;
    case Operation::equal:
      return a == b ? 1.0 : 0.0;
    case Operation::select:
      return a != 0.0 ? b : c;
    case Operation::sqrt:
      return __builtin_sqrt(a > 0.0 ? a : 0.0);
    case Operation::exp:
      return exact_exp(a);
    case Operation::log:
      return exact_log(a);
    case Operation::sin:
      return exact_turn(a, false);
    case Operation::cos:
      return exact_turn(a, true);
    case Operation::sigmoid:
      return exact_sigmoid(a);
    case Operation::tanh:
      return exact_tanh(a);
    case Operation::copy:
      return a;
  }
  return a;
}

// The first output of a code for each row; inputs stand in the first registers.
inline void run_exact(const CodeView& code, int rows, double* registers, double* out) {
  for (int k = 0; k < code.n_constants; ++k) {
    double* at = registers + static_cast<std::size_t>(code.n_inputs + k) * rows;
    for (int t = 0; t < rows; ++t) at[t] = code.constants[k];
  }
  const int* line = code.lines;
  for (int k = 0; k < code.n_lines; ++k, line += 5) {
    const auto operation = static_cast<Operation>(line[0]);
    const auto row = [&](int i) { return registers + static_cast<std::size_t>(line[i]) * rows; };
    double* to = row(1);
    const double *a = row(2), *b = row(3), *c = row(4);
    for (int t = 0; t < rows; ++t) to[t] = run_operation(operation, a[t], b[t], c[t]);
  }
  const double* result = registers + static_cast<std::size_t>(code.first_output()) * rows;
  for (int t = 0; t < rows; ++t) out[t] = result[t];
}

// The table: the place of a function in it is its number in the core.
using AllFunctions = List<OneFactor<Heaviside>, OneFactor<Sigmoid>, TanhProd, OneFactor<Linear>,
                          OneFactor<Relu>, OneFactor<Selu>, Formula>;

}  // namespace
}  // namespace newron
