// The processing functions h, each as one small struct.
//
// A function of one factor says, for a vector of z = w (x - b):
//   keep(z)               what the backward pass wants to have again (keeps = true)
//   value(z, kept, blend) h itself; only Heaviside looks at the blend
//   slope(z, kept)        dh/dz
//   meaning(x, w, b)      h in double precision, the twin of the Python class
// tanh_prod has several factors and brings its own loops.
//
// To add a function: write its struct, name it in Functions at the end of this
// file, and write the Python class of the same name (see ARCHITECTURE.md).
#pragma once

#include <cstddef>

#include "code.h"
#include "vector_math.h"

namespace newron {
namespace {

// The functions of one neuron on one block of rows. rows is a multiple of 16.
struct Bundle {
  const float* signals;  // [signal][row]
  int stride;
  int rows;
  const int* source;  // the signal that each function reads
  int n_edges;
  int factors;
  const float* w;
  const float* b;
  const float* alpha;       // null: all 1
  float scale;              // what the aggregation multiplies by
  float blend;              // Heaviside: 1 is the step itself, 0 the sigmoid in its place
  float* kept;              // [edge, factor][row], `stride` apart
  const CodeView* code;     // of a function of one's own, else null
  const float* parameters;  // its further parameters, edge by edge
  float* constants;         // of its code, one row each
  float* registers;         // room for its code

  const float* input(int e) const {
    return signals + static_cast<std::size_t>(source[e]) * static_cast<std::size_t>(stride);
  }
  float* kept_at(int index) const {
    return kept + static_cast<std::size_t>(index) * static_cast<std::size_t>(stride);
  }
  float weight(int e) const { return alpha != nullptr ? alpha[e] * scale : scale; }
};

// Where the backward pass adds its sums.
struct Slopes {
  float* w;
  float* b;
  float* alpha;  // null where the bundle has none
  float* parameters;
  float* gradients;  // of the signals, [signal][row]
  int first_wanted;  // signals before this one are inputs and want no gradient
};

constexpr double kLargest = 1e100;  // keeps unbounded functions finite

inline double bounded(double z) {
  z = z > kLargest ? kLargest : z;
  return z < -kLargest ? -kLargest : z;
}

struct Heaviside {
  static constexpr const char* name = "heaviside";
  static constexpr bool keeps = true;
  static Floats keep(Floats z) { return fast_sigmoid(z); }
  static Floats value(Floats z, Floats kept, float blend) {
    const Floats step = z >= 0.0f ? all(1.0f) : all(0.0f);
    return blend * step + (1.0f - blend) * kept;
  }
  // Trained as if its derivative were the sigmoid's.
  static Floats slope(Floats, Floats kept) { return kept - kept * kept; }
  // By comparison, never by the sign of a product that can underflow.
  static double meaning(double x, double w, double b) {
    const double up = x >= b ? 1.0 : 0.0;
    const double down = x <= b ? 1.0 : 0.0;
    return w > 0.0 ? up : (w < 0.0 ? down : 1.0);
  }
};

struct Sigmoid {
  static constexpr const char* name = "sigmoid";
  static constexpr bool keeps = true;
  static Floats keep(Floats z) { return fast_sigmoid(z); }
  static Floats value(Floats, Floats kept, float) { return kept; }
  static Floats slope(Floats, Floats kept) { return kept - kept * kept; }
  static double meaning(double x, double w, double b) { return exact_sigmoid(w * (x - b)); }
};

struct Linear {
  static constexpr const char* name = "linear";
  static constexpr bool keeps = false;
  static Floats keep(Floats) { return all(0.0f); }
  static Floats value(Floats z, Floats, float) { return z; }
  static Floats slope(Floats, Floats) { return all(1.0f); }
  static double meaning(double x, double w, double b) { return bounded(w * (x - b)); }
};

struct Relu {
  static constexpr const char* name = "relu";
  static constexpr bool keeps = false;
  static Floats keep(Floats) { return all(0.0f); }
  static Floats value(Floats z, Floats, float) { return most(z, all(0.0f)); }
  static Floats slope(Floats z, Floats) { return z > 0.0f ? all(1.0f) : all(0.0f); }
  static double meaning(double x, double w, double b) {
    const double z = bounded(w * (x - b));
    return z > 0.0 ? z : 0.0;
  }
};

struct Selu {
  static constexpr const char* name = "selu";
  static constexpr bool keeps = true;
  static constexpr float scale = 1.05070098735548049342f;
  static constexpr float low = 1.75809934084737685994f;  // scale * 1.6732632423543772848
  static Floats keep(Floats z) { return z > 0.0f ? scale * z : low * (fast_exp(z) - 1.0f); }
  static Floats value(Floats, Floats kept, float) { return kept; }
  static Floats slope(Floats z, Floats kept) { return z > 0.0f ? all(scale) : kept + low; }
  static double meaning(double x, double w, double b) {
    const double z = bounded(w * (x - b));
    const double under = 1.75809934084737685994 * (exact_exp(z) - 1.0);
    return z > 0.0 ? 1.05070098735548049342 * z : under;
  }
};

// The loops that every function of one factor shares.
template <class F>
struct OneFactor {
  static constexpr const char* name = F::name;
  static constexpr int kept(int) { return F::keeps ? 1 : 0; }

  // y += weight h(x) for all functions of the neuron. Two vectors of rows at a
  // time, so that the sum stays in registers.
  static void add(const Bundle& bundle, float* y) {
    const Bundle n = bundle;  // a copy that no store can alias stays in registers
    for (int t = 0; t < n.rows; t += 2 * kWidth) {
      Floats first = load(y + t), second = load(y + t + kWidth);
      for (int e = 0; e < n.n_edges; ++e) {
        const float* x = n.input(e) + t;
        const float w = n.w[e], b = n.b[e], weight = n.weight(e);
        const Floats z0 = w * (load(x) - b), z1 = w * (load(x + kWidth) - b);
        const Floats k0 = F::keep(z0), k1 = F::keep(z1);
        if (F::keeps) {
          store(n.kept_at(e) + t, k0);
          store(n.kept_at(e) + t + kWidth, k1);
        }
        first += weight * F::value(z0, k0, n.blend);
        second += weight * F::value(z1, k1, n.blend);
      }
      store(y + t, first);
      store(y + t + kWidth, second);
    }
  }

  // g: the gradient at the neuron, g_step apart for each function (0: the same).
  static void pull(const Bundle& n, const float* g, int g_step, const Slopes& s) {
    for (int e = 0; e < n.n_edges; ++e, g += g_step) {
      float* gx = n.source[e] < s.first_wanted ? nullptr : s.gradients + (n.input(e) - n.signals);
      if (s.alpha != nullptr) {
        gx != nullptr ? pull_edge<true, true>(n, e, g, gx, s)
                      : pull_edge<true, false>(n, e, g, gx, s);
      } else {
        gx != nullptr ? pull_edge<false, true>(n, e, g, gx, s)
                      : pull_edge<false, false>(n, e, g, gx, s);
      }
    }
  }

  template <bool WithAlpha, bool WithInput>
  static void pull_edge(const Bundle& n, int e, const float* g, float* gx, const Slopes& s) {
    const float* x = n.input(e);
    const float* kept = n.kept_at(e);
    const float w = n.w[e], b = n.b[e], weight = n.weight(e), through = weight * w;
    const float blend = n.blend;
    const int rows = n.rows;
    Sum sum_x, sum_d, sum_h;
    for (int block = 0; block < rows; block += kSumLanes) {
      for (int i = 0; i < kSumVectors; ++i) {
        const int t = block + i * kWidth;
        const Floats xt = load(x + t), z = w * (xt - b), gt = load(g + t);
        const Floats k = F::keeps ? load(kept + t) : all(0.0f);
        const Floats d = gt * F::slope(z, k);
        sum_x.part[i] += d * xt;
        sum_d.part[i] += d;
        if (WithAlpha) sum_h.part[i] += gt * F::value(z, k, blend);
        if (WithInput) store(gx + t, load(gx + t) + d * through);
      }
    }
    const float of_x = total(sum_x), of_d = total(sum_d);
    s.w[e] += weight * (of_x - b * of_d);  // the sum of d (x - b)
    s.b[e] -= through * of_d;
    if (WithAlpha) s.alpha[e] += n.scale * total(sum_h);
  }

  // x, h: one per row, stride 1
  static void meaning(const double* x, int rows, const double* w, const double* b, int, double* h) {
    const double w0 = w[0], b0 = b[0];
    for (int t = 0; t < rows; ++t) h[t] = F::meaning(x[t], w0, b0);
  }
};

// (prod_m tanh(w_m (x - b_m)) + 1) / 2
struct TanhProd {
  static constexpr const char* name = "tanh_prod";
  static constexpr int kept(int factors) { return factors; }

  static void add(const Bundle& bundle, float* y) {
    const Bundle n = bundle;  // a copy that no store can alias stays in registers
    for (int t = 0; t < n.rows; t += 2 * kWidth) {
      Floats first = load(y + t), second = load(y + t + kWidth);
      for (int e = 0; e < n.n_edges; ++e) {
        const float* x = n.input(e) + t;
        const Floats x0 = load(x), x1 = load(x + kWidth);
        Floats product0 = all(1.0f), product1 = all(1.0f);
        for (int i = e * n.factors; i < (e + 1) * n.factors; ++i) {
          const Floats factor0 = fast_tanh(n.w[i] * (x0 - n.b[i]));
          const Floats factor1 = fast_tanh(n.w[i] * (x1 - n.b[i]));
          store(n.kept_at(i) + t, factor0);
          store(n.kept_at(i) + t + kWidth, factor1);
          product0 *= factor0;
          product1 *= factor1;
        }
        const float half = 0.5f * n.weight(e);
        first += half * (product0 + 1.0f);
        second += half * (product1 + 1.0f);
      }
      store(y + t, first);
      store(y + t + kWidth, second);
    }
  }

  static void pull(const Bundle& n, const float* g, int g_step, const Slopes& s) {
    for (int e = 0; e < n.n_edges; ++e, g += g_step) {
      float* gx = n.source[e] < s.first_wanted ? nullptr : s.gradients + (n.input(e) - n.signals);
      if (n.factors == 2) {
        pull_pair(n, e, g, gx, s);
      } else {
        for (int m = 0; m < n.factors; ++m) pull_factor(n, e, m, g, gx, s);
      }
      if (s.alpha != nullptr) s.alpha[e] += n.scale * pull_alpha(n, e, g);
    }
  }

  static Floats product_without(const Bundle& n, int e, int left_out, int t) {
    Floats product = all(1.0f);
    for (int m = 0; m < n.factors; ++m) {
      if (m != left_out) product *= load(n.kept_at(e * n.factors + m) + t);
    }
    return product;
  }

  static void pull_factor(const Bundle& n, int e, int m, const float* g, float* gx,
                          const Slopes& s) {
    const int i = e * n.factors + m;
    const float* x = n.input(e);
    const float* kept = n.kept_at(i);
    const float b = n.b[i], half = 0.5f * n.weight(e), through = half * n.w[i];
    Sum sum_x, sum_d;
    for (int block = 0; block < n.rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        const Floats k = load(kept + t);
        const Floats d = load(g + t) * product_without(n, e, m, t) * (1.0f - k * k);
        sum_x.part[v] += d * load(x + t);
        sum_d.part[v] += d;
        if (gx != nullptr) store(gx + t, load(gx + t) + d * through);
      }
    }
    const float of_x = total(sum_x), of_d = total(sum_d);
    s.w[i] += half * (of_x - b * of_d);
    s.b[i] -= through * of_d;
  }

  // Both factors of the usual pair in one go.
  static void pull_pair(const Bundle& n, int e, const float* g, float* gx, const Slopes& s) {
    const int i = 2 * e, rows = n.rows;
    const float* x = n.input(e);
    const float *first = n.kept_at(i), *second = n.kept_at(i + 1);
    const float b0 = n.b[i], b1 = n.b[i + 1], half = 0.5f * n.weight(e);
    const float through0 = half * n.w[i], through1 = half * n.w[i + 1];
    Sum sum_x0, sum_d0, sum_x1, sum_d1;
    for (int block = 0; block < rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        const Floats p = load(first + t), q = load(second + t), gt = load(g + t), xt = load(x + t);
        const Floats gq = gt * q, gp = gt * p, gpq = gq * p;
        const Floats d0 = gq - gpq * p, d1 = gp - gpq * q;
        sum_x0.part[v] += d0 * xt;
        sum_d0.part[v] += d0;
        sum_x1.part[v] += d1 * xt;
        sum_d1.part[v] += d1;
        if (gx != nullptr) store(gx + t, load(gx + t) + (d0 * through0 + d1 * through1));
      }
    }
    const float of_d0 = total(sum_d0), of_d1 = total(sum_d1);
    s.w[i] += half * (total(sum_x0) - b0 * of_d0);
    s.b[i] -= through0 * of_d0;
    s.w[i + 1] += half * (total(sum_x1) - b1 * of_d1);
    s.b[i + 1] -= through1 * of_d1;
  }

  static float pull_alpha(const Bundle& n, int e, const float* g) {
    Sum sum;
    for (int block = 0; block < n.rows; block += kSumLanes) {
      for (int v = 0; v < kSumVectors; ++v) {
        const int t = block + v * kWidth;
        sum.part[v] += load(g + t) * (product_without(n, e, -1, t) + 1.0f);
      }
    }
    return 0.5f * total(sum);
  }

  static void meaning(const double* x, int rows, const double* w, const double* b, int factors,
                      double* h) {
    for (int t = 0; t < rows; ++t) h[t] = 1.0;
    for (int m = 0; m < factors; ++m) {
      const double wm = w[m], bm = b[m];
      for (int t = 0; t < rows; ++t) h[t] *= exact_tanh(wm * (x[t] - bm));
    }
    for (int t = 0; t < rows; ++t) h[t] = (h[t] + 1.0) * 0.5;
  }
};

template <class... Fs>
struct List {};

}  // namespace
}  // namespace newron
