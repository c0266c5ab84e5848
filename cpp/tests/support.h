// What the core's tests share: expectations, small networks, tables, parameters.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/network.h"
#include "core/random.h"
#include "core/trainer.h"

namespace newron {

inline int& count_passed() {
  static int passed = 0;
  return passed;
}

inline void expect(bool holds, const char* what, const char* file, int line) {
  if (!holds) {
    std::printf("%s:%d: failed: %s\n", file, line, what);
    std::exit(1);
  }
  ++count_passed();
}
#define EXPECT(condition) expect(condition, #condition, __FILE__, __LINE__)

// The formula a tanh(z), with a parameter a: z, a; the constant 1; h, its slopes along z and a;
// one register more. Prediction needs no slopes.
inline Code make_code(bool slopes) {
  const int tanh = static_cast<int>(Operation::tanh), less = static_cast<int>(Operation::subtract),
            times = static_cast<int>(Operation::multiply);
  if (!slopes) return {{tanh, 4, 0, 0, 0, times, 3, 1, 4, 0}, {1.0}, 2, 1, 5, 100.0};
  return {
      {tanh, 5, 0, 0, 0, times, 3, 1, 5, 0, times, 6, 5, 5, 0, less, 6, 2, 6, 0, times, 4, 1, 6, 0},
      {1.0},
      2,
      3,
      7,
      100.0};
}

inline Code code_of(int processing, bool slopes) {
  return std::string(function_name(processing)) == "formula" ? make_code(slopes) : Code{};
}

// A hidden layer and an output layer that also reads the inputs directly.
inline std::vector<LayerShape> make_shapes(int processing, Aggregation aggregation, int factors,
                                           int n_inputs, int width, int n_outputs) {
  LayerShape hidden = {processing, aggregation, Activation::tanh, false, true, factors, width,
                       {},         {0}};
  LayerShape last = {
      processing, Aggregation::sum, Activation::identity, true, true, factors, n_outputs, {}, {0}};
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < n_inputs; ++i) hidden.source.push_back(i);
    hidden.begin.push_back(static_cast<int>(hidden.source.size()));
  }
  for (int k = 0; k < n_outputs; ++k) {
    for (int i = 0; i < n_inputs + width; ++i) last.source.push_back(i);
    last.begin.push_back(static_cast<int>(last.source.size()));
  }
  hidden.code = last.code = code_of(processing, true);
  return {hidden, last};
}

struct Data {
  std::vector<float> x, y, weight;
  Table table;

  Data(int rows, int columns, int classes) {
    Random random(7);
    for (int i = 0; i < rows * columns; ++i) {
      x.push_back(static_cast<float>(random.below(2000)) / 1000.0f - 1.0f);
    }
    for (int i = 0; i < rows; ++i) {
      y.push_back(static_cast<float>(random.below(static_cast<std::uint32_t>(classes))));
      weight.push_back(1.0f);
    }
    table = {x.data(), y.data(), weight.data(), static_cast<double>(rows), rows, 1};
  }
};

inline std::vector<float> make_params(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> params;
  for (std::size_t i = 0; i < n; ++i) {
    params.push_back(static_cast<float>(random.below(2000)) / 1000.0f - 1.0f);
  }
  return params;
}

}  // namespace newron
