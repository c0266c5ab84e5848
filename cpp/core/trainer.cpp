#include "trainer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "denormals.h"

namespace newron {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of one block: enough that the work of a neuron outweighs starting it, and
// few enough that the kept values stay in cache. Measured on 100-64-32-1: 16 rows
// 1170 us a step, 32 rows 920, 64 rows 835, 112 rows 905.
constexpr std::size_t kCacheFloats = 600000;
constexpr int kLeastRows = 64;
constexpr int kLargestBlock = 256;
// A part of a batch is worth a thread from about this many functions on.
constexpr double kPartWork = 65536.0;
constexpr int kMostParts = 16;
constexpr int kEvaluationRows = 2048;

int block_rows(const NetworkView& net) {
  const std::size_t per_row = net.n_kept + 2 * static_cast<std::size_t>(net.n_signals);
  const std::size_t rows = kCacheFloats / (per_row + 1) / kLanes * kLanes;
  return static_cast<int>(std::clamp<std::size_t>(rows, kLeastRows, kLargestBlock));
}

// How a batch is cut: by its size and the network's alone, never by the number
// of threads, so that sums are the same for any number of them.
struct Cut {
  int rows;
  int parts;
};

Cut cut_batch(const NetworkView& net, int batch) {
  const double work = static_cast<double>(net.n_kept + 1) * batch;
  const int wanted = static_cast<int>(std::clamp(work / kPartWork, 1.0, double{kMostParts}));
  const int rows = std::max(kLeastRows, pad_rows((batch + wanted - 1) / wanted));
  return {rows, (batch + rows - 1) / rows};
}

Outcome add(Outcome a, Outcome b) { return {a.loss + b.loss, a.wrong + b.wrong}; }

std::vector<int> count_up(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int count_evaluation_parts(const Table& table) {
  return (table.n_rows + kEvaluationRows - 1) / kEvaluationRows;
}

// The most parts that one run is ever cut into.
int count_parts(const Problem& problem) {
  const int batch = std::min(problem.settings.batch_size, problem.train.n_rows);
  return std::max({cut_batch(problem.net, batch).parts, count_evaluation_parts(problem.train),
                   count_evaluation_parts(problem.validation)});
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace

// ---- Network ----

Network::Network(int n_channels, std::vector<Place> places, std::vector<LayerShape> shapes)
    : places_(std::move(places)), shapes_(std::move(shapes)) {
  view_ = {};
  view_.n_channels = n_channels;
  view_.n_places = static_cast<int>(places_.size());
  int signal = n_channels + view_.n_places;
  std::size_t offset = 0;
  for (const LayerShape& shape : shapes_) {
    const int n_edges = static_cast<int>(shape.source.size());
    const std::size_t n_factors = static_cast<std::size_t>(n_edges) * shape.factors;
    LayerView layer = {};
    layer.processing = shape.processing;
    layer.aggregation = shape.aggregation;
    layer.activation = shape.activation;
    layer.weighted = shape.weighted;
    layer.centred = shape.centred;
    layer.factors = shape.factors;
    layer.n_edges = n_edges;
    layer.n_neurons = shape.n_neurons;
    layer.source = shape.source.data();
    layer.begin = shape.begin.data();
    layer.first_signal = signal;
    layer.w = offset;
    layer.b = layer.w + n_factors;
    layer.alpha = layer.b + n_factors;
    layer.centre = layer.alpha + (shape.weighted ? n_edges : 0);
    layer.parameters = layer.centre + (shape.centred ? shape.n_neurons : 0);
    offset = layer.parameters;
    layer.code = shape.code.view();
    layer.kept_per_edge = count_kept(shape.processing, shape.factors);
    if (layer.code.lines != nullptr) {
      offset += static_cast<std::size_t>(n_edges) * (layer.code.n_inputs - shape.factors);
      layer.kept_per_edge = layer.code.n_outputs;
      layer.constants = view_.n_constants;
      view_.n_constants += static_cast<std::size_t>(layer.code.n_constants);
      view_.n_registers = std::max(view_.n_registers, layer.code.n_registers);
    }
    layer.kept = view_.n_kept;
    view_.n_kept += static_cast<std::size_t>(n_edges) * layer.kept_per_edge;
    layer.transform = add_curve(shape.transform, 0);
    layer.finish = add_curve(shape.finish, shape.n_neurons);
    layer.activate = add_curve(shape.activate, shape.n_neurons);
    signal += shape.n_neurons;
    for (int j = 0; j < shape.n_neurons; ++j) {
      const auto at = static_cast<std::size_t>(j);
      view_.widest = std::max(view_.widest, shape.begin[at + 1] - shape.begin[at]);
    }
    layers_.push_back(layer);
  }
  view_.n_signals = signal;
  view_.n_layers = static_cast<int>(layers_.size());
  view_.n_outputs = shapes_.back().n_neurons;
  for (Place& place : places_) {
    place.places = offset;
    offset += static_cast<std::size_t>(place.n_points);
  }
  view_.n_params = offset;
  view_.layers = layers_.data();
  view_.places = places_.data();
}

// Room for a formula of one number, whose slope is kept so many times.
Curve Network::add_curve(const Code& code, int kept) {
  const Curve curve = {code.view(), view_.n_constants, view_.n_kept};
  if (!curve.exists()) return curve;
  view_.n_constants += static_cast<std::size_t>(curve.code.n_constants);
  view_.n_kept += static_cast<std::size_t>(kept);
  view_.n_registers = std::max(view_.n_registers, curve.code.n_registers);
  return curve;
}

// ---- Workspace ----

Workspace::Workspace(const NetworkView& net, const Objective& loss) {
  room_.rows = block_rows(net);
  room_.stride = room_.rows + 16;
  const std::size_t rows = static_cast<std::size_t>(room_.stride);
  const std::size_t signals = static_cast<std::size_t>(net.n_signals);
  const std::size_t widest = static_cast<std::size_t>(net.widest);
  const std::size_t counts[] = {
      signals,
      signals,
      net.n_kept + 1,
      widest + 1,
      widest + 3,
      widest + 1,
      static_cast<std::size_t>(loss.n_targets(net.n_outputs)),
      1,
      static_cast<std::size_t>(std::max(net.n_registers * kGroup, loss.n_registers())),
      net.n_constants};
  std::size_t total = kLanes;
  for (const std::size_t count : counts) total += count * rows;
  memory_.assign(total, 0.0f);
  // Align to a cache line: rows is a multiple of 16 floats, so all parts follow.
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  float* next = memory_.data() + ((64 - address % 64) % 64) / sizeof(float);
  float** places[] = {&room_.signals,   &room_.gradients, &room_.kept,    &room_.parts,
                      &room_.scratch,   &room_.slopes,    &room_.targets, &room_.weights,
                      &room_.registers, &room_.constants};
  for (std::size_t i = 0; i < 10; ++i) {
    *places[i] = next;
    next += counts[i] * rows;
  }
  for (int l = 0; l < net.n_layers; ++l) {
    const LayerView& layer = net.layers[l];
    hold_constants(layer.code, layer.constants);
    for (const Curve& curve : {layer.transform, layer.finish, layer.activate}) {
      hold_constants(curve.code, curve.constants);
    }
  }
}

void Workspace::hold_constants(const CodeView& code, std::size_t first) {
  const std::size_t rows = static_cast<std::size_t>(room_.stride);
  float* at = room_.constants + first * rows;
  for (int k = 0; k < code.n_constants; ++k, at += rows) {
    std::fill(at, at + rows, static_cast<float>(code.constants[k]));
  }
}

// ---- passes over many rows ----

namespace {

// Visits rows order[begin..end), or begin..end without an order, block by block.
template <class Visit>
void for_blocks(const NetworkView& net, const Table& table, const int* order, int begin, int end,
                Room& room, Visit visit) {
  for (int at = begin; at < end; at += room.rows) {
    const int n = std::min(room.rows, end - at);
    choose_passes().load(net, table, order, at, n, room);
    visit(pad_rows(n), n);
  }
}

Outcome pass_forward(const NetworkView& net, const Objective& loss, const Table& table, int begin,
                     int end, const float* params, float blend, Room& room) {
  const FlushDenormals flush;
  Outcome sum = {0.0, 0};
  for_blocks(net, table, nullptr, begin, end, room, [&](int rows, int n) {
    choose_passes().forward(net, params, rows, blend, room);
    sum = add(sum, choose_passes().loss(net, loss, rows, n, 0.0f, false, room));
  });
  return sum;
}

Outcome pass_both(const NetworkView& net, const Objective& loss, const Table& table,
                  const int* order, int begin, int end, const float* params, float blend,
                  float scale, Room& room, std::vector<float>& gradient) {
  const FlushDenormals flush;
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  Outcome sum = {0.0, 0};
  for_blocks(net, table, order, begin, end, room, [&](int rows, int n) {
    choose_passes().forward(net, params, rows, blend, room);
    sum = add(sum, choose_passes().loss(net, loss, rows, n, scale, true, room));
    choose_passes().backward(net, params, rows, blend, room, gradient.data());
  });
  return sum;
}

Evaluation evaluate_with(const NetworkView& net, const Objective& loss, const Table& table,
                         const float* params, float blend, Team& team,
                         std::vector<std::unique_ptr<Workspace>>& workspaces) {
  const int parts = count_evaluation_parts(table);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(parts));
  team.run(parts, [&](int part, int worker) {
    const int begin = part * kEvaluationRows;
    const int end = std::min(begin + kEvaluationRows, table.n_rows);
    Room& room = workspaces[static_cast<std::size_t>(worker)]->room();
    outcomes[static_cast<std::size_t>(part)] =
        pass_forward(net, loss, table, begin, end, params, blend, room);
  });
  const Outcome sum = std::accumulate(outcomes.begin(), outcomes.end(), Outcome{0.0, 0}, add);
  return {sum.loss / table.total_weight, sum.wrong};
}

std::vector<std::unique_ptr<Workspace>> make_workspaces(const NetworkView& net,
                                                        const Objective& loss, int n) {
  std::vector<std::unique_ptr<Workspace>> workspaces;
  for (int i = 0; i < n; ++i) workspaces.push_back(std::make_unique<Workspace>(net, loss));
  return workspaces;
}

}  // namespace

Evaluation evaluate(const NetworkView& net, const Objective& loss, const Table& table,
                    const float* params, float blend, Team& team) {
  auto workspaces = make_workspaces(net, loss, team.size());
  return evaluate_with(net, loss, table, params, blend, team, workspaces);
}

Evaluation differentiate(const NetworkView& net, const Objective& loss, const Table& table,
                         const float* params, float blend, std::vector<float>& gradient) {
  Workspace workspace(net, loss);
  gradient.assign(net.n_params, 0.0f);
  const double n = table.n_rows;
  const Outcome sum = pass_both(net, loss, table, nullptr, 0, table.n_rows, params, blend,
                                static_cast<float>(1.0 / n), workspace.room(), gradient);
  return {sum.loss / n, sum.wrong};
}

// ---- Run ----

Run::Run(const Problem& problem, std::vector<float> params, std::uint64_t seed)
    : problem_(problem),
      random_(seed),
      params_(std::move(params)),
      mean_(params_.size(), 0.0f),
      square_(params_.size(), 0.0f),
      best_params_(params_),
      best_(kInfinity),
      reference_(kInfinity) {}

void Run::resume(std::vector<float> mean, std::vector<float> square, std::int64_t steps) {
  mean_ = std::move(mean);
  square_ = std::move(square);
  steps_ = steps;
}

void Run::cancel() { finish(Status::cancelled); }

void Run::prepare(Team& team) {
  const Cut cut = cut_batch(problem_.net, problem_.settings.batch_size);
  gradients_.assign(static_cast<std::size_t>(cut.parts),
                    std::vector<float>(problem_.net.n_params, 0.0f));
  losses_.assign(static_cast<std::size_t>(cut.parts), 0.0);
  workspaces_ = make_workspaces(problem_.net, problem_.settings.loss, team.size());
  order_ = count_up(problem_.train.n_rows);  // last: it marks that all of this is there
  if (problem_.settings.measure_start && problem_.settings.monitor != Monitor::epoch) {
    measure(team);
    history_.clear();
  }
}

bool Run::advance(Clock::time_point until, Team& team) {
  if (status_ == Status::running && order_.empty()) prepare(team);
  while (status_ == Status::running) {
    if (epoch_ >= problem_.settings.max_epochs) {
      finish(Status::finished);
      break;
    }
    if (position_ == 0) random_.shuffle(order_.data(), problem_.train.n_rows);
    if (position_ < problem_.train.n_rows) {
      step(team);
      if (Clock::now() >= until) break;  // measuring a large table can wait, too
    }
    if (status_ == Status::running && position_ >= problem_.train.n_rows) end_epoch(team);
  }
  return status_ != Status::running;
}

double Run::progress() const {
  const Settings& s = problem_.settings;
  return (epoch_ + static_cast<double>(position_) / problem_.train.n_rows) / s.max_epochs;
}

float Run::rate_now() const {
  constexpr double kPi = 3.14159265358979323846, kWarm = 0.25, kFirst = 0.04, kLast = 0.01;
  const Settings& s = problem_.settings;
  const auto fall = [](double u) {
    return kLast + (1.0 - kLast) * 0.5 * (1.0 + std::cos(kPi * u));
  };
  const double u = progress();
  double factor = 1.0;
  if (s.schedule == Schedule::cosine) factor = fall(u);
  if (s.schedule == Schedule::one_cycle) {
    factor = u < kWarm ? kFirst + (1.0 - kFirst) * u / kWarm : fall((u - kWarm) / (1.0 - kWarm));
  }
  return static_cast<float>(s.rate * factor);
}

float Run::blend_now() const {
  const Settings& s = problem_.settings;
  if (s.blend_until <= 0.0f) return 1.0f;
  const double share = static_cast<double>(epoch_) / s.max_epochs / s.blend_until;
  return static_cast<float>(std::min(share, 1.0));
}

void Run::step(Team& team) {
  const FlushDenormals flush;
  const Settings& s = problem_.settings;
  const NetworkView& net = problem_.net;
  const int batch = std::min(s.batch_size, problem_.train.n_rows - position_);
  const Cut cut = cut_batch(net, s.batch_size);
  const int parts = (batch + cut.rows - 1) / cut.rows;
  const float scale = 1.0f / static_cast<float>(batch), blend = blend_now();
  const int* order = order_.data() + position_;
  team.run(parts, [&](int part, int worker) {
    const auto at = static_cast<std::size_t>(part);
    const int begin = part * cut.rows, end = std::min(begin + cut.rows, batch);
    Room& room = workspaces_[static_cast<std::size_t>(worker)]->room();
    losses_[at] = pass_both(net, s.loss, problem_.train, order, begin, end, params_.data(), blend,
                            scale, room, gradients_[at])
                      .loss;
  });
  std::vector<float>& gradient = gradients_[0];
  double sum = losses_[0];
  for (int part = 1; part < parts; ++part) {
    const auto at = static_cast<std::size_t>(part);
    sum += losses_[at];
    const float* other = gradients_[at].data();
    for (std::size_t i = 0; i < net.n_params; ++i) gradient[i] += other[i];
  }
  if (!std::isfinite(sum)) return finish(Status::diverged);
  epoch_loss_ += sum;
  const float rate = rate_now();
  ++steps_;
  const double t = static_cast<double>(steps_);
  const AdamStep adam = {rate, static_cast<float>(1.0 / (1.0 - std::pow(0.9, t))),
                         static_cast<float>(1.0 / (1.0 - std::pow(0.999, t)))};
  choose_passes().adam(params_.data(), mean_.data(), square_.data(), gradient.data(),
                       problem_.share, problem_.decay, problem_.sign, net.n_params, adam);
  position_ += batch;
}

double Run::measure(Team& team) {
  const Settings& s = problem_.settings;
  if (s.monitor == Monitor::epoch) {
    remember(epoch_loss_ / problem_.train.total_weight, -1);
  } else {
    const Table& table = s.monitor == Monitor::exact ? problem_.train : problem_.validation;
    const Evaluation now =
        evaluate_with(problem_.net, s.loss, table, params_.data(), 1.0f, team, workspaces_);
    remember(now.loss, now.wrong);
  }
  return history_.back();
}

void Run::remember(double loss, int wrong) {
  history_.push_back(loss);
  const Settings& s = problem_.settings;
  const bool perfect = s.stop_at_zero_error && wrong == 0;
  if (s.keep_best && !perfect && !(loss < best_)) return;
  best_ = loss;
  wrong_ = wrong;
  best_epoch_ = epoch_;
  if (all_finite(params_)) best_params_ = params_;
}

void Run::end_epoch(Team& team) {
  const Settings& s = problem_.settings;
  const double now = measure(team);
  position_ = 0;
  epoch_loss_ = 0.0;
  ++epoch_;
  if (!std::isfinite(now)) return finish(Status::diverged);
  if (now < reference_ - s.tolerance) {
    reference_ = now;
    waited_ = 0;
  } else if (++waited_ >= s.patience) {
    return finish(Status::stalled);
  }
  if (s.stop_at_zero_error && wrong_ == 0) finish(Status::finished);
}

void Run::finish(Status status) {
  if (status_ != Status::running) return;
  status_ = status;
  if (status == Status::diverged) params_ = best_params_;
  gradients_ = {};
  workspaces_.clear();
  order_ = {};
}

// ---- Trainer ----

Trainer::Trainer(Problem problem, std::vector<std::vector<float>> starts,
                 const std::vector<std::uint64_t>& seeds, int n_threads)
    : problem_(problem),
      n_threads_(n_threads),
      // Restarts share the threads; one fit alone has them all to itself.
      team_(starts.size() > 1 ? 1 : std::min(n_threads, count_parts(problem))) {
  problem_.settings.batch_size = std::min(problem.settings.batch_size, problem.train.n_rows);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    runs_.push_back(std::make_unique<Run>(problem_, std::move(starts[i]), seeds[i]));
  }
}

bool Trainer::advance(double seconds) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  if (runs_.size() == 1) {
    runs_[0]->advance(until, team_);
  } else {
    advance_apart(until);
  }
  cancel_after_perfect();
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const auto& run) { return run->status() != Status::running; });
}

void Trainer::advance_apart(Clock::time_point until) {
  std::atomic<int> first_perfect{n_runs()};
  Team apart(std::min(n_threads_, n_runs()));
  apart.run(n_runs(), [&](int index, int) {
    Run& mine = run(index);
    if (index > first_perfect.load() || Clock::now() >= until) return;
    Team alone(1);
    mine.advance(until, alone);
    if (!problem_.settings.stop_at_zero_error || mine.wrong() != 0) return;
    int known = first_perfect.load();
    while (index < known && !first_perfect.compare_exchange_weak(known, index)) {
    }
  });
}

// The first restart without an error wins, so those after it need not go on.
// Those before it must: one of them may yet be the first.
void Trainer::cancel_after_perfect() {
  if (!problem_.settings.stop_at_zero_error) return;
  bool found = false;
  for (auto& run : runs_) {
    if (found) run->cancel();
    found = found || (run->status() != Status::running && run->wrong() == 0);
  }
}

}  // namespace newron
