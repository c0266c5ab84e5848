// A model's scores in double precision, equal to the NumPy definition bit by bit.
#pragma once

#include <vector>

#include "formula.h"
#include "network.h"
#include "team.h"

namespace newron {

// How one channel reads a column: as it is, or through a piecewise-linear map
// with one more segment than knots. Segment k starts at (x[k], y[k]).
struct ChannelMap {
  int column;
  std::vector<double> knots;  // empty: as it is
  std::vector<double> x, y, slope;
};

struct ExactShape {
  int processing;
  Aggregation aggregation;
  Activation activation;
  int factors;
  int n_neurons;
  std::vector<int> source, begin;
  std::vector<double> w, b, alpha, centre;  // alpha, centre may be empty
  std::vector<double> missing;
  std::vector<int> level_begin;
  std::vector<double> levels;
  Code code = {};
  std::vector<double> parameters = {};
  Code transform = {}, finish = {}, activate = {};
};

class Evaluator {
 public:
  Evaluator(std::vector<ChannelMap> channels, std::vector<ExactShape> shapes);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  int n_outputs() const { return shapes_.back().n_neurons; }

  // x: rows by columns; scores: rows by outputs.
  void score(const double* x, long n_rows, int n_columns, double* scores, int n_threads) const;

 private:
  void score_block(const double* x, int rows, int n_columns, double* scores, double* room) const;
  void read_channel(const ChannelMap& channel, const double* x, int rows, int n_columns,
                    double* out) const;

  std::vector<ChannelMap> channels_;
  std::vector<ExactShape> shapes_;
  std::vector<ExactLayer> layers_;
  int n_signals_;
  int n_registers_ = 0;  // most of one layer's code
};

}  // namespace newron
