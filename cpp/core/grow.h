// Greedy construction of Heaviside networks: one term at a time, found by
// histograms of the loss's slopes and curvatures.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "crisp.h"

namespace newron {

struct GrowSettings {
  int max_terms = 60;
  int max_conditions = 3;     // of one term
  int beam = 6;               // how many shorter terms are tried to be made longer
  double length_price = 0.1;  // a term of n conditions counts gain / (1 + price (n - 1))
  double ridge = 1.0;
  double least_weight = 2.0;  // rows, by weight, on either side of a term
  int polish_every = 10;
  int sweeps = 2;          // of the refit after each term
  int exchange_every = 0;  // sizes; then each term gives way to a better one; 0: never
  bool windows = true;     // low <= x < high on one column as a first step
  bool counts = true;      // terms that need fewer than all of their conditions
};

// A term to be: conditions on columns, of which `need` must hold.
struct Candidate {
  double gain = 0.0;   // of the loss, by a Newton step
  double score = 0.0;  // the gain, less for longer terms
  std::vector<Condition> conditions;
  int need = 0;
};

class Grower {
 public:
  Grower(const RankTable& table, const GrowSettings& settings, int n_threads);

  // Adds the next term; false when there is none, or enough.
  bool grow();
  // Goes on to the best network found with one condition more, or the fewest more that
  // there is: the one before with a condition more, the one before that with a term of two,
  // and so on, whichever has the lowest objective. False when there is none, or enough.
  bool grow_size();
  // The best next term, as the network stands.
  Candidate find_best();
  // Ends the growth: polishes and refits until nothing changes.
  void settle();

  CrispNetwork& network() { return network_; }

 private:
  struct Sums {
    std::vector<double> slope, curve;  // of each output
    double weight = 0.0;
  };

  // The best next terms of one condition, of two, and so on.
  std::vector<Candidate> find_by_length();
  void queue_longer();
  bool exchange(int term);
  void exchange_all();
  void measure();
  Sums total(const std::vector<int>& rows) const;
  std::vector<double> pack(const std::vector<int>& rows) const;
  void fill(int column, const std::vector<int>& rows, const std::vector<double>& packed,
            std::vector<double>& histogram) const;
  double gain(const double* slope, const double* curve, double weight, const Sums& fixed,
              bool rising) const;
  class Stretches;
  void scan(int column, const std::vector<int>& rows, const std::vector<double>& packed,
            const Sums& fixed, bool windows, bool rising, std::vector<Candidate>& found) const;
  void scan_categories(int column, const std::vector<double>& histogram, const Sums& fixed,
                       bool rising, std::vector<Candidate>& found) const;
  std::vector<Candidate> extend(const Candidate& from);
  std::vector<Candidate> scan_columns(const std::vector<int>& rows, const Sums& fixed, bool windows,
                                      const Candidate& from, int need);

  GrowSettings settings_;
  CrispNetwork network_;
  Team team_;
  std::vector<double> slope_, curve_;  // [row][output]
  Sums all_;
  double base_ = 0.0;
  int since_polish_ = 0, size_ = 0;
  // The best so far with one condition more than the network has, with two, and so on.
  std::deque<std::optional<CrispNetwork>> longer_;
};

}  // namespace newron
