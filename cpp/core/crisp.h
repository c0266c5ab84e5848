// Networks of steps on whole numbers: what a Heaviside network is once its
// thresholds are given by rank. Every change of a threshold can be measured by the
// exact loss, because a step's rows are either on or off.
//
// Hidden neurons count conditions. The output adds terms: a term is one condition
// on an input or on a hidden neuron's count, with a weight for each output.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "network.h"
#include "team.h"

namespace newron {

using Rank = std::uint16_t;

// Of the ordered values: value >= cut for sign +1, value < cut for sign -1. The values
// from `ordered` on have no order (categories, or the gap of a column of numbers): for
// each of them `free` says whether the condition holds.
struct Condition {
  int source;
  int sign;
  int cut;
  int ordered = std::numeric_limits<int>::max();
  std::vector<std::uint8_t> free = {};

  bool holds(int value) const {
    if (value < ordered) return (value >= cut) == (sign > 0);
    return free[static_cast<std::size_t>(value - ordered)] != 0;
  }
  bool operator==(const Condition& other) const {
    return source == other.source && sign == other.sign && cut == other.cut && free == other.free;
  }
};

// The rows to train on, column by column, each value as its rank.
struct RankTable {
  int n_rows;
  int n_columns;
  int n_outputs;
  Objective loss;
  const Rank* ranks;     // [column][row]
  const int* n_bins;     // of each column
  const int* n_ordered;  // of each column: the bins before those without order
  const int* monotone;   // of each column: 1 scores may only rise with it, -1 fall, 0 free
  const float* targets;  // [row][target], as many as the loss has
  const double* weights;
  double total_weight;
  const double* base = nullptr;  // [row][output]: scores to which the network adds, or none

  const Rank* column(int c) const {
    return ranks + static_cast<std::size_t>(c) * static_cast<std::size_t>(n_rows);
  }
  int n_free(int c) const { return n_bins[c] - n_ordered[c]; }
  bool constrained() const;
  // A condition on a column, with the bins without order off.
  Condition make_condition(int c, int sign, int cut) const;
  // The weighted loss of a row with these scores, and its derivatives.
  RowLoss output_loss(int row, int output, double score) const;
  double output_value(int row, int output, double score) const;
  double row_loss(int row, const double* scores) const;
  void row_slopes(int row, const double* scores, double* slope, double* curve) const;
  // The same of some rows at once: of all scores, and of scores of these rows alone.
  void find_slopes(const std::vector<int>& rows, const double* scores, double* slope,
                   double* curve) const;
  void find_losses(const std::vector<int>& rows, const double* scores, double* losses) const;
  bool row_wrong(int row, const double* scores) const;
};

// A neuron's conditions read columns or neurons before it. Signals: columns
// first, then neurons.
struct CrispShape {
  std::vector<int> begin = {0};  // first condition of each neuron, and the end
  std::vector<Condition> conditions;
  std::vector<Condition> terms;
  std::vector<int> only;       // the one output of a term, or -1: all
  std::vector<double> weight;  // [term][output]
  std::vector<double> centre;  // [output]
};

struct PolishSettings {
  bool other_columns = false;  // may a condition on a column move to another one?
  double ridge = 0.1;
};

class CrispNetwork {
 public:
  CrispNetwork(const RankTable& table, CrispShape shape);

  // The loss over all rows by the weight of all rows, without the ridge.
  double loss() const;
  int count_wrong() const;
  // What polish and refit lower: the summed loss and half the ridge times the
  // squared weights.
  double objective(double ridge) const;

  // One sweep of coordinate descent over all conditions; how many changed.
  int polish(const PolishSettings& settings, Team& team);

  // The most parts that polishing is ever cut into.
  int count_parts() const;
  // Cyclic Newton steps on weights and centres; never raises the objective.
  void refit(int sweeps, double ridge);

  // A new term; conditions on columns. Several make a hidden neuron that needs
  // `need` of them.
  void add_term(const std::vector<Condition>& conditions, int need);
  void keep_terms(int n);
  // Takes a term out, and the neuron that it alone reads.
  void drop_term(int term);
  // How many conditions on columns a grown term has.
  int count_conditions(int term) const;

  const CrispShape& shape() const { return shape_; }
  const std::vector<int>& all_rows() const { return all_rows_; }
  const RankTable& table() const { return table_; }
  const double* scores(int row) const {
    return scores_.data() + static_cast<std::size_t>(row) * table_.n_outputs;
  }

 private:
  struct Reader {
    int neuron;  // or -1: a term
    int index;   // of the condition or the term
  };

  int n_neurons() const { return static_cast<int>(shape_.begin.size()) - 1; }
  int value(int signal, int row) const {
    return signal < table_.n_columns ? table_.column(signal)[row]
                                     : counts_[static_cast<std::size_t>(signal - table_.n_columns)]
                                              [static_cast<std::size_t>(row)];
  }
  int n_values(int signal) const;
  const Rank* values(int signal) const {
    return signal < table_.n_columns
               ? table_.column(signal)
               : counts_[static_cast<std::size_t>(signal - table_.n_columns)].data();
  }
  void index_readers();
  bool is_bound(int signal) const { return bound_[static_cast<std::size_t>(signal)] != 0; }
  void recount();
  void evaluate_row(int row);
  void add_score(int term, double times, double* scores) const;
  // A neuron and its count, were some condition another one.
  struct Changed {
    int neuron, count;
  };
  // Of the rows whose loss a condition changes: whether it holds now, and the loss with it on less
  // that with it off.
  struct Differences {
    std::vector<int> rows;
    std::vector<std::uint8_t> held;
    std::vector<double> losses;
  };
  void scores_with(int row, Changed first, double* scores, std::vector<Changed>& changed) const;
  void find_differences(int neuron, int index, Differences& found, Team& team) const;
  void find_changes(int neuron, int index, int begin, int end, Differences& found,
                    std::vector<double>& changed) const;
  bool improve(int neuron, int index, const PolishSettings& settings, Team& team);
  void sweep_weights(double ridge, double share);
  void step_weight(int term, int output, double ridge, double share);
  void step_centre(int output, double share);

  RankTable table_;
  CrispShape shape_;
  std::vector<std::vector<Reader>> readers_;  // of each signal
  // Signals in which scores must be monotone: constrained columns, and neurons that
  // read them. Neurons then count what raises them, and their terms weigh 0 or more.
  std::vector<std::uint8_t> bound_;
  std::vector<std::vector<Rank>> counts_;  // of each neuron, by row
  std::vector<std::vector<int>> active_;   // rows of each term, while refitting
  std::vector<double> scores_;             // [row][output]
  std::vector<double> losses_;             // of each row, while polishing
  std::vector<int> all_rows_;
  std::vector<double> slope_, curve_;  // [row][output], while refitting
};

}  // namespace newron
