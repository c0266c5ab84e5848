#include "crisp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine_kernels.h"
#include "exact_machine.h"

namespace newron {

namespace {
constexpr int kPartRows = 4096;
// An improvement must be worth more than rounding.
constexpr double kLeastGain = 1e-9;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// ---- losses of one output ----

double clamp_log(double z) {
  return std::fmin(std::fmax(z, -static_cast<double>(kLargestLog)),
                   static_cast<double>(kLargestLog));
}

// Half the unit deviance with a log link.
RowLoss tweedie(double power, double y, double constant, double score) {
  const double z = clamp_log(score), rise = 2.0 - power, fall = 1.0 - power;
  const double up = std::exp(rise * z), down = y * std::exp(fall * z);
  const double first = rise == 0.0 ? z : up / rise;
  const double second = fall == 0.0 ? -y * z : -down / fall;
  return {first + second + constant, up - down, rise * up - fall * down};
}

RowLoss huber(double bend, double y, double z) {
  const double error = z - y, size = std::fabs(error);
  if (size <= bend) return {0.5 * error * error, error, 1.0};
  // The curvature of the parabola that touches here and lies above: steps never go too far.
  return {bend * (size - 0.5 * bend), std::copysign(bend, error), bend / size};
}

RowLoss quantile(double level, double width, double y, double z) {
  const double u = (y - z) / width;
  const double e = std::exp(-std::fabs(u)), tail = e / (1.0 + e);
  const double above = u < 0.0 ? tail : 1.0 - tail;
  const double soft = std::fmax(u, 0.0) + std::log1p(e);
  return {width * ((level - 1.0) * u + soft), 1.0 - level - above, above * (1.0 - above) / width};
}

// A loss of one's own, into registers; returns where its outputs are.
const double* run_formula(const CodeView& code, double y, double z, double* registers) {
  registers[0] = z;
  registers[1] = y;
  run_exact(code, 1, registers);
  return registers + code.first_output();
}

RowLoss own(const Code& code, double y, double z) {
  double registers[kMostRegisters];
  const double* out = run_formula(code.view(), y, z, registers);
  return {out[0], out[1], out[2]};
}

// The log loss of a label that is there (y = 1) or not (0).
RowLoss label(double y, double z) {
  const double p = 1.0 / (1.0 + std::exp(-z));
  const double value = std::fmax(z, 0.0) + std::log1p(std::exp(-std::fabs(z))) - y * z;
  return {value, p - y, p * (1.0 - p)};
}

// Two log losses: of the limit below the class, and of the one above it.
RowLoss ordinal(double below, double above, double constant, double z) {
  const double under = 1.0 / (1.0 + std::exp(z - below)), over = 1.0 / (1.0 + std::exp(above - z));
  const auto soft = [](double u) {
    return std::fmax(u, 0.0) + std::log1p(std::exp(-std::fabs(u)));
  };
  return {soft(below - z) + soft(z - above) + constant, over - under,
          under * (1.0 - under) + over * (1.0 - over)};
}

}  // namespace

// ---- losses of one row ----

RowLoss RankTable::output_loss(int row, int k, double z) const {
  const float* y = targets + at(row) * at(loss.n_targets(n_outputs)) + at(k);
  const double parameter = loss.parameter, factor = loss.factor;
  if (loss == Loss::squared) {
    const double error = z - *y;
    return {error * error, 2.0 * error, 2.0};
  }
  if (loss == Loss::ordinal) return ordinal(y[0], y[1], y[2], z);
  if (loss == Loss::labels) return label(*y, z);
  RowLoss out = loss == Loss::formula   ? own(loss.codes[at(k)], *y, z)
                : loss == Loss::tweedie ? tweedie(parameter, *y, y[n_outputs], z)
                : loss == Loss::huber   ? huber(parameter, *y, z)
                                        : quantile(loss.levels[k], parameter, *y, z);
  return {factor * out.value, factor * out.slope, factor * out.curve};
}

double RankTable::output_value(int row, int k, double z) const {
  if (loss != Loss::formula) return output_loss(row, k, z).value;
  const float y = targets[at(row) * at(n_outputs) + at(k)];
  double registers[kMostRegisters];
  return static_cast<double>(loss.factor) *
         *run_formula(loss.codes[at(k)].view_first(), y, z, registers);
}

double RankTable::row_loss(int row, const double* z) const {
  const double weight = weights[row];
  if (loss == Loss::binary) {
    const double tail = std::log1p(std::exp(-std::fabs(z[0])));
    return weight * (std::max(z[0], 0.0) + tail - targets[row] * z[0]);
  }
  if (loss.by_output()) {
    double sum = 0.0;
    for (int k = 0; k < n_outputs; ++k) sum += output_value(row, k, z[k]);
    return weight * sum / n_outputs;
  }
  const double top = *std::max_element(z, z + n_outputs);
  double sum = 0.0;
  for (int k = 0; k < n_outputs; ++k) sum += std::exp(z[k] - top);
  return weight * (std::log(sum) + top - z[static_cast<int>(targets[row])]);
}

void RankTable::row_slopes(int row, const double* z, double* slope, double* curve) const {
  const double weight = weights[row];
  if (loss == Loss::binary) {
    const double p = 1.0 / (1.0 + std::exp(-z[0]));
    slope[0] = weight * (p - targets[row]);
    curve[0] = weight * std::max(p * (1.0 - p), 1e-6);
    return;
  }
  if (loss.by_output()) {
    for (int k = 0; k < n_outputs; ++k) {
      const RowLoss here = output_loss(row, k, z[k]);
      slope[k] = weight * here.slope / n_outputs;
      curve[k] = weight * std::max(here.curve, 1e-6) / n_outputs;
    }
    return;
  }
  const double top = *std::max_element(z, z + n_outputs);
  double sum = 0.0;
  for (int k = 0; k < n_outputs; ++k) sum += std::exp(z[k] - top);
  const int label = static_cast<int>(targets[row]);
  for (int k = 0; k < n_outputs; ++k) {
    const double p = std::exp(z[k] - top) / sum;
    slope[k] = weight * (p - (k == label ? 1.0 : 0.0));
    curve[k] = weight * std::max(p * (1.0 - p), 1e-6);
  }
}

void RankTable::find_slopes(const std::vector<int>& rows, const double* z, double* slope,
                            double* curve) const {
  if (loss == Loss::binary) {
    choose_engine_kernels().binary_slopes(z, targets, weights, rows.data(),
                                          static_cast<int>(rows.size()), slope, curve);
    return;
  }
  if (loss == Loss::categorical) {
    choose_engine_kernels().class_slopes(z, targets, weights, rows.data(),
                                         static_cast<int>(rows.size()), n_outputs, slope, curve);
    return;
  }
  if (loss == Loss::squared && n_outputs == 1) {
    for (const int row : rows) {
      slope[row] = weights[row] * (2.0 * (z[row] - targets[row]));
      curve[row] = weights[row] * 2.0;
    }
    return;
  }
  const std::size_t k = at(n_outputs);
  for (const int row : rows) {
    row_slopes(row, z + at(row) * k, slope + at(row) * k, curve + at(row) * k);
  }
}

void RankTable::find_losses(const std::vector<int>& rows, const double* z, double* losses) const {
  const std::size_t n = rows.size(), k = at(n_outputs);
  const EngineKernels& kernels = choose_engine_kernels();
  if (loss == Loss::binary && n == at(n_rows)) {  // all of them, in order
    kernels.binary_losses(z, targets, weights, n_rows, losses);
  } else if (loss == Loss::binary) {
    std::vector<float> y(n);
    std::vector<double> weight(n);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = targets[rows[i]];
      weight[i] = weights[rows[i]];
    }
    kernels.binary_losses(z, y.data(), weight.data(), static_cast<int>(n), losses);
  } else if (loss == Loss::categorical) {
    std::vector<double> largest(n), sums(n);
    kernels.exp_sums(z, static_cast<int>(n), n_outputs, largest.data(), sums.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double own = z[i * k + at(static_cast<int>(targets[rows[i]]))];
      losses[i] = weights[rows[i]] * (std::log(sums[i]) + largest[i] - own);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) losses[i] = row_loss(rows[i], z + i * k);
  }
}

bool RankTable::constrained() const {
  return std::any_of(monotone, monotone + n_columns, [](int m) { return m != 0; });
}

Condition RankTable::make_condition(int c, int sign, int cut) const {
  return {c, sign, cut, n_ordered[c], std::vector<std::uint8_t>(at(n_free(c)), 0)};
}

bool RankTable::row_wrong(int row, const double* z) const {
  if (loss == Loss::ordinal) {
    const float* limits = targets + at(row) * 3;
    return z[0] < limits[0] || z[0] >= limits[1];
  }
  if (loss.by_output() && !loss.two_classes) return false;
  if (n_outputs == 1) return (z[0] >= 0.0) != (targets[row] >= 0.5f);
  return std::max_element(z, z + n_outputs) - z != static_cast<int>(targets[row]);
}

// ---- evaluating ----

CrispNetwork::CrispNetwork(const RankTable& table, CrispShape shape)
    : table_(table), shape_(std::move(shape)), all_rows_(at(table.n_rows)) {
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  index_readers();
  recount();
}

int CrispNetwork::n_values(int signal) const {
  if (signal < table_.n_columns) return table_.n_bins[signal];
  const int neuron = signal - table_.n_columns;
  return shape_.begin[at(neuron + 1)] - shape_.begin[at(neuron)] + 1;
}

void CrispNetwork::index_readers() {
  readers_.assign(at(table_.n_columns + n_neurons()), {});
  bound_.assign(readers_.size(), 0);
  for (int c = 0; c < table_.n_columns; ++c) bound_[at(c)] = table_.monotone[c] != 0;
  for (int j = 0; j < n_neurons(); ++j) {
    for (int e = shape_.begin[at(j)]; e < shape_.begin[at(j + 1)]; ++e) {
      const int source = shape_.conditions[at(e)].source;
      readers_[at(source)].push_back({j, e});
      if (is_bound(source)) bound_[at(table_.n_columns + j)] = 1;
    }
  }
  for (int t = 0; t < static_cast<int>(shape_.terms.size()); ++t) {
    readers_[at(shape_.terms[at(t)].source)].push_back({-1, t});
  }
}

void CrispNetwork::recount() {
  counts_.assign(at(n_neurons()), std::vector<Rank>(at(table_.n_rows), 0));
  scores_.assign(at(table_.n_rows) * at(table_.n_outputs), 0.0);
  for (int row = 0; row < table_.n_rows; ++row) evaluate_row(row);
}

void CrispNetwork::add_score(int term, double times, double* scores) const {
  const int only = shape_.only[at(term)];
  const double* weight = shape_.weight.data() + at(term) * at(table_.n_outputs);
  if (only >= 0) {
    scores[only] += times * weight[only];
  } else {
    for (int k = 0; k < table_.n_outputs; ++k) scores[k] += times * weight[k];
  }
}

void CrispNetwork::evaluate_row(int row) {
  for (int j = 0; j < n_neurons(); ++j) {
    int count = 0;
    for (int e = shape_.begin[at(j)]; e < shape_.begin[at(j + 1)]; ++e) {
      const Condition& condition = shape_.conditions[at(e)];
      count += condition.holds(value(condition.source, row));
    }
    counts_[at(j)][at(row)] = static_cast<Rank>(count);
  }
  double* z = scores_.data() + at(row) * at(table_.n_outputs);
  for (int k = 0; k < table_.n_outputs; ++k) {
    const double base =
        table_.base == nullptr ? 0.0 : table_.base[at(row) * at(table_.n_outputs) + at(k)];
    z[k] = base - shape_.centre[at(k)];
  }
  for (int t = 0; t < static_cast<int>(shape_.terms.size()); ++t) {
    const Condition& term = shape_.terms[at(t)];
    if (term.holds(value(term.source, row))) add_score(t, 1.0, z);
  }
}

double CrispNetwork::loss() const {
  std::vector<double> losses(at(table_.n_rows));
  table_.find_losses(all_rows_, scores_.data(), losses.data());
  return std::accumulate(losses.begin(), losses.end(), 0.0) / table_.total_weight;
}

int CrispNetwork::count_wrong() const {
  int wrong = 0;
  for (int row = 0; row < table_.n_rows; ++row) wrong += table_.row_wrong(row, scores(row));
  return wrong;
}

double CrispNetwork::objective(double ridge) const {
  double sum = 0.0;
  for (const double weight : shape_.weight) sum += weight * weight;
  return loss() * table_.total_weight + 0.5 * ridge * sum;
}

// ---- polish: every condition's threshold and direction by the exact loss ----

// The scores of a row if a neuron's count were another one; `changed` is scratch.
void CrispNetwork::scores_with(int row, Changed first, double* z,
                               std::vector<Changed>& changed) const {
  std::copy(scores(row), scores(row) + table_.n_outputs, z);
  changed.assign(1, first);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const int signal = table_.n_columns + changed[i].neuron;
    const int before = value(signal, row), after = changed[i].count;
    for (const Reader& reader : readers_[at(signal)]) {
      const Condition& condition =
          reader.neuron < 0 ? shape_.terms[at(reader.index)] : shape_.conditions[at(reader.index)];
      const int change = condition.holds(after) - condition.holds(before);
      if (change == 0) continue;
      if (reader.neuron < 0) {
        add_score(reader.index, change, z);
        continue;
      }
      auto known = std::find_if(changed.begin() + static_cast<std::ptrdiff_t>(i) + 1, changed.end(),
                                [&](const Changed& c) { return c.neuron == reader.neuron; });
      if (known == changed.end()) {
        changed.push_back({reader.neuron, value(table_.n_columns + reader.neuron, row)});
        known = changed.end() - 1;
      }
      known->count += change;
    }
    // A neuron is read only when all before it are settled.
    std::sort(changed.begin() + static_cast<std::ptrdiff_t>(i) + 1, changed.end(),
              [](const Changed& a, const Changed& b) { return a.neuron < b.neuron; });
  }
}

// The rows from begin to end whose scores change with a condition, and what they are on its other
// side: a row is on one of the two sides as the network stands.
void CrispNetwork::find_changes(int neuron, int index, int begin, int end, Differences& found,
                                std::vector<double>& changed) const {
  const Condition& condition = neuron < 0 ? shape_.terms[at(index)] : shape_.conditions[at(index)];
  const Rank* x = values(condition.source);
  const std::size_t k = at(table_.n_outputs);
  found.rows.reserve(at(end - begin));
  found.held.reserve(at(end - begin));
  changed.reserve(at(end - begin) * k);
  std::vector<double> other(k);
  std::vector<Changed> scratch;
  for (int row = begin; row < end; ++row) {
    const bool held = condition.holds(x[row]);
    const int change = held ? -1 : 1;
    if (neuron < 0) {
      std::copy(scores(row), scores(row) + k, other.begin());
      add_score(index, change, other.data());
    } else {
      const int count = counts_[at(neuron)][at(row)];
      scores_with(row, {neuron, count + change}, other.data(), scratch);
    }
    if (std::equal(other.begin(), other.end(), scores(row))) continue;
    found.rows.push_back(row);
    found.held.push_back(held);
    changed.insert(changed.end(), other.begin(), other.end());
  }
}

void CrispNetwork::find_differences(int neuron, int index, Differences& found, Team& team) const {
  const int parts = (table_.n_rows + kPartRows - 1) / kPartRows;
  std::vector<Differences> by_part(at(parts));
  team.run(parts, [&](int part, int) {
    Differences& mine = by_part[at(part)];
    std::vector<double> changed;
    const int begin = part * kPartRows;
    find_changes(neuron, index, begin, std::min(begin + kPartRows, table_.n_rows), mine, changed);
    mine.losses.resize(mine.rows.size());
    table_.find_losses(mine.rows, changed.data(), mine.losses.data());
    for (std::size_t i = 0; i < mine.rows.size(); ++i) {
      const double more = mine.losses[i] - losses_[at(mine.rows[i])];
      mine.losses[i] = mine.held[i] ? -more : more;
    }
  });
  if (parts == 1) {
    found = std::move(by_part[0]);
    return;
  }
  for (const Differences& part : by_part) {
    found.rows.insert(found.rows.end(), part.rows.begin(), part.rows.end());
    found.held.insert(found.held.end(), part.held.begin(), part.held.end());
    found.losses.insert(found.losses.end(), part.losses.begin(), part.losses.end());
  }
}

namespace {

struct Choice {
  double sum = std::numeric_limits<double>::infinity();
  Condition condition = {-1, 0, 0};
};

// The cut and sign of one signal whose rows have the least sum of differences; `sign`
// is the only one allowed, or 0. The values without order from `n_ordered` on are each
// on or off by themselves.
Choice choose_cut(int source, const Rank* values, int n_values, int n_ordered, int sign,
                  const std::vector<int>& rows, const std::vector<double>& differences) {
  std::vector<double> sums(at(n_values), 0.0);
  const std::size_t n = rows.size();
  if (n > 0 && at(rows.back()) + 1 == n) {  // all rows
    for (std::size_t i = 0; i < n; ++i) sums[values[i]] += differences[i];
  } else {
    for (std::size_t i = 0; i < n; ++i) sums[values[rows[i]]] += differences[i];
  }
  double total = 0.0;
  for (int v = 0; v < n_ordered; ++v) total += sums[at(v)];
  Choice best;
  double below = 0.0;
  for (int cut = 0; cut <= n_ordered; ++cut) {
    if (sign >= 0 && total - below < best.sum) best = {total - below, {source, 1, cut}};
    if (sign <= 0 && below < best.sum) best = {below, {source, -1, cut}};
    if (cut < n_ordered) below += sums[at(cut)];
  }
  if (n_ordered == n_values) return best;
  best.condition.ordered = n_ordered;
  for (int v = n_ordered; v < n_values; ++v) {
    best.condition.free.push_back(sums[at(v)] < 0.0);
    best.sum += std::min(sums[at(v)], 0.0);
  }
  return best;
}

}  // namespace

bool CrispNetwork::improve(int neuron, int index, const PolishSettings& settings, Team& team) {
  Differences found;
  find_differences(neuron, index, found, team);
  Condition& condition = neuron < 0 ? shape_.terms[at(index)] : shape_.conditions[at(index)];
  double now = 0.0, size = 0.0;
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    if (found.held[i]) now += found.losses[i];
    size += std::fabs(found.losses[i]);
  }
  const bool on_column = condition.source < table_.n_columns;
  Choice best;
  if (on_column && settings.other_columns && !table_.constrained()) {
    std::vector<Choice> choices(at(table_.n_columns));
    team.run(table_.n_columns, [&](int c, int) {
      choices[at(c)] = choose_cut(c, table_.column(c), table_.n_bins[c], table_.n_ordered[c], 0,
                                  found.rows, found.losses);
    });
    for (const Choice& choice : choices) {
      if (choice.sum < best.sum - kLeastGain * size) best = choice;
    }
  } else {
    const int source = condition.source, n = n_values(source);
    const int sign = on_column ? table_.monotone[source] : is_bound(source);
    best = choose_cut(source, values(source), n, on_column ? table_.n_ordered[source] : n, sign,
                      found.rows, found.losses);
  }
  if (!(best.sum < now - kLeastGain * (size + 1.0))) return false;
  const Condition before = condition;
  condition = best.condition;
  std::vector<int> moved;
  std::vector<double> now_scores, now_losses;
  const Rank *x_before = values(before.source), *x = values(condition.source);
  for (int row = 0; row < table_.n_rows; ++row) {
    if (before.holds(x_before[row]) == condition.holds(x[row])) continue;
    evaluate_row(row);
    moved.push_back(row);
    now_scores.insert(now_scores.end(), scores(row), scores(row) + table_.n_outputs);
  }
  now_losses.resize(moved.size());
  table_.find_losses(moved, now_scores.data(), now_losses.data());
  for (std::size_t i = 0; i < moved.size(); ++i) losses_[at(moved[i])] = now_losses[i];
  if (before.source != condition.source) index_readers();
  return true;
}

int CrispNetwork::count_parts() const {
  return std::max(table_.n_columns, (table_.n_rows + kPartRows - 1) / kPartRows);
}

int CrispNetwork::polish(const PolishSettings& settings, Team& team) {
  losses_.resize(at(table_.n_rows));
  table_.find_losses(all_rows_, scores_.data(), losses_.data());
  int changed = 0;
  for (int j = 0; j < n_neurons(); ++j) {
    for (int e = shape_.begin[at(j)]; e < shape_.begin[at(j + 1)]; ++e) {
      changed += improve(j, e, settings, team);
    }
  }
  for (int t = 0; t < static_cast<int>(shape_.terms.size()); ++t) {
    changed += improve(-1, t, settings, team);
  }
  return changed;
}

// ---- refit: weights and centres by Newton steps ----

void CrispNetwork::step_weight(int term, int output, double ridge, double share) {
  const std::size_t k = at(table_.n_outputs);
  double& weight = shape_.weight[at(term) * k + at(output)];
  double slope = ridge * weight, curve = ridge;
  for (const int row : active_[at(term)]) {
    slope += slope_[at(row) * k + at(output)];
    curve += curve_[at(row) * k + at(output)];
  }
  if (!(curve > 0.0)) return;
  double step = share * std::clamp(-slope / curve, -2.0, 2.0);
  if (is_bound(shape_.terms[at(term)].source)) step = std::max(step, -weight);
  weight += step;
  for (const int row : active_[at(term)]) scores_[at(row) * k + at(output)] += step;
}

void CrispNetwork::step_centre(int output, double share) {
  const std::size_t k = at(table_.n_outputs);
  double slope = 0.0, curve = 1e-9;
  for (int row = 0; row < table_.n_rows; ++row) {
    slope += slope_[at(row) * k + at(output)];
    curve += curve_[at(row) * k + at(output)];
  }
  const double step = share * std::clamp(-slope / curve, -2.0, 2.0);
  shape_.centre[at(output)] -= step;
  for (int row = 0; row < table_.n_rows; ++row) scores_[at(row) * k + at(output)] += step;
}

void CrispNetwork::sweep_weights(double ridge, double share) {
  for (int k = 0; k < table_.n_outputs; ++k) step_centre(k, share);
  table_.find_slopes(all_rows_, scores_.data(), slope_.data(), curve_.data());
  for (int t = 0; t < static_cast<int>(shape_.terms.size()); ++t) {
    const int only = shape_.only[at(t)];
    const int first = only < 0 ? 0 : only, end = only < 0 ? table_.n_outputs : only + 1;
    for (int k = first; k < end; ++k) step_weight(t, k, ridge, share);
    table_.find_slopes(active_[at(t)], scores_.data(), slope_.data(), curve_.data());
  }
}

void CrispNetwork::refit(int sweeps, double ridge) {
  const int n_terms = static_cast<int>(shape_.terms.size());
  active_.assign(at(n_terms), {});
  for (int t = 0; t < n_terms; ++t) {
    const Condition& term = shape_.terms[at(t)];
    const Rank* x = values(term.source);
    std::vector<int>& active = active_[at(t)];
    active.resize(at(table_.n_rows));
    std::size_t n = 0;
    for (int row = 0; row < table_.n_rows; ++row) {
      active[n] = row;
      n += term.holds(x[row]);
    }
    active.resize(n);
  }
  slope_.assign(scores_.size(), 0.0);
  curve_.assign(scores_.size(), 0.0);
  double before = objective(ridge);
  // Newton steps can overshoot: then the sweep is taken back and tried with less.
  for (double share = 1.0; sweeps > 0 && share > 0.1; --sweeps) {
    const std::vector<double> weight = shape_.weight, centre = shape_.centre, scores = scores_;
    table_.find_slopes(all_rows_, scores_.data(), slope_.data(), curve_.data());
    sweep_weights(ridge, share);
    const double now = objective(ridge);
    if (now <= before) {
      before = now;
      continue;
    }
    shape_.weight = weight;
    shape_.centre = centre;
    scores_ = scores;
    share *= 0.5;
  }
  active_.clear();
  slope_.clear();
  curve_.clear();
}

// ---- growing ----

void CrispNetwork::add_term(const std::vector<Condition>& conditions, int need) {
  Condition term = conditions[0];
  if (conditions.size() > 1) {
    shape_.conditions.insert(shape_.conditions.end(), conditions.begin(), conditions.end());
    shape_.begin.push_back(static_cast<int>(shape_.conditions.size()));
    term = {table_.n_columns + n_neurons() - 1, 1, need};
  }
  shape_.terms.push_back(term);
  shape_.only.push_back(-1);
  shape_.weight.insert(shape_.weight.end(), at(table_.n_outputs), 0.0);
  index_readers();
  if (conditions.size() == 1) return;
  std::vector<Rank> counts(at(table_.n_rows), 0);
  for (const Condition& condition : conditions) {
    const Rank* x = table_.column(condition.source);
    for (int row = 0; row < table_.n_rows; ++row) {
      counts[at(row)] = static_cast<Rank>(counts[at(row)] + condition.holds(x[row]));
    }
  }
  counts_.push_back(std::move(counts));
}

// Keeps the first terms and the neurons that they read; for grown networks, whose
// neurons come in the order of their terms.
void CrispNetwork::keep_terms(int n) {
  int neurons = 0;
  for (int t = 0; t < n; ++t) neurons += shape_.terms[at(t)].source >= table_.n_columns;
  shape_.terms.resize(at(n));
  shape_.only.resize(at(n));
  shape_.weight.resize(at(n) * at(table_.n_outputs));
  shape_.begin.resize(at(neurons + 1));
  shape_.conditions.resize(at(shape_.begin.back()));
  index_readers();
  recount();
}

void CrispNetwork::drop_term(int term) {
  const int source = shape_.terms[at(term)].source, k = table_.n_outputs;
  shape_.terms.erase(shape_.terms.begin() + term);
  shape_.only.erase(shape_.only.begin() + term);
  shape_.weight.erase(shape_.weight.begin() + term * k, shape_.weight.begin() + (term + 1) * k);
  if (source >= table_.n_columns) {
    const int neuron = source - table_.n_columns;
    const int begin = shape_.begin[at(neuron)], end = shape_.begin[at(neuron + 1)];
    shape_.conditions.erase(shape_.conditions.begin() + begin, shape_.conditions.begin() + end);
    shape_.begin.erase(shape_.begin.begin() + neuron);
    for (int j = neuron; j < static_cast<int>(shape_.begin.size()); ++j) {
      shape_.begin[at(j)] -= end - begin;
    }
    for (Condition& other : shape_.terms) other.source -= other.source > source;
  }
  index_readers();
  recount();
}

int CrispNetwork::count_conditions(int term) const {
  const int neuron = shape_.terms[at(term)].source - table_.n_columns;
  return neuron < 0 ? 1 : shape_.begin[at(neuron + 1)] - shape_.begin[at(neuron)];
}

}  // namespace newron
