// Owns the code of a formula.
#pragma once

#include <vector>

#include "code.h"

namespace newron {

struct Code {
  std::vector<int> lines;
  std::vector<double> constants;
  int n_inputs = 0;
  int n_outputs = 0;
  int n_registers = 0;
  double reach = 0.0;

  // The part of the code that computes the first output alone.
  CodeView view_first() const {
    CodeView out = view();
    for (int k = out.n_lines; k > 0; --k) {
      if (out.lines[5 * (k - 1) + 1] != out.first_output()) continue;
      out.n_lines = k;
      break;
    }
    return out;
  }

  CodeView view() const {
    if (n_outputs == 0) return {};
    static constexpr int kNone[5] = {};
    return {lines.empty() ? kNone : lines.data(),
            static_cast<int>(lines.size() / 5),
            n_inputs,
            static_cast<int>(constants.size()),
            n_outputs,
            n_registers,
            constants.data(),
            reach};
  }
};

}  // namespace newron
