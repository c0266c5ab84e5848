#include "grow.h"

#include <algorithm>
#include <cstddef>

#include "engine_kernels.h"

namespace newron {

namespace {

constexpr double kLeastChange = 1e-3;  // of the objective, for another term

std::size_t at(int index) { return static_cast<std::size_t>(index); }

CrispShape empty_shape(const RankTable& table) {
  CrispShape shape;
  shape.centre.assign(at(table.n_outputs), 0.0);
  return shape;
}

bool better(const Candidate& a, const Candidate& b) { return a.score > b.score; }

}  // namespace

Grower::Grower(const RankTable& table, const GrowSettings& settings, int n_threads)
    : settings_(settings),
      network_(table, empty_shape(table)),
      team_(std::min(n_threads, network_.count_parts())) {
  network_.refit(20, settings_.ridge);
}

// ---- the slopes and curvatures of the loss, as the network stands ----

void Grower::measure() {
  const RankTable& table = network_.table();
  const std::size_t k = at(table.n_outputs);
  slope_.resize(at(table.n_rows) * k);
  curve_.resize(at(table.n_rows) * k);
  table.find_slopes(network_.all_rows(), network_.scores(0), slope_.data(), curve_.data());
  all_ = total(network_.all_rows());
  base_ = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    base_ += all_.slope[i] * all_.slope[i] / (all_.curve[i] + settings_.ridge);
  }
}

Grower::Sums Grower::total(const std::vector<int>& rows) const {
  const RankTable& table = network_.table();
  const std::size_t k = at(table.n_outputs);
  Sums sums = {std::vector<double>(k, 0.0), std::vector<double>(k, 0.0), 0.0};
  for (const int row : rows) {
    for (std::size_t o = 0; o < k; ++o) {
      sums.slope[o] += slope_[at(row) * k + o];
      sums.curve[o] += curve_[at(row) * k + o];
    }
    sums.weight += table.weights[row];
  }
  return sums;
}

// Of some rows, one after the other: slopes of all outputs, curvatures of all outputs, weight.
std::vector<double> Grower::pack(const std::vector<int>& rows) const {
  const RankTable& table = network_.table();
  const std::size_t k = at(table.n_outputs);
  std::vector<double> packed;
  packed.reserve(rows.size() * (2 * k + 1));
  for (const int row : rows) {
    const double *slope = slope_.data() + at(row) * k, *curve = curve_.data() + at(row) * k;
    packed.insert(packed.end(), slope, slope + k);
    packed.insert(packed.end(), curve, curve + k);
    packed.push_back(table.weights[row]);
  }
  return packed;
}

// The sums of what is packed by bin of a column.
void Grower::fill(int column, const std::vector<int>& rows, const std::vector<double>& packed,
                  std::vector<double>& histogram) const {
  const RankTable& table = network_.table();
  const std::size_t width = 2 * at(table.n_outputs) + 1;
  histogram.assign(at(table.n_bins[column]) * width, 0.0);
  const Rank* x = table.column(column);
  const double* from = packed.data();
  if (width == 3) {
    for (const int row : rows) {
      double* bin = histogram.data() + 3 * x[row];
      bin[0] += from[0];
      bin[1] += from[1];
      bin[2] += from[2];
      from += 3;
    }
    return;
  }
  for (const int row : rows) {
    double* bin = histogram.data() + x[row] * width;
    for (std::size_t i = 0; i < width; ++i) bin[i] += from[i];
    from += width;
  }
}

// What a Newton step of a term would gain that is on for the fixed rows and for
// rows with these sums; 0 if too few rows are on either side, or if the term may only
// raise scores (rising) and would lower one.
double Grower::gain(const double* slope, const double* curve, double weight, const Sums& fixed,
                    bool rising) const {
  const double on = fixed.weight + weight;
  if (on < settings_.least_weight || all_.weight - on < settings_.least_weight) return 0.0;
  const std::size_t n_outputs = all_.slope.size();
  double sum = -base_;
  for (std::size_t o = 0; o < n_outputs; ++o) {
    const double s = fixed.slope[o] + slope[o], c = fixed.curve[o] + curve[o];
    const double rest = all_.slope[o] - s, room = std::max(all_.curve[o] - c, 0.0);
    const double here = s / (c + settings_.ridge), there = rest / (room + settings_.ridge);
    if (rising && here > there) return 0.0;
    sum += s * here + rest * there;
  }
  return std::max(0.5 * sum, 0.0);
}

// ---- the search ----

// Sums over stretches of a column's ordered bins, and what terms would gain that hold there.
class Grower::Stretches {
 public:
  // Of a histogram with `bins` bins, the gap's last; with `rising` terms may only raise scores.
  Stretches(const Grower& grower, const std::vector<double>& histogram, int bins, int ordered,
            const Sums& fixed, bool rising)
      : grower_(grower),
        width_(2 * grower.all_.slope.size() + 1),
        size_(at(ordered + 1)),
        before_(width_ * size_, 0.0),
        gap_(histogram.data() + at(bins - 1) * width_),
        rising_(rising) {
    for (std::size_t i = 0; i < width_; ++i) {
      double* sums = before_.data() + i * size_;
      for (std::size_t b = 0; b + 1 < size_; ++b) sums[b + 1] = sums[b] + histogram[b * width_ + i];
    }
    fixed_ = flatten(fixed);
    all_ = flatten(grower.all_);
  }

  // Of the bins from `low` to before each of n ends, from `first` on.
  const std::vector<double>& measure_to(int low, int first, int n, bool with_gap) {
    return measure(n, with_gap, [&](const double* sums, double* part) {
      const double start = sums[low];
      for (int j = 0; j < n; ++j) part[j] = sums[first + j] - start;
    });
  }

  // Of the bins from each of n starts, from `first` on, to the last.
  const std::vector<double>& measure_from(int first, int n, bool with_gap) {
    return measure(n, with_gap, [&](const double* sums, double* part) {
      const double end = sums[size_ - 1];
      for (int j = 0; j < n; ++j) part[j] = end - sums[first + j];
    });
  }

 private:
  static std::vector<double> flatten(const Sums& sums) {
    std::vector<double> out = sums.slope;
    out.insert(out.end(), sums.curve.begin(), sums.curve.end());
    out.push_back(sums.weight);
    return out;
  }

  template <class Subtract>
  const std::vector<double>& measure(int n, bool with_gap, Subtract subtract) {
    parts_.resize(width_ * at(n));
    gains_.resize(at(n));
    for (std::size_t i = 0; i < width_; ++i) {
      double* part = parts_.data() + i * at(n);
      subtract(before_.data() + i * size_, part);
      for (int j = 0; with_gap && j < n; ++j) part[j] += gap_[i];
    }
    const Gains terms = {n,
                         static_cast<int>(grower_.all_.slope.size()),
                         parts_.data(),
                         fixed_.data(),
                         all_.data(),
                         grower_.settings_.ridge,
                         grower_.base_,
                         grower_.settings_.least_weight,
                         rising_};
    choose_engine_kernels().find_gains(terms, gains_.data());
    return gains_;
  }

  const Grower& grower_;
  std::size_t width_, size_;
  std::vector<double> before_;  // running sums, one after the other: of the bins under each
  const double* gap_;
  bool rising_;
  std::vector<double> fixed_, all_, parts_, gains_;
};

namespace {

// A stretch of bins, and what a term that holds there would gain.
struct Stretch {
  double gain = 0.0;
  int low = 0, high = 0;
  bool with_gap = false;
};

}  // namespace

// The best condition of each direction on one column, and its best window. A gap may
// be on either side of a condition.
void Grower::scan(int column, const std::vector<int>& rows, const std::vector<double>& packed,
                  const Sums& fixed, bool windows, bool rising,
                  std::vector<Candidate>& found) const {
  const RankTable& table = network_.table();
  const int bins = table.n_bins[column], ordered = table.n_ordered[column];
  if (bins < 2) return;
  std::vector<double> histogram;
  fill(column, rows, packed, histogram);
  if (ordered == 0) return scan_categories(column, histogram, fixed, rising, found);
  const int direction = table.monotone[column];
  Stretches stretches(*this, histogram, bins, ordered, fixed, rising || direction != 0);
  const auto condition = [&](int sign, int cut, bool with_gap) {
    Condition made = table.make_condition(column, sign, cut);
    if (with_gap) made.free.back() = 1;
    return made;
  };
  const bool gaps = bins > ordered;
  // With gaps the first and last cut say "there is a value" and "there is none".
  const int first = gaps ? 0 : 1, n = ordered + gaps - first;
  Stretch up, down, window;
  for (const bool with_gap : {false, true}) {
    if (with_gap && !gaps) continue;
    if (direction >= 0) {
      const std::vector<double>& gains = stretches.measure_from(first, n, with_gap);
      for (int j = 0; j < n; ++j) {
        if (gains[at(j)] > up.gain) up = {gains[at(j)], first + j, ordered, with_gap};
      }
    }
    if (direction <= 0) {
      const std::vector<double>& gains = stretches.measure_to(0, first, n, with_gap);
      for (int j = 0; j < n; ++j) {
        if (gains[at(j)] > down.gain) down = {gains[at(j)], 0, first + j, with_gap};
      }
    }
  }
  for (int low = 1; windows && direction == 0 && low < ordered - 1; ++low) {
    const int count = ordered - low - 1;
    const std::vector<double>& gains = stretches.measure_to(low, low + 1, count, false);
    for (int j = 0; j < count; ++j) {
      if (gains[at(j)] > window.gain) window = {gains[at(j)], low, low + 1 + j, false};
    }
  }
  if (up.gain > 0.0) found.push_back({up.gain, 0.0, {condition(1, up.low, up.with_gap)}, 1});
  if (down.gain > 0.0) {
    found.push_back({down.gain, 0.0, {condition(-1, down.high, down.with_gap)}, 1});
  }
  if (window.gain > 0.0) {
    found.push_back({window.gain,
                     0.0,
                     {condition(1, window.low, false), condition(-1, window.high, false)},
                     2});
  }
}

// The best set of categories, and the best whose complement is one: for one output
// the best set is a first part of the categories by slope over curvature, so these
// are tried, in the order of each output.
void Grower::scan_categories(int column, const std::vector<double>& histogram, const Sums& fixed,
                             bool rising, std::vector<Candidate>& found) const {
  const RankTable& table = network_.table();
  const std::size_t k = all_.slope.size(), width = 2 * k + 1;
  const int bins = table.n_bins[column];
  const auto sums_of = [&](int bin) { return histogram.data() + at(bin) * width; };
  std::vector<int> present;
  std::vector<double> all(width, 0.0), part(width), rest(width);
  for (int bin = 0; bin < bins; ++bin) {
    if (sums_of(bin)[2 * k] == 0.0) continue;
    present.push_back(bin);
    for (std::size_t i = 0; i < width; ++i) all[i] += sums_of(bin)[i];
  }
  Candidate first, last;
  for (std::size_t o = 0; o < k; ++o) {
    std::vector<int> order = present;
    const auto ratio = [&](int bin) {
      return sums_of(bin)[o] / std::max(sums_of(bin)[k + o], 1e-12);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return ratio(a) < ratio(b); });
    part.assign(width, 0.0);
    for (std::size_t n = 1; n < order.size(); ++n) {
      for (std::size_t i = 0; i < width; ++i) {
        part[i] += sums_of(order[n - 1])[i];
        rest[i] = all[i] - part[i];
      }
      const double in = gain(part.data(), part.data() + k, part[2 * k], fixed, rising);
      const double out = gain(rest.data(), rest.data() + k, rest[2 * k], fixed, rising);
      const auto condition = [&](std::size_t begin, std::size_t end) {
        Condition made = table.make_condition(column, 1, 0);
        for (std::size_t i = begin; i < end; ++i) made.free[at(order[i])] = 1;
        return made;
      };
      if (in > first.gain) first = {in, 0.0, {condition(0, n)}, 1};
      if (out > last.gain) last = {out, 0.0, {condition(n, order.size())}, 1};
    }
  }
  for (Candidate* candidate : {&first, &last}) {
    if (candidate->gain > 0.0) found.push_back(std::move(*candidate));
  }
}

// All columns' best ways to make a term longer; `need` is that of the result less
// what a new part adds.
std::vector<Candidate> Grower::scan_columns(const std::vector<int>& rows, const Sums& fixed,
                                            bool windows, const Candidate& from, int need) {
  const int columns = network_.table().n_columns;
  std::vector<std::vector<Candidate>> found(at(columns));
  const bool rising =
      std::any_of(from.conditions.begin(), from.conditions.end(),
                  [&](const Condition& c) { return network_.table().monotone[c.source] != 0; });
  const std::vector<double> packed = pack(rows);
  team_.run(columns,
            [&](int c, int) { scan(c, rows, packed, fixed, windows, rising, found[at(c)]); });
  std::vector<Candidate> out;
  for (auto& part : found) {
    for (Candidate& candidate : part) {
      candidate.need = need >= 0 ? need : candidate.need;
      candidate.conditions.insert(candidate.conditions.begin(), from.conditions.begin(),
                                  from.conditions.end());
      const double n = static_cast<double>(candidate.conditions.size());
      candidate.score = candidate.gain / (1.0 + settings_.length_price * (n - 1.0));
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

// A term with one condition more: one more must hold, or as many as before.
std::vector<Candidate> Grower::extend(const Candidate& from) {
  const RankTable& table = network_.table();
  std::vector<int> counts(at(table.n_rows), 0);
  for (const Condition& condition : from.conditions) {
    const Rank* x = table.column(condition.source);
    for (int row = 0; row < table.n_rows; ++row) counts[at(row)] += condition.holds(x[row]);
  }
  std::vector<Candidate> out;
  for (const int need : {from.need + 1, from.need}) {
    if (need == from.need && !settings_.counts) continue;
    // On already: enough hold. Undecided: the new condition decides.
    std::vector<int> on, undecided;
    for (int row = 0; row < table.n_rows; ++row) {
      if (counts[at(row)] >= need) on.push_back(row);
      if (counts[at(row)] == need - 1) undecided.push_back(row);
    }
    const Sums fixed = total(on);
    for (Candidate& candidate : scan_columns(undecided, fixed, false, from, need)) {
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

std::vector<Candidate> Grower::find_by_length() {
  measure();
  const Sums none = {std::vector<double>(all_.slope.size(), 0.0),
                     std::vector<double>(all_.slope.size(), 0.0), 0.0};
  const bool windows = settings_.windows && settings_.max_conditions > 1;
  std::vector<Candidate> beam = scan_columns(network_.all_rows(), none, windows, Candidate{}, -1);
  std::vector<Candidate> best(at(settings_.max_conditions));
  while (!beam.empty()) {
    std::stable_sort(beam.begin(), beam.end(), better);
    for (const Candidate& candidate : beam) {
      Candidate& longest = best[candidate.conditions.size() - 1];
      if (candidate.score > longest.score) longest = candidate;
    }
    std::vector<Candidate> longer;
    const std::size_t width = std::min(beam.size(), at(settings_.beam));
    for (std::size_t i = 0; i < width; ++i) {
      if (static_cast<int>(beam[i].conditions.size()) >= settings_.max_conditions) continue;
      for (Candidate& candidate : extend(beam[i])) longer.push_back(std::move(candidate));
    }
    beam = std::move(longer);
  }
  return best;
}

Candidate Grower::find_best() {
  Candidate best;
  for (Candidate& candidate : find_by_length()) {
    if (candidate.score > best.score) best = std::move(candidate);
  }
  return best;
}

bool Grower::grow() {
  if (static_cast<int>(network_.shape().terms.size()) >= settings_.max_terms) return false;
  const Candidate best = find_best();
  if (!(best.gain > 1e-9)) return false;
  network_.add_term(best.conditions, best.need);
  network_.refit(settings_.sweeps, settings_.ridge);
  if (settings_.polish_every > 0 && ++since_polish_ >= settings_.polish_every) {
    since_polish_ = 0;
    const PolishSettings polish = {true, settings_.ridge};
    network_.polish(polish, team_);
    network_.refit(settings_.sweeps, settings_.ridge);
  }
  return true;
}

// Tries terms of each length on the network as it stands.
void Grower::queue_longer() {
  if (static_cast<int>(network_.shape().terms.size()) >= settings_.max_terms) return;
  const std::vector<Candidate> found = find_by_length();
  longer_.resize(std::max(longer_.size(), found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!(found[i].gain > 1e-9)) continue;
    CrispNetwork next = network_;
    next.add_term(found[i].conditions, found[i].need);
    next.refit(settings_.sweeps, settings_.ridge);
    std::optional<CrispNetwork>& best = longer_[i];
    if (!best || next.objective(settings_.ridge) < best->objective(settings_.ridge)) {
      best = std::move(next);
    }
  }
}

bool Grower::grow_size() {
  queue_longer();
  std::optional<CrispNetwork> next;
  while (!next && !longer_.empty()) {
    next = std::move(longer_.front());
    longer_.pop_front();
    ++size_;
  }
  if (!next) return false;
  network_ = std::move(*next);
  const PolishSettings polish = {true, settings_.ridge};
  network_.polish(polish, team_);
  network_.refit(settings_.sweeps, settings_.ridge);
  if (settings_.exchange_every > 0 && size_ % settings_.exchange_every == 0) exchange_all();
  return true;
}

// Takes each term out once, the oldest first, and puts what is best without it in its place.
void Grower::exchange_all() {
  const int n = static_cast<int>(network_.shape().terms.size());
  int first = 0;  // a new term is the last one
  for (int i = 0; i < n; ++i) first += !exchange(first);
}

bool Grower::exchange(int term) {
  const CrispNetwork before = network_;
  const int longest = settings_.max_conditions;
  settings_.max_conditions = std::min(longest, network_.count_conditions(term));
  network_.drop_term(term);
  network_.refit(settings_.sweeps, settings_.ridge);
  const Candidate best = find_best();
  settings_.max_conditions = longest;
  if (best.gain > 1e-9) {
    network_.add_term(best.conditions, best.need);
    network_.refit(settings_.sweeps, settings_.ridge);
    const double was = before.objective(settings_.ridge);
    if (network_.objective(settings_.ridge) < was * (1.0 - kLeastChange)) return true;
  }
  network_ = before;
  return false;
}

void Grower::settle() {
  const PolishSettings polish = {true, settings_.ridge};
  for (int round = 0; round < 3; ++round) {
    const int changed = network_.polish(polish, team_);
    network_.refit(10, settings_.ridge);
    if (changed == 0) break;
  }
  network_.refit(40, settings_.ridge);
}

}  // namespace newron
