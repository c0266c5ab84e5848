// Mini-batch Adam over a network: the whole epoch loop, restarts and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "formula.h"
#include "network.h"
#include "random.h"
#include "team.h"

namespace newron {

struct LayerShape {
  int processing;
  Aggregation aggregation;
  Activation activation;
  bool weighted;
  bool centred;
  int factors;
  int n_neurons;
  std::vector<int> source;
  std::vector<int> begin;
  Code code = {};  // of functions of one's own
  Code transform = {}, finish = {}, activate = {};
};

// Owns what a NetworkView points to. Parameters lie flat, layer by layer: w, b,
// then alpha, centre and further parameters where the layer has them; last the places of points.
class Network {
 public:
  Network(int n_channels, std::vector<Place> places, std::vector<LayerShape> shapes);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const NetworkView& view() const { return view_; }

 private:
  Curve add_curve(const Code& code, int kept);

  std::vector<Place> places_;
  std::vector<LayerShape> shapes_;
  std::vector<LayerView> layers_;
  NetworkView view_;
};

enum class Schedule { constant, cosine, one_cycle };
enum class Monitor { epoch, exact, validation };
enum class Status { running, finished, stalled, diverged, cancelled };

struct Settings {
  Objective loss = Loss::binary;
  Schedule schedule = Schedule::constant;
  Monitor monitor = Monitor::epoch;
  int batch_size = 128;
  int max_epochs = 100;
  int patience = 1 << 30;
  double tolerance = 0.0;
  float rate = 0.1f;
  float blend_until = 0.0f;  // share of the epochs over which sigmoid becomes Heaviside
  bool keep_best = true;
  bool measure_start = false;  // may the start itself be kept as the best?
  bool stop_at_zero_error = false;
};

// What a block pass needs besides the network; one for each thread.
class Workspace {
 public:
  Workspace(const NetworkView& net, const Objective& loss);
  Room& room() { return room_; }

 private:
  void hold_constants(const CodeView& code, std::size_t first);

  std::vector<float> memory_;
  Room room_;
};

using Clock = std::chrono::steady_clock;

struct Problem {
  const NetworkView& net;
  Settings settings;
  Table train;
  Table validation;  // n_rows 0: none
  const float* share;
  const float* decay;
  const float* sign;  // null: parameters have any sign
};

// One restart.
class Run {
 public:
  Run(const Problem& problem, std::vector<float> params, std::uint64_t seed);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Goes on until done or `until`; true when done.
  bool advance(Clock::time_point until, Team& team);
  void resume(std::vector<float> mean, std::vector<float> square, std::int64_t steps);
  void cancel();

  Status status() const { return status_; }
  int epoch() const { return epoch_; }
  int best_epoch() const { return best_epoch_; }
  double best() const { return best_; }
  int wrong() const { return wrong_; }
  const std::vector<double>& history() const { return history_; }
  const std::vector<float>& params() const {
    return problem_.settings.keep_best ? best_params_ : params_;
  }
  const std::vector<float>& mean() const { return mean_; }
  const std::vector<float>& square() const { return square_; }
  std::int64_t steps() const { return steps_; }

 private:
  void prepare(Team& team);
  void step(Team& team);
  void end_epoch(Team& team);
  double measure(Team& team);
  void remember(double loss, int wrong);
  void finish(Status status);
  float rate_now() const;
  float blend_now() const;
  double progress() const;

  const Problem& problem_;
  Random random_;
  std::vector<float> params_, mean_, square_, best_params_;
  std::vector<std::vector<float>> gradients_;  // one for each part of a batch
  std::vector<double> losses_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one for each thread
  std::vector<int> order_;
  std::vector<double> history_;
  Status status_ = Status::running;
  int position_ = 0, epoch_ = 0, best_epoch_ = 0, waited_ = 0, wrong_ = -1;
  std::int64_t steps_ = 0;
  double epoch_loss_ = 0.0, best_, reference_;
};

// All restarts of one fit.
class Trainer {
 public:
  Trainer(Problem problem, std::vector<std::vector<float>> starts,
          const std::vector<std::uint64_t>& seeds, int n_threads);

  // Works for about this long; true when every restart is done.
  bool advance(double seconds);
  Run& run(int index) { return *runs_[static_cast<std::size_t>(index)]; }
  int n_runs() const { return static_cast<int>(runs_.size()); }

 private:
  void cancel_after_perfect();
  void advance_apart(Clock::time_point until);

  Problem problem_;
  std::vector<std::unique_ptr<Run>> runs_;
  int n_threads_;
  Team team_;
};

struct Evaluation {
  double loss;  // weighted mean
  int wrong;
};

// The loss of a whole table, its parts in fixed order.
Evaluation evaluate(const NetworkView& net, const Objective& loss, const Table& table,
                    const float* params, float blend, Team& team);

// Loss and gradient of one batch that is the whole table.
Evaluation differentiate(const NetworkView& net, const Objective& loss, const Table& table,
                         const float* params, float blend, std::vector<float>& gradient);

}  // namespace newron
