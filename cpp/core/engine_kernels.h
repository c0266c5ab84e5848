// The inner loops of the engine on bins and of crisp networks: one copy for each instruction set.
#pragma once

#include <cstdint>

namespace newron {

constexpr int kBins = 256;   // of a column, as codes of one byte
constexpr int kLevels = 32;  // of a column in a pair: a cell is two codes of five bits

struct EngineKernels {
  // out[i] += table[codes[i]]
  void (*add_lookups)(const std::uint8_t* codes, const float* table, int n, float* out);
  // out[i] += table[a[i], b[i]], of kLevels x kLevels cells
  void (*add_cells)(const std::uint8_t* a, const std::uint8_t* b, const float* table, int n,
                    float* out);
  // out[i] = tanh(w (t[i] - b))
  void (*tanh_values)(const double* t, int n, double w, double b, double* out);
  double (*dot)(const double* a, const double* b, int n);
  // The log loss of scores for targets 0 and 1, times weights.
  void (*binary_losses)(const double* scores, const float* targets, const double* weights, int n,
                        double* out);
  // Its slopes and curvatures, of some rows.
  void (*binary_slopes)(const double* scores, const float* targets, const double* weights,
                        const int* rows, int n, double* slope, double* curve);
};

const EngineKernels& choose_engine_kernels();

}  // namespace newron
