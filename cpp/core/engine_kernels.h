// The inner loops of the engine on bins and of crisp networks: one copy for each instruction set.
#pragma once

#include <cstdint>

namespace newron {

constexpr int kBins = 256;   // of a column, as codes of one byte
constexpr int kLevels = 32;  // of a column in a pair: a cell is two codes of five bits

// Terms that hold for some rows: the fixed ones, and rows of sums of their own.
struct Gains {
  int n, n_outputs;
  const double* parts;        // [2 * outputs + 1][n]: slopes, curvatures and weight of those rows
  const double *fixed, *all;  // the same of the fixed rows and of all, each [2 * outputs + 1]
  double ridge, base, least_weight;
  bool rising;  // terms may only raise scores
};

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
  // Of rows of k scores, one after the other: the largest, and the sum of exp(score - largest).
  void (*exp_sums)(const double* scores, int n, int k, double* largest, double* sums);
  // Slopes and curvatures of the log loss of k classes, of some rows; targets are class numbers.
  void (*class_slopes)(const double* scores, const float* targets, const double* weights,
                       const int* rows, int n, int k, double* slope, double* curve);
  // What a Newton step of each term would gain; 0 if too few rows are on either side, or if it may
  // only raise scores and would lower one.
  void (*find_gains)(const Gains& terms, double* out);
};

const EngineKernels& choose_engine_kernels();

}  // namespace newron
