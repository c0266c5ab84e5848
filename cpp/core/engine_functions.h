// Curves and surfaces on bins as few smooth functions.
//
// A curve becomes a sum of sigmoids and bumps, chosen greedily from a dictionary and fitted
// together; a surface of two columns becomes hidden neurons that read both. Either is a
// problem of weighted least squares, solved by Levenberg and Marquardt's method.
#pragma once

#include <vector>

namespace newron {

// weight (tanh(w[0] (t - b[0])) tanh(w[1] (t - b[1])) + 1) / 2; a sigmoid has no second factor.
struct CurveFunction {
  bool bump;
  int scale;  // which of the two scales t is on
  double w[2];
  double b[2];
  double weight;
};

struct CurveTask {
  int n_bins;
  const double* scales[2];  // of each bin, standardized; the second may be absent
  const double* values;
  const double* mass;
  double tolerance;  // of half the weighted sum of squares
  double ridge;
  int max_functions;
  bool bumps;
  int direction;  // 1 the curve may only rise, -1 fall, 0 free
};

struct CurveFit {
  std::vector<CurveFunction> functions;
  double constant;
  double error;
};

CurveFit fit_curve(const CurveTask& task);

// A surface without main effects on cells of two columns, [first][second].
struct SurfaceTask {
  int n_first, n_second;
  const double *first, *second;            // positions of the levels
  const double *first_mass, *second_mass;  // which sum to 1
  const double* values;
  double ridge;
  bool bump;  // what reads the neuron's sum: a product of two tanh, or a sigmoid
  int iterations;
};

// s = g(w[0] (x - b[0])) + g(w[1] (y - b[1])) with g = (tanh + 1) / 2; the surface is weight
// times (tanh(v[0] (s - c[0])) tanh(v[1] (s - c[1])) + 1) / 2, less its own main effects.
struct SurfaceNeuron {
  double w[2], b[2], v[2], c[2], weight;
};

SurfaceNeuron fit_neuron(const SurfaceTask& task);

}  // namespace newron
