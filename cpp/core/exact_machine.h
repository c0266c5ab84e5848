// The register machine in double precision: the operations of newron/expressions/arithmetic.py,
// bit by bit.
#pragma once

#include <cstddef>

#include "code.h"
#include "vector_math.h"

namespace newron {
namespace {

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
  return finish_log((low ? m + m : m) - 1.0, low ? k - 1.0 : k);
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

// All lines of a code for each row; inputs stand in the first registers.
inline void run_exact(const CodeView& code, int rows, double* registers) {
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
}

// The first output of a code for each row.
inline void run_exact(const CodeView& code, int rows, double* registers, double* out) {
  run_exact(code, rows, registers);
  const double* result = registers + static_cast<std::size_t>(code.first_output()) * rows;
  for (int t = 0; t < rows; ++t) out[t] = result[t];
}

}  // namespace
}  // namespace newron
