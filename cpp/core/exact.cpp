// One layer in double precision: the meaning of a model, at full speed. Every
// operation and its order is that of newron/model/network.py.
#include "exact.h"

#include "machine.h"

#ifndef NEWRON_ISA
#define NEWRON_ISA baseline
#endif

namespace newron {
namespace {

using Meaning = void (*)(const double*, int, const double*, const double*, int, double*);

template <class>
struct Meanings;
template <class... Fs>
struct Meanings<List<Fs...>> {
  static constexpr Meaning table[] = {&Fs::meaning...};
};

void combine(Aggregation aggregation, bool first, const double* __restrict part, int rows,
             double* __restrict y) {
  if (first) {
    for (int t = 0; t < rows; ++t) y[t] = part[t];
    return;
  }
  switch (aggregation) {
    case Aggregation::sum:
    case Aggregation::mean:
      for (int t = 0; t < rows; ++t) y[t] += part[t];
      return;
    case Aggregation::min:
      for (int t = 0; t < rows; ++t) y[t] = part[t] < y[t] ? part[t] : y[t];
      return;
    case Aggregation::max:
      for (int t = 0; t < rows; ++t) y[t] = part[t] > y[t] ? part[t] : y[t];
      return;
    case Aggregation::product:
      for (int t = 0; t < rows; ++t) y[t] = bounded(y[t] * part[t]);
      return;
  }
}

void activate(Activation activation, int rows, double* y) {
  switch (activation) {
    case Activation::identity:
      return;
    case Activation::sigmoid:
      for (int t = 0; t < rows; ++t) y[t] = exact_sigmoid(y[t]);
      return;
    case Activation::tanh:
      for (int t = 0; t < rows; ++t) y[t] = exact_tanh(y[t]);
      return;
    case Activation::relu:
      for (int t = 0; t < rows; ++t) y[t] = y[t] > 0.0 ? y[t] : 0.0;
      return;
  }
}

// Values without order: categories by their number, gaps as NaN.
void place_points(const ExactLayer& layer, int e, const double* x, int rows, double* h) {
  const double missing = layer.missing[e];
  const double* levels = layer.levels + layer.level_begin[e];
  const int n = layer.level_begin[e + 1] - layer.level_begin[e];
  if (n == 0) {
    for (int t = 0; t < rows; ++t) h[t] = x[t] == x[t] ? h[t] : missing;
    return;
  }
  for (int t = 0; t < rows; ++t) {
    h[t] = x[t] >= 0.0 && x[t] < n ? levels[static_cast<int>(x[t])] : missing;
  }
}

// h of a function of one's own: z and parameters into the first registers, then its code.
void follow_code(const ExactLayer& layer, int e, const double* x, int rows, double* h) {
  const CodeView& code = layer.code;
  double* registers = h + rows;
  const int more = code.n_inputs - layer.factors;
  for (int m = 0; m < layer.factors; ++m) {
    const std::size_t at = static_cast<std::size_t>(e) * layer.factors + m;
    const double w = layer.w[at], b = layer.b[at], reach = code.reach;
    double* z = registers + static_cast<std::size_t>(m) * rows;
    for (int t = 0; t < rows; ++t) {
      const double own = w * (x[t] - b);
      const double low = own > reach ? reach : own;
      z[t] = low < -reach ? -reach : low;
    }
  }
  for (int k = 0; k < more; ++k) {
    double* to = registers + static_cast<std::size_t>(layer.factors + k) * rows;
    for (int t = 0; t < rows; ++t) to[t] = layer.parameters[static_cast<std::size_t>(e) * more + k];
  }
  run_exact(code, rows, registers, h);
}

// y becomes f(y), for a formula of one number.
void follow_curve(const CodeView& code, int rows, double* registers, double* y) {
  const double reach = code.reach;
  for (int t = 0; t < rows; ++t) {
    const double low = y[t] > reach ? reach : y[t];
    registers[t] = low < -reach ? -reach : low;
  }
  run_exact(code, rows, registers, y);
}

}  // namespace

namespace exact {
namespace NEWRON_ISA {

void pass(const ExactLayer& layer, int rows, double* signals, double* scratch) {
  const Meaning meaning = Meanings<AllFunctions>::table[layer.processing];
  for (int j = 0; j < layer.n_neurons; ++j) {
    double* y = signals + static_cast<std::size_t>(layer.first_signal + j) * rows;
    const int begin = layer.begin[j], end = layer.begin[j + 1];
    if (begin == end) {
      const double empty = layer.aggregation == Aggregation::product ? 1.0 : 0.0;
      for (int t = 0; t < rows; ++t) y[t] = empty;
    }
    for (int e = begin; e < end; ++e) {
      const std::size_t first = static_cast<std::size_t>(e) * layer.factors;
      const double* x = signals + static_cast<std::size_t>(layer.source[e]) * rows;
      if (layer.code.lines != nullptr) {
        follow_code(layer, e, x, rows, scratch);
      } else {
        meaning(x, rows, layer.w + first, layer.b + first, layer.factors, scratch);
      }
      if (layer.source[e] < layer.n_inputs) place_points(layer, e, x, rows, scratch);
      if (layer.alpha != nullptr) {
        const double alpha = layer.alpha[e];
        for (int t = 0; t < rows; ++t) scratch[t] *= alpha;
      }
      if (layer.transform.lines != nullptr) {
        follow_curve(layer.transform, rows, scratch + rows, scratch);
      }
      combine(layer.aggregation, e == begin, scratch, rows, y);
    }
    if (layer.aggregation == Aggregation::mean && end > begin) {
      const double n = static_cast<double>(end - begin);
      for (int t = 0; t < rows; ++t) y[t] /= n;
    }
    if (layer.finish.lines != nullptr) follow_curve(layer.finish, rows, scratch, y);
    if (layer.centre != nullptr) {
      const double centre = layer.centre[j];
      for (int t = 0; t < rows; ++t) y[t] -= centre;
    }
    if (layer.activate.lines != nullptr) {
      follow_curve(layer.activate, rows, scratch, y);
    } else {
      activate(layer.activation, rows, y);
    }
  }
}

}  // namespace NEWRON_ISA
}  // namespace exact
}  // namespace newron
