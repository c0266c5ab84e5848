#include "evaluator.h"

#include <algorithm>
#include <cstddef>

namespace newron {

namespace {
constexpr int kBlock = 128;
}

Evaluator::Evaluator(std::vector<ChannelMap> channels, std::vector<ExactShape> shapes)
    : channels_(std::move(channels)),
      shapes_(std::move(shapes)),
      n_signals_(static_cast<int>(channels_.size())) {
  for (const ExactShape& shape : shapes_) {
    ExactLayer layer = {};
    layer.processing = shape.processing;
    layer.aggregation = shape.aggregation;
    layer.activation = shape.activation;
    layer.factors = shape.factors;
    layer.n_neurons = shape.n_neurons;
    layer.source = shape.source.data();
    layer.begin = shape.begin.data();
    layer.first_signal = n_signals_;
    layer.w = shape.w.data();
    layer.b = shape.b.data();
    layer.alpha = shape.alpha.empty() ? nullptr : shape.alpha.data();
    layer.centre = shape.centre.empty() ? nullptr : shape.centre.data();
    layer.n_inputs = static_cast<int>(channels_.size());
    layer.missing = shape.missing.data();
    layer.level_begin = shape.level_begin.data();
    layer.levels = shape.levels.data();
    layer.code = shape.code.view();
    layer.parameters = shape.parameters.data();
    layer.transform = shape.transform.view();
    layer.finish = shape.finish.view();
    layer.activate = shape.activate.view();
    for (const CodeView& code : {layer.code, layer.transform, layer.finish, layer.activate}) {
      n_registers_ = std::max(n_registers_, code.n_registers);
    }
    n_signals_ += shape.n_neurons;
    layers_.push_back(layer);
  }
}

void Evaluator::score(const double* x, long n_rows, int n_columns, double* scores,
                      int n_threads) const {
  const long blocks = (n_rows + kBlock - 1) / kBlock;
  const int workers = static_cast<int>(std::clamp<long>(n_threads, 1, std::max(blocks, 1L)));
  const auto room = [&](int rows) {
    return std::vector<double>(static_cast<std::size_t>(n_signals_ + 1 + n_registers_) * rows);
  };
  std::vector<std::vector<double>> rooms;
  for (int i = 0; i < workers; ++i)
    rooms.push_back(room(static_cast<int>(std::min<long>(n_rows, kBlock))));
  Team team(workers);
  team.run(static_cast<int>(blocks), [&](int block, int worker) {
    const long first = static_cast<long>(block) * kBlock;
    const int rows = static_cast<int>(std::min<long>(kBlock, n_rows - first));
    score_block(x + first * n_columns, rows, n_columns, scores + first * n_outputs(),
                rooms[static_cast<std::size_t>(worker)].data());
  });
}

void Evaluator::score_block(const double* x, int rows, int n_columns, double* scores,
                            double* room) const {
  double* scratch = room + static_cast<std::size_t>(n_signals_) * rows;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    read_channel(channels_[c], x, rows, n_columns, room + c * static_cast<std::size_t>(rows));
  }
  for (const ExactLayer& layer : layers_) choose_passes().exact(layer, rows, room, scratch);
  const int outputs = n_outputs();
  const double* z = room + static_cast<std::size_t>(n_signals_ - outputs) * rows;
  for (int k = 0; k < outputs; ++k) {
    for (int t = 0; t < rows; ++t) scores[t * outputs + k] = z[k * rows + t];
  }
}

void Evaluator::read_channel(const ChannelMap& channel, const double* x, int rows, int n_columns,
                             double* out) const {
  for (int t = 0; t < rows; ++t) {
    const double value = x[static_cast<std::size_t>(t) * n_columns + channel.column];
    if (channel.knots.empty()) {
      out[t] = value;
      continue;
    }
    const auto& knots = channel.knots;
    const auto segment = static_cast<std::size_t>(
        std::upper_bound(knots.begin(), knots.end(), value) - knots.begin());
    out[t] = channel.y[segment] + (value - channel.x[segment]) * channel.slope[segment];
  }
}

}  // namespace newron
