// Vectors of floats, and elementary functions on them.
//
// Single precision serves training and is written in the vector types of GCC
// and Clang, as wide as the instruction set that this copy is compiled for.
// Double precision serves prediction: plain C++ that uses only operations which
// IEEE 754 defines to the last bit, in the order in which
// newron/model/arithmetic.py writes them, so that the two agree exactly.
//
// Everything lives in an unnamed namespace on purpose: each function is compiled
// once for each instruction set, and the linker must not merge the copies.
#pragma once

#include <cstdint>
#include <cstring>

namespace newron {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef std::int32_t Ints __attribute__((vector_size(kVectorBytes)));
typedef std::uint32_t Bits __attribute__((vector_size(kVectorBytes)));
constexpr int kWidth = kVectorBytes / 4;
// Sums over rows run in sixteen lanes whatever the width, so that every instruction
// set adds in the same order: as many vectors as that takes.
constexpr int kSumLanes = 16;
constexpr int kSumVectors = kSumLanes / kWidth;

inline Floats load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }

inline Floats all(float value) { return value - Floats{}; }

inline Floats least(Floats a, Floats b) { return a < b ? a : b; }
inline Floats most(Floats a, Floats b) { return a > b ? a : b; }

// A sum in sixteen lanes. Row t of a block goes to lane t % 16.
struct Sum {
  Floats part[kSumVectors];

  Sum() {
    for (Floats& each : part) each = all(0.0f);
  }
};

typedef float Four __attribute__((vector_size(16)));

// The four lanes of a vector from `first` on.
inline Four quarter(Floats v, int first) {
  Four out;
  std::memcpy(&out, reinterpret_cast<const char*>(&v) + 4 * first, sizeof out);
  return out;
}

inline float total(const Sum& sum) {
  Four x = quarter(sum.part[0], 0);
  for (int i = 4; i < kSumLanes; i += 4) x += quarter(sum.part[i / kWidth], i % kWidth);
  return (x[0] + x[2]) + (x[1] + x[3]);
}

// Adding 1.5 * 2^23 leaves the nearest whole number in the low bits.
constexpr float kRound = 12582912.0f;

// 2^t for training, relative error below 3e-7; t is clamped to [-126, 126].
inline Floats fast_exp2(Floats t) {
  t = most(least(t, all(126.0f)), all(-126.0f));
  const Floats shifted = t + kRound;
  const Floats r = t - (shifted - kRound);
  Floats p = all(1.3276471993e-3f);
  p = p * r + 9.6755413344e-3f;
  p = p * r + 5.5507132735e-2f;
  p = p * r + 2.4022119724e-1f;
  p = p * r + 6.9314696706e-1f;
  p = p * r + 1.0f;
  return (Floats)((Bits)p + ((Bits)shifted << 23));
}

inline Floats fast_exp(Floats x) { return fast_exp2(1.44269504f * x); }

inline Floats fast_sigmoid(Floats x) { return 1.0f / (1.0f + fast_exp2(-1.44269504f * x)); }

inline Floats fast_tanh(Floats x) { return 1.0f - 2.0f / (fast_exp2(2.88539008f * x) + 1.0f); }

// log(1 + e) for e in [0, 1].
inline Floats fast_log1p_unit(Floats e) {
  const Floats u = 1.0f + e;
  const Ints large = u > 1.41421356f;
  const Floats f = large ? u * 0.5f - 1.0f : e;
  const Floats k = large ? all(0.693147181f) : all(0.0f);
  const Floats s = f * f;
  Floats p = all(7.0376836292e-2f);
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  return k + (f + (p * f * s - 0.5f * s));
}

inline double as_double(std::int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr double kExpLimit = 708.0;
constexpr double kRound64 = 6755399441055744.0;  // 1.5 * 2^52

// e^x, x clamped to +-708; the twin of arithmetic.exp.
inline double exact_exp(double x) {
  x = x > kExpLimit ? kExpLimit : x;
  x = x < -kExpLimit ? -kExpLimit : x;
  const double shifted = x * 1.4426950408889634074 + kRound64;
  const double n = shifted - kRound64;
  const double r = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
  const double s = r * r;
  double p = 1.26177193074810590878e-4;
  p = p * s + 3.02994407707441961300e-2;
  p = p * s + 9.99999999999999999910e-1;
  p = p * r;
  double q = 3.00198505138664455042e-6;
  q = q * s + 2.52448340349684104192e-3;
  q = q * s + 2.27265548208155028766e-1;
  q = q * s + 2.00000000000000000009e0;
  const double mantissa = 1.0 + 2.0 * (p / (q - p));
  std::int64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const auto power = (static_cast<std::uint64_t>(bits) + 1023u) << 52;
  return mantissa * as_double(static_cast<std::int64_t>(power));
}

// log(1 + f) + k log 2, for f about 0.
inline double finish_log(double f, double k) {
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

// log(1 + e) for e in [0, 1].
inline double exact_log1p_unit(double e) {
  const bool low = e < 0.41421356237309504880;
  return finish_log(low ? e : 0.5 * (e - 1.0), low ? 0.0 : 1.0);
}

inline double exact_sigmoid(double x) {
  const double e = exact_exp(x < 0.0 ? x : -x);
  const double tail = e / (1.0 + e);
  return x < 0.0 ? tail : 1.0 - tail;
}

inline double exact_tanh(double x) {
  const double e = exact_exp(x < 0.0 ? 2.0 * x : -2.0 * x);
  const double size = (1.0 - e) / (1.0 + e);
  return x < 0.0 ? -size : size;
}

}  // namespace
}  // namespace newron
