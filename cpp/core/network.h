// A network as plain arrays: what the passes over it need, and nothing else.
//
// Signals are numbered: the input channels first, then the neurons of each
// layer in order. Every edge reads one earlier signal, so a layer may look past
// the one before it (the output neuron may see the inputs directly).
//
// No standard containers here: these structs are shared with code that is
// compiled for several instruction sets.
#pragma once

#include <cstddef>

#include "code.h"
#include "objective.h"

namespace newron {

enum class Aggregation { sum, mean, min, max, product };
enum class Activation { identity, sigmoid, tanh, relu };

constexpr int kLanes = 32;  // rows are padded to a multiple of this: two of the widest vectors

inline int pad_rows(int rows) { return (rows + kLanes - 1) / kLanes * kLanes; }

// A formula of one number and its slope: an activation of one's own, or a part of an aggregation.
struct Curve {
  CodeView code;          // its lines are null where there is none
  std::size_t constants;  // offset into the room's constants, in units of rows
  std::size_t kept;       // of the slope for each neuron: offset into the kept values

  bool exists() const { return code.lines != nullptr; }
};

struct LayerView {
  int processing;  // place in processing.h's Functions
  Aggregation aggregation;
  Activation activation;
  bool weighted;  // edges carry an alpha
  bool centred;   // neurons carry a centre c: f(z - c)
  int factors;
  int n_edges;
  int n_neurons;
  const int* source;  // signal that each edge reads; edges lie neuron by neuron
  const int* begin;   // first edge of each neuron, and the end
  int first_signal;   // of this layer's neurons
  // Offsets into the flat parameters.
  std::size_t w, b, alpha, centre;
  CodeView code;           // of functions of one's own; its lines are null for the others
  std::size_t parameters;  // their further parameters
  std::size_t constants;   // offset into the room's constants, in units of rows
  int kept_per_edge;
  std::size_t kept;  // offset into the kept values, in units of rows
  // An aggregation of one's own: of each part, and of what `aggregation` makes of them.
  Curve transform, finish;
  Curve activate;  // an activation of one's own, in place of `activation`
};

// A value without order (a category, a gap) comes in a channel as kPoint times its
// number from 1 on: exact in single precision, and beyond every other value.
constexpr float kPoint = 0x1p100f;

// One function's way to read a channel that has such points: each has a place on the
// axis, which is trained like the rest.
struct Place {
  int channel;
  int n_points;
  std::size_t places;  // offset into the flat parameters
};

struct NetworkView {
  int n_channels;
  int n_places;  // their signals come after the channels
  int n_signals;
  int n_layers;
  int n_outputs;
  int widest;  // most edges of one neuron
  std::size_t n_params;
  std::size_t n_kept;
  int n_registers;  // most of one layer's code
  std::size_t n_constants;
  const LayerView* layers;
  const Place* places;

  int first_output() const { return n_signals - n_outputs; }
};

// Room for one block of rows. Everything is [signal or edge][row].
struct Room {
  int rows;    // most rows of a block
  int stride;  // distance between two signals; no power of two, which would thrash the cache
  float* signals;
  float* gradients;
  float* kept;
  float* parts;    // contributions of one neuron's edges (min, max, product)
  float* scratch;  // widest + 2 times rows, for the same
  float* slopes;   // of the transforms of parts
  float* targets;  // [target column][row]
  float* weights;
  float* registers;  // for formulas: kGroup rows each
  float* constants;
};

struct Table {
  const float* x;        // rows by channels
  const float* targets;  // rows by target columns
  const float* weights;
  double total_weight;
  int n_rows;
  int n_targets;
};

struct Outcome {
  double loss;  // weighted sum over the rows
  int wrong;    // rows whose class is missed
};

struct AdamStep {
  float rate;
  float correction1;  // 1 / (1 - beta1^t)
  float correction2;
};

// What one double-precision layer needs; same edges, parameters in column units.
struct ExactLayer {
  int processing;
  Aggregation aggregation;
  Activation activation;
  int factors;
  int n_neurons;
  const int* source;
  const int* begin;
  int first_signal;
  const double* w;
  const double* b;
  const double* alpha;     // null: not weighted
  const double* centre;    // null: not centred
  int n_inputs;            // signals before this one are columns, in which gaps are NaN
  const double* missing;   // of each edge: h of a gap
  const int* level_begin;  // the first of an edge's levels, and the end
  const double* levels;    // h of each category, for edges that read categories
  CodeView code;           // of functions of one's own; its lines are null for the others
  const double* parameters;
  CodeView transform, finish, activate;  // of one's own, as in LayerView
};

// The passes, compiled once for each instruction set.
struct Passes {
  const char* name;
  // Rows order[first], ... or, without an order, rows first, first + 1, ...
  void (*load)(const NetworkView&, const Table&, const int* order, int first, int n, Room&);
  void (*forward)(const NetworkView&, const float* params, int rows, float blend, Room&);
  Outcome (*loss)(const NetworkView&, const Objective&, int rows, int n, float scale, bool gradient,
                  Room&);
  void (*backward)(const NetworkView&, const float* params, int rows, float blend, Room&,
                   float* gradient);
  void (*adam)(float* params, float* mean, float* square, const float* gradient, const float* share,
               const float* decay, const float* sign, std::size_t n, AdamStep step);
  void (*exact)(const ExactLayer&, int rows, double* signals, double* scratch);
  void (*bare_sigmoid)(const float* x, int rows, const float* w, const float* b, int edges,
                       float* out);
};

const Passes& choose_passes();
int count_functions();
const char* function_name(int index);

// How many kept values per row an edge of this function needs.
int count_kept(int processing, int factors);

}  // namespace newron
