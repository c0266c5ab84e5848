// A formula as a straight program: what newron/expressions/tape.py writes.
//
// Registers are numbered: the inputs, the constants, the outputs, then others.
#pragma once

namespace newron {

// The order is that of OPERATIONS in tape.py.
enum class Operation {
  add,
  subtract,
  multiply,
  divide,
  negate,
  absolute,
  min,
  max,
  less,
  less_or_equal,
  equal,
  select,
  sqrt,
  exp,
  log,
  sin,
  cos,
  sigmoid,
  tanh,
  copy,
};
constexpr int kOperations = static_cast<int>(Operation::copy) + 1;

constexpr int kGroup = 8;            // functions that a formula is computed for at once
constexpr int kMostRegisters = 256;  // of a formula

struct CodeView {
  const int* lines;  // operation, result, three arguments each; null: no code
  int n_lines;
  int n_inputs;
  int n_constants;
  int n_outputs;
  int n_registers;
  const double* constants;
  double reach;  // inputs that are z are kept within

  int first_output() const { return n_inputs + n_constants; }
};

}  // namespace newron
