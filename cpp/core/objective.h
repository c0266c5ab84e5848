// What is trained on: a loss with its parameters, row by row.
//
// Binary and categorical losses look at all scores of a row; the others are means over the
// outputs, each with a target of its own, in units of the loss of the best constant. The ordinal
// loss has one output; its targets are the limits below and above the row's class, which are far
// away at the ends, and a constant.
#pragma once

#include <algorithm>
#include <vector>

#include "formula.h"

namespace newron {

enum class Loss {
  binary,
  categorical,
  squared,
  tweedie,
  huber,
  quantile,
  formula,
  ordinal,
  labels,  // the log loss of each output
};

constexpr int kMaxLevels = 16;

// Scores of a log link are logarithms in units of the mean: beyond this they are clamped.
constexpr float kLargestLog = 40.0f;

struct Objective {
  Loss loss = Loss::binary;
  float parameter = 0.0f;  // tweedie: the power; huber: where it bends; quantile: its smoothing
  float factor = 1.0f;     // of the loss
  float levels[kMaxLevels] = {};  // quantile: of each output
  // formula: of each output the value, slope and curvature for a score and a target
  std::vector<Code> codes = {};
  bool two_classes = false;  // formula: a score from 0 on is the second class

  Objective() = default;
  Objective(Loss kind) : loss(kind) {}  // not explicit: most losses have no parameters

  bool operator==(Loss kind) const { return loss == kind; }
  bool operator!=(Loss kind) const { return loss != kind; }
  bool by_output() const { return loss != Loss::binary && loss != Loss::categorical; }
  // Tweedie's targets are followed by what makes the loss of a perfect score 0.
  int n_targets(int n_outputs) const {
    if (loss == Loss::ordinal) return 3;
    if (!by_output()) return 1;
    return loss == Loss::tweedie ? 2 * n_outputs : n_outputs;
  }
  int n_registers() const {
    int most = 0;
    for (const Code& code : codes) most = std::max(most, code.n_registers);
    return most;
  }
};

// The loss of one output of a row and its derivatives.
struct RowLoss {
  double value, slope, curve;
};

}  // namespace newron
