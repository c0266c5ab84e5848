// The only file that knows Python: check shapes and types, release the GIL, call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/grow.h"
#include "core/trainer.h"

namespace nb = nanobind;
using namespace nb::literals;

void bind_engine(nb::module_& m);  // engine_bindings.cpp

namespace {

template <class T, int D>
using In = nb::ndarray<const T, nb::numpy, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D>
using Out = nb::ndarray<T, nb::numpy, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

template <class T>
std::vector<T> to_vector(const In<T, 1>& array) {
  return std::vector<T>(array.data(), array.data() + array.shape(0));
}

template <class T>
Out<T, 1> to_array(const std::vector<T>& values) {
  T* data = new T[values.size()];
  std::copy(values.begin(), values.end(), data);
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, 1>(data, {values.size()}, owner);
}

void check_edges(const std::vector<int>& source, const std::vector<int>& begin, int n_neurons,
                 int processing, int factors, int first_signal) {
  require(0 <= processing && processing < newron::count_functions(), "unknown processing function");
  require(factors >= 1 && n_neurons >= 1, "factors and neurons must be positive");
  require(begin.size() == static_cast<std::size_t>(n_neurons) + 1 && begin.front() == 0 &&
              begin.back() == static_cast<int>(source.size()) &&
              std::is_sorted(begin.begin(), begin.end()),
          "begin does not divide the edges among the neurons");
  require(
      std::all_of(source.begin(), source.end(), [&](int s) { return 0 <= s && s < first_signal; }),
      "an edge reads a signal that is not there yet");
}

// The code of a formula, checked: no line reads or writes beside the registers.
newron::Code to_code(const In<int, 2>& lines, const In<double, 1>& constants, int n_inputs,
                     int n_outputs, int n_registers, double reach) {
  newron::Code code = {std::vector<int>(lines.data(), lines.data() + lines.size()),
                       to_vector(constants),
                       n_inputs,
                       n_outputs,
                       n_registers,
                       reach};
  require(lines.shape(1) == 5 || lines.shape(0) == 0, "a line is operation, result, three reads");
  const long first = static_cast<long>(n_inputs) + static_cast<long>(constants.shape(0));
  require(n_inputs >= 1 && n_outputs >= 1 && first + n_outputs <= n_registers &&
              n_registers <= newron::kMostRegisters,
          "wrong number of registers");
  for (std::size_t i = 0; i < lines.shape(0); ++i) {
    require(0 <= lines(i, 0) && lines(i, 0) < newron::kOperations, "unknown operation");
    require(first <= lines(i, 1) && lines(i, 1) < n_registers, "a line writes to no register");
    for (std::size_t k = 2; k < 5; ++k) {
      require(0 <= lines(i, k) && lines(i, k) < n_registers, "a line reads no register");
    }
  }
  return code;
}

// Where the formula of one number of this role is kept in a layer.
template <class Shape>
newron::Code& find_curve(std::vector<Shape>& shapes, const std::string& role) {
  require(!shapes.empty(), "a curve belongs to the last layer");
  Shape& shape = shapes.back();
  require(role == "transform" || role == "finish" || role == "activate", "unknown role");
  return role == "transform" ? shape.transform : role == "finish" ? shape.finish : shape.activate;
}

template <class Shape>
void check_curves(const Shape& shape) {
  require((shape.transform.n_outputs > 0) == (shape.finish.n_outputs > 0),
          "an aggregation needs both formulas");
}

void check_code(int processing, const newron::Code& code) {
  const bool formula = std::string(newron::function_name(processing)) == "formula";
  require(formula == (code.n_outputs > 0), "a formula needs code, and nothing else does");
}

class PyNetwork {
 public:
  explicit PyNetwork(int n_channels) : n_channels_(n_channels), n_signals_(n_channels) {
    require(n_channels >= 0, "negative number of channels");
  }

  void add_place(int channel, int n_points) {
    require(network_ == nullptr && shapes_.empty(), "places come before the layers");
    require(0 <= channel && channel < n_channels_ && n_points >= 1, "a place reads a channel");
    places_.push_back({channel, n_points, 0});
    ++n_signals_;
  }

  void add_layer(int processing, int aggregation, int activation, bool weighted, bool centred,
                 int factors, int n_neurons, In<int, 1> source, In<int, 1> begin) {
    require(network_ == nullptr, "the network is in use and cannot grow");
    newron::LayerShape shape = {processing,
                                static_cast<newron::Aggregation>(aggregation),
                                static_cast<newron::Activation>(activation),
                                weighted,
                                centred,
                                factors,
                                n_neurons,
                                to_vector(source),
                                to_vector(begin)};
    require(0 <= aggregation && aggregation <= 4, "unknown aggregation");
    require(0 <= activation && activation <= 3, "unknown activation");
    check_edges(shape.source, shape.begin, n_neurons, processing, factors, n_signals_);
    n_signals_ += n_neurons;
    shapes_.push_back(std::move(shape));
  }

  // Functions of one's own for the layer that was added last.
  void set_code(In<int, 2> lines, In<double, 1> constants, int n_inputs, int n_outputs,
                int n_registers, double reach) {
    require(network_ == nullptr && !shapes_.empty(), "code belongs to the last layer");
    newron::LayerShape& shape = shapes_.back();
    require(n_inputs >= shape.factors && n_outputs == 1 + n_inputs, "one slope for each input");
    shape.code = to_code(lines, constants, n_inputs, n_outputs, n_registers, reach);
  }

  // An activation or a part of an aggregation for the layer that was added last.
  void set_curve(const std::string& role, In<int, 2> lines, In<double, 1> constants,
                 int n_registers, double reach) {
    require(network_ == nullptr, "the network is in use and cannot grow");
    find_curve(shapes_, role) = to_code(lines, constants, 1, 2, n_registers, reach);
  }

  const newron::NetworkView& view() {
    require(!shapes_.empty(), "a network needs a layer");
    for (const newron::LayerShape& shape : shapes_) {
      check_code(shape.processing, shape.code);
      check_curves(shape);
    }
    if (network_ == nullptr) {
      network_ = std::make_unique<newron::Network>(n_channels_, places_, shapes_);
    }
    return network_->view();
  }

 private:
  int n_channels_, n_signals_;
  std::vector<newron::Place> places_;
  std::vector<newron::LayerShape> shapes_;
  std::unique_ptr<newron::Network> network_;
};

// Loss of one's own: value, slope and curvature for the score and the target of an output.
using LossCode = std::tuple<In<int, 2>, In<double, 1>, int>;

newron::Objective make_objective(newron::Loss loss, float parameter, float factor,
                                 const std::vector<float>& levels,
                                 const std::vector<LossCode>& codes, bool two_classes) {
  require(levels.size() <= newron::kMaxLevels, "more than 16 levels");
  newron::Objective out = loss;
  out.parameter = parameter;
  out.factor = factor;
  std::copy(levels.begin(), levels.end(), out.levels);
  for (const auto& [lines, constants, n_registers] : codes) {
    out.codes.push_back(to_code(lines, constants, 2, 3, n_registers, 0.0));
  }
  out.two_classes = two_classes;
  return out;
}

void check_levels(const newron::Objective& loss, int n_outputs) {
  const bool own = loss == newron::Loss::formula;
  require(!own || loss.codes.size() == static_cast<std::size_t>(n_outputs),
          "a loss of one's own needs a code for each output");
  require(loss != newron::Loss::quantile || n_outputs <= newron::kMaxLevels, "more than 16 levels");
}

// A table and the arrays that it points into.
struct PyTable {
  PyTable(In<float, 2> x, In<float, 2> targets, In<float, 1> weights)
      : x(x), targets(targets), weights(weights) {
    require(x.shape(0) == targets.shape(0) && x.shape(0) == weights.shape(0),
            "x, targets and weights differ in their number of rows");
    require(x.shape(0) < (std::size_t{1} << 31), "more than 2^31 rows");
    double total = 0.0;
    for (std::size_t i = 0; i < weights.shape(0); ++i) total += static_cast<double>(weights(i));
    view = {x.data(),
            targets.data(),
            weights.data(),
            total,
            static_cast<int>(x.shape(0)),
            static_cast<int>(targets.shape(1))};
  }

  void check(const newron::NetworkView& net, const newron::Objective& loss) const {
    require(view.n_rows > 0, "a table needs a row");
    require(x.shape(1) == static_cast<std::size_t>(net.n_channels), "wrong number of channels");
    require(view.n_targets == loss.n_targets(net.n_outputs), "wrong number of target columns");
    check_levels(loss, net.n_outputs);
    require(loss != newron::Loss::binary || net.n_outputs == 1, "binary loss needs one output");
    require(loss != newron::Loss::ordinal || net.n_outputs == 1, "ordinal loss needs one output");
    if (loss != newron::Loss::categorical) return;
    for (std::size_t i = 0; i < targets.shape(0); ++i) {
      const float label = targets(i, 0);
      require(label >= 0.0f && label < static_cast<float>(net.n_outputs), "class out of range");
    }
  }

  In<float, 2> x;
  In<float, 2> targets;
  In<float, 1> weights;
  newron::Table view;
};

class PyTrainer {
 public:
  PyTrainer(PyNetwork& network, const PyTable& train, const PyTable* validation,
            const newron::Settings& settings, In<float, 2> starts, In<std::uint64_t, 1> seeds,
            In<float, 1> share, In<float, 1> decay, std::optional<In<float, 1>> sign, int n_threads)
      : train_(train),
        share_(to_vector(share)),
        decay_(to_vector(decay)),
        sign_(sign ? to_vector(*sign) : std::vector<float>{}) {
    const newron::NetworkView& net = network.view();
    train_.check(net, settings.loss);
    require(settings.batch_size >= 1 && settings.max_epochs >= 0, "batch size or epochs too small");
    require(starts.shape(1) == net.n_params && share_.size() == net.n_params &&
                decay_.size() == net.n_params && (sign_.empty() || sign_.size() == net.n_params),
            "wrong number of parameters");
    require(starts.shape(0) >= 1 && seeds.shape(0) == starts.shape(0), "one seed for each start");
    newron::Problem problem = {net,
                               settings,
                               train_.view,
                               newron::Table{},
                               share_.data(),
                               decay_.data(),
                               sign_.empty() ? nullptr : sign_.data()};
    if (validation != nullptr) {
      validation->check(net, settings.loss);
      validation_ = std::make_unique<PyTable>(*validation);
      problem.validation = validation_->view;
    }
    require(settings.monitor != newron::Monitor::validation || validation != nullptr,
            "no validation table to monitor");
    std::vector<std::vector<float>> all;
    for (std::size_t i = 0; i < starts.shape(0); ++i) {
      const float* first = starts.data() + i * net.n_params;
      all.emplace_back(first, first + net.n_params);
    }
    trainer_ = std::make_unique<newron::Trainer>(problem, std::move(all), to_vector(seeds),
                                                 newron::limit_threads(n_threads));
  }

  bool advance(double seconds) {
    nb::gil_scoped_release released;
    return trainer_->advance(seconds);
  }

  newron::Run& run(int index) {
    require(0 <= index && index < trainer_->n_runs(), "no such run");
    return trainer_->run(index);
  }

  void resume(int index, In<float, 1> mean, In<float, 1> square, std::int64_t steps) {
    require(mean.shape(0) == share_.size() && square.shape(0) == share_.size(),
            "wrong number of parameters");
    run(index).resume(to_vector(mean), to_vector(square), steps);
  }

 private:
  PyTable train_;
  std::unique_ptr<PyTable> validation_;
  std::vector<float> share_, decay_, sign_;
  std::unique_ptr<newron::Trainer> trainer_;
};

class PyEvaluator {
 public:
  void add_channel(int column, In<double, 1> knots, In<double, 1> x, In<double, 1> y,
                   In<double, 1> slope) {
    const std::size_t segments = knots.shape(0) == 0 ? 0 : knots.shape(0) + 1;
    require(column >= 0, "negative column");
    require(x.shape(0) == segments && y.shape(0) == segments && slope.shape(0) == segments,
            "a map needs one more segment than knots");
    channels_.push_back({column, to_vector(knots), to_vector(x), to_vector(y), to_vector(slope)});
    n_columns_ = std::max(n_columns_, column + 1);
  }

  void add_layer(int processing, int aggregation, int activation, int factors, int n_neurons,
                 In<int, 1> source, In<int, 1> begin, In<double, 1> w, In<double, 1> b,
                 In<double, 1> alpha, In<double, 1> centre, In<double, 1> missing,
                 In<int, 1> level_begin, In<double, 1> levels) {
    newron::ExactShape shape = {processing,
                                static_cast<newron::Aggregation>(aggregation),
                                static_cast<newron::Activation>(activation),
                                factors,
                                n_neurons,
                                to_vector(source),
                                to_vector(begin),
                                to_vector(w),
                                to_vector(b),
                                to_vector(alpha),
                                to_vector(centre),
                                to_vector(missing),
                                to_vector(level_begin),
                                to_vector(levels)};
    int n_signals = static_cast<int>(channels_.size());
    for (const auto& before : shapes_) n_signals += before.n_neurons;
    check_edges(shape.source, shape.begin, n_neurons, processing, factors, n_signals);
    const std::size_t edges = shape.source.size(), n = edges * static_cast<std::size_t>(factors);
    require(shape.w.size() == n && shape.b.size() == n, "wrong number of parameters");
    require(shape.alpha.empty() || shape.alpha.size() == edges, "wrong number of alphas");
    require(shape.missing.size() == edges && shape.level_begin.size() == edges + 1 &&
                shape.level_begin.front() == 0 &&
                shape.level_begin.back() == static_cast<int>(shape.levels.size()) &&
                std::is_sorted(shape.level_begin.begin(), shape.level_begin.end()),
            "wrong number of values for gaps and categories");
    require(shape.centre.empty() || shape.centre.size() == static_cast<std::size_t>(n_neurons),
            "wrong number of centres");
    shapes_.push_back(std::move(shape));
  }

  void set_code(In<int, 2> lines, In<double, 1> constants, int n_inputs, int n_registers,
                double reach, In<double, 1> parameters) {
    require(!shapes_.empty(), "code belongs to the last layer");
    newron::ExactShape& shape = shapes_.back();
    require(n_inputs >= shape.factors, "an input for each factor");
    const auto more = static_cast<std::size_t>(n_inputs - shape.factors);
    require(parameters.shape(0) == more * shape.source.size(), "wrong number of parameters");
    shape.code = to_code(lines, constants, n_inputs, 1, n_registers, reach);
    shape.parameters = to_vector(parameters);
  }

  void set_curve(const std::string& role, In<int, 2> lines, In<double, 1> constants,
                 int n_registers, double reach) {
    find_curve(shapes_, role) = to_code(lines, constants, 1, 1, n_registers, reach);
  }

  void seal() {
    require(!shapes_.empty(), "a network needs a layer");
    for (const newron::ExactShape& shape : shapes_) {
      check_code(shape.processing, shape.code);
      check_curves(shape);
    }
    evaluator_ = std::make_unique<newron::Evaluator>(std::move(channels_), std::move(shapes_));
  }

  void score(In<double, 2> x, Out<double, 2> scores, int n_threads) const {
    require(evaluator_ != nullptr, "seal the evaluator first");
    require(x.shape(1) >= static_cast<std::size_t>(n_columns_), "too few columns");
    require(scores.shape(0) == x.shape(0) &&
                scores.shape(1) == static_cast<std::size_t>(evaluator_->n_outputs()),
            "scores has the wrong shape");
    const double* from = x.data();
    double* to = scores.data();
    const long rows = static_cast<long>(x.shape(0));
    const int columns = static_cast<int>(x.shape(1));
    nb::gil_scoped_release released;
    evaluator_->score(from, rows, columns, to, newron::limit_threads(n_threads));
  }

 private:
  std::vector<newron::ChannelMap> channels_;
  std::vector<newron::ExactShape> shapes_;
  std::unique_ptr<newron::Evaluator> evaluator_;
  int n_columns_ = 0;
};

// Rows as ranks, and the arrays that the table points into.
struct PyRankTable {
  PyRankTable(In<std::uint16_t, 2> ranks, In<int, 1> n_bins, In<int, 1> n_ordered,
              In<int, 1> monotone, In<float, 2> targets, In<double, 1> weights,
              const newron::Objective& loss, int n_outputs, std::optional<In<double, 2>> base)
      : ranks(ranks),
        n_bins(n_bins),
        n_ordered(n_ordered),
        monotone(monotone),
        targets(targets),
        weights(weights),
        base(base) {
    const std::size_t rows = ranks.shape(1);
    require(rows >= 1 && rows < (std::size_t{1} << 31), "a table needs 1 to 2^31 rows");
    require(n_bins.shape(0) == ranks.shape(0) && n_ordered.shape(0) == ranks.shape(0) &&
                monotone.shape(0) == ranks.shape(0),
            "one number of bins, and of ordered ones, and a direction for each column");
    for (std::size_t c = 0; c < ranks.shape(0); ++c) {
      require(0 <= n_ordered(c) && n_ordered(c) <= n_bins(c), "more ordered bins than bins");
      require(n_ordered(c) == 0 || n_bins(c) - n_ordered(c) <= 1,
              "a column of numbers has one bin without order at most");
    }
    require(targets.shape(0) == rows && weights.shape(0) == rows, "targets or weights too few");
    require(n_outputs >= 1, "a table needs an output");
    require(targets.shape(1) == at(loss.n_targets(n_outputs)), "wrong number of target columns");
    require(loss != newron::Loss::ordinal || n_outputs == 1, "ordinal loss needs one output");
    check_levels(loss, n_outputs);
    for (std::size_t c = 0; c < ranks.shape(0); ++c) {
      for (std::size_t i = 0; i < rows; ++i) {
        require(ranks(c, i) < n_bins(c), "a rank is beyond its column's bins");
      }
    }
    require(!base || (base->shape(0) == rows && base->shape(1) == at(n_outputs)),
            "one base score for each row and output");
    double total = 0.0;
    for (std::size_t i = 0; i < rows; ++i) {
      total += weights(i);
      const float label = targets(i, 0);
      require(loss != newron::Loss::categorical ||
                  (label >= 0.0f && label < static_cast<float>(n_outputs)),
              "class out of range");
    }
    view = {static_cast<int>(rows),
            static_cast<int>(ranks.shape(0)),
            n_outputs,
            loss,
            ranks.data(),
            n_bins.data(),
            n_ordered.data(),
            monotone.data(),
            targets.data(),
            weights.data(),
            total,
            base ? base->data() : nullptr};
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  In<std::uint16_t, 2> ranks;
  In<int, 1> n_bins, n_ordered, monotone;
  In<float, 2> targets;
  In<double, 1> weights;
  std::optional<In<double, 2>> base;
  newron::RankTable view;
};

// `free`: whether the conditions hold for values without order, one after the other.
std::vector<newron::Condition> to_conditions(const newron::RankTable& table,
                                             const In<int, 2>& array,
                                             const In<std::uint8_t, 1>& free) {
  require(array.shape(1) == 3, "a condition is source, sign, cut");
  std::vector<newron::Condition> out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < array.shape(0); ++i) {
    const int source = array(i, 0);
    require(source >= 0, "a condition reads what is not there yet");
    if (source >= table.n_columns) {
      out.push_back({source, array(i, 1), array(i, 2)});
      continue;
    }
    out.push_back(table.make_condition(source, array(i, 1), array(i, 2)));
    for (std::uint8_t& bit : out.back().free) {
      require(next < free.shape(0), "too few values without order");
      bit = free(next++);
    }
  }
  require(next == free.shape(0), "too many values without order");
  return out;
}

Out<std::uint8_t, 1> to_free(const std::vector<newron::Condition>& conditions) {
  std::vector<std::uint8_t> all;
  for (const newron::Condition& c : conditions) all.insert(all.end(), c.free.begin(), c.free.end());
  return to_array(all);
}

Out<int, 2> to_array(const std::vector<newron::Condition>& conditions) {
  int* data = new int[3 * conditions.size()];
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    data[3 * i] = conditions[i].source;
    data[3 * i + 1] = conditions[i].sign;
    data[3 * i + 2] = conditions[i].cut;
  }
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<int*>(p); });
  return Out<int, 2>(data, {conditions.size(), 3}, owner);
}

nb::tuple to_tuple(const newron::CrispShape& shape) {
  return nb::make_tuple(to_array(shape.begin), to_array(shape.conditions), to_array(shape.terms),
                        to_array(shape.only), to_array(shape.weight), to_array(shape.centre),
                        to_free(shape.conditions), to_free(shape.terms));
}

class PyCrisp {
 public:
  PyCrisp(const PyRankTable& table, In<int, 1> begin, In<int, 2> conditions, In<int, 2> terms,
          In<int, 1> only, In<double, 1> weight, In<double, 1> centre,
          In<std::uint8_t, 1> condition_free, In<std::uint8_t, 1> term_free)
      : table_(table) {
    newron::CrispShape shape = {to_vector(begin),
                                to_conditions(table_.view, conditions, condition_free),
                                to_conditions(table_.view, terms, term_free),
                                to_vector(only),
                                to_vector(weight),
                                to_vector(centre)};
    check(shape);
    network_ = std::make_unique<newron::CrispNetwork>(table_.view, std::move(shape));
  }

  int polish(bool other_columns, double ridge, int n_threads) {
    nb::gil_scoped_release released;
    newron::Team team(newron::limit_threads(n_threads, network_->count_parts()));
    return network_->polish({other_columns, ridge}, team);
  }

  void refit(int sweeps, double ridge) {
    nb::gil_scoped_release released;
    network_->refit(sweeps, ridge);
  }

  newron::CrispNetwork& network() { return *network_; }

 private:
  void check(const newron::CrispShape& shape) const {
    const int columns = table_.view.n_columns;
    const std::size_t outputs = static_cast<std::size_t>(table_.view.n_outputs);
    require(!shape.begin.empty() && shape.begin.front() == 0 &&
                shape.begin.back() == static_cast<int>(shape.conditions.size()) &&
                std::is_sorted(shape.begin.begin(), shape.begin.end()),
            "begin does not divide the conditions among the neurons");
    const int neurons = static_cast<int>(shape.begin.size()) - 1;
    for (int j = 0; j < neurons; ++j) {
      for (int e = shape.begin[PyRankTable::at(j)]; e < shape.begin[PyRankTable::at(j + 1)]; ++e) {
        const int source = shape.conditions[PyRankTable::at(e)].source;
        require(0 <= source && source < columns + j, "a condition reads what is not there yet");
      }
    }
    for (const newron::Condition& term : shape.terms) {
      require(0 <= term.source && term.source < columns + neurons, "a term reads nothing");
    }
    require(shape.only.size() == shape.terms.size() &&
                shape.weight.size() == shape.terms.size() * outputs &&
                shape.centre.size() == outputs,
            "wrong number of weights");
    for (const int only : shape.only) {
      require(-1 <= only && only < table_.view.n_outputs, "a term speaks to no output");
    }
  }

  PyRankTable table_;
  std::unique_ptr<newron::CrispNetwork> network_;
};

class PyGrower {
 public:
  PyGrower(const PyRankTable& table, const newron::GrowSettings& settings, int n_threads)
      : table_(table), grower_(table_.view, settings, newron::limit_threads(n_threads)) {}

  bool grow() {
    nb::gil_scoped_release released;
    return grower_.grow();
  }

  bool grow_size() {
    nb::gil_scoped_release released;
    return grower_.grow_size();
  }

  void settle() {
    nb::gil_scoped_release released;
    grower_.settle();
  }

  nb::tuple find_best() {
    const newron::Candidate best = grower_.find_best();
    return nb::make_tuple(best.gain, to_array(best.conditions), best.need,
                          to_free(best.conditions));
  }

  // The scores of other rows, ranked alike.
  Out<double, 2> score(const PyRankTable& rows) {
    const newron::CrispShape& shape = grower_.network().shape();
    const std::size_t n = at(rows.view.n_rows), k = at(rows.view.n_outputs);
    require(rows.view.n_columns == table_.view.n_columns && k == shape.centre.size(),
            "rows with other columns or outputs");
    const newron::CrispNetwork network(rows.view, shape);
    double* data = new double[n * k];
    std::copy(network.scores(0), network.scores(0) + n * k, data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Out<double, 2>(data, {n, k}, owner);
  }

  newron::CrispNetwork& network() { return grower_.network(); }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  PyRankTable table_;
  newron::Grower grower_;
};

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (int i = 0; i < newron::count_functions(); ++i) names.push_back(newron::function_name(i));
  return names;
}

nb::tuple differentiate(PyNetwork& network, const PyTable& table, In<float, 1> params,
                        const newron::Objective& loss, float blend) {
  const newron::NetworkView& net = network.view();
  table.check(net, loss);
  require(params.shape(0) == net.n_params, "wrong number of parameters");
  std::vector<float> gradient;
  const newron::Evaluation result =
      newron::differentiate(net, loss, table.view, params.data(), blend, gradient);
  return nb::make_tuple(result.loss, to_array(gradient));
}

nb::tuple evaluate(PyNetwork& network, const PyTable& table, In<float, 1> params,
                   const newron::Objective& loss) {
  const newron::NetworkView& net = network.view();
  table.check(net, loss);
  require(params.shape(0) == net.n_params, "wrong number of parameters");
  newron::Team team(1);
  const newron::Evaluation result =
      newron::evaluate(net, loss, table.view, params.data(), 1.0f, team);
  return nb::make_tuple(result.loss, result.wrong);
}

double time_bare_sigmoid(In<float, 2> x, In<float, 1> w, In<float, 1> b, int repeats) {
  require(w.shape(0) == b.shape(0) && x.shape(0) >= 1, "wrong shapes");
  const int rows = static_cast<int>(x.shape(1)), edges = static_cast<int>(w.shape(0));
  std::vector<float> out(x.shape(1), 0.0f);
  const auto start = newron::Clock::now();
  for (int i = 0; i < repeats; ++i) {
    newron::choose_passes().bare_sigmoid(x.data(), rows, w.data(), b.data(), edges, out.data());
  }
  const std::chrono::duration<double> seconds = newron::Clock::now() - start;
  // Looking at the result keeps the compiler from dropping the work.
  return out[0] < -1.0f ? -1.0 : seconds.count() / repeats;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled loops of newron: training in single, prediction in double precision.";

  nb::enum_<newron::Loss>(m, "Loss")
      .value("binary", newron::Loss::binary)
      .value("categorical", newron::Loss::categorical)
      .value("squared", newron::Loss::squared)
      .value("tweedie", newron::Loss::tweedie)
      .value("huber", newron::Loss::huber)
      .value("quantile", newron::Loss::quantile)
      .value("formula", newron::Loss::formula)
      .value("ordinal", newron::Loss::ordinal)
      .value("labels", newron::Loss::labels);
  nb::class_<newron::Objective>(m, "Objective")
      .def(nb::new_(&make_objective), "loss"_a, "parameter"_a = 0.0f, "factor"_a = 1.0f,
           "levels"_a = std::vector<float>{}, "codes"_a = std::vector<LossCode>{},
           "two_classes"_a = false)
      .def_ro("loss", &newron::Objective::loss);
  nb::implicitly_convertible<newron::Loss, newron::Objective>();
  nb::enum_<newron::Schedule>(m, "Schedule")
      .value("constant", newron::Schedule::constant)
      .value("cosine", newron::Schedule::cosine)
      .value("one_cycle", newron::Schedule::one_cycle);
  nb::enum_<newron::Monitor>(m, "Monitor")
      .value("epoch", newron::Monitor::epoch)
      .value("exact", newron::Monitor::exact)
      .value("validation", newron::Monitor::validation);
  nb::enum_<newron::Status>(m, "Status")
      .value("running", newron::Status::running)
      .value("finished", newron::Status::finished)
      .value("stalled", newron::Status::stalled)
      .value("diverged", newron::Status::diverged)
      .value("cancelled", newron::Status::cancelled);

  nb::class_<newron::Settings>(m, "Settings")
      .def(nb::init<>())
      .def_rw("loss", &newron::Settings::loss)
      .def_rw("schedule", &newron::Settings::schedule)
      .def_rw("monitor", &newron::Settings::monitor)
      .def_rw("batch_size", &newron::Settings::batch_size)
      .def_rw("max_epochs", &newron::Settings::max_epochs)
      .def_rw("patience", &newron::Settings::patience)
      .def_rw("tolerance", &newron::Settings::tolerance)
      .def_rw("rate", &newron::Settings::rate)
      .def_rw("blend_until", &newron::Settings::blend_until)
      .def_rw("keep_best", &newron::Settings::keep_best)
      .def_rw("measure_start", &newron::Settings::measure_start)
      .def_rw("stop_at_zero_error", &newron::Settings::stop_at_zero_error);

  nb::class_<PyNetwork>(m, "Network")
      .def(nb::init<int>(), "n_channels"_a)
      .def("add_place", &PyNetwork::add_place, "channel"_a, "n_points"_a)
      .def("add_layer", &PyNetwork::add_layer, "processing"_a, "aggregation"_a, "activation"_a,
           "weighted"_a, "centred"_a, "factors"_a, "n_neurons"_a, "source"_a.noconvert(),
           "begin"_a.noconvert())
      .def("set_curve", &PyNetwork::set_curve, "role"_a, "lines"_a.noconvert(),
           "constants"_a.noconvert(), "n_registers"_a, "reach"_a)
      .def("set_code", &PyNetwork::set_code, "lines"_a.noconvert(), "constants"_a.noconvert(),
           "n_inputs"_a, "n_outputs"_a, "n_registers"_a, "reach"_a)
      .def_prop_ro("n_params", [](PyNetwork& network) { return network.view().n_params; });

  nb::class_<PyTable>(m, "Table")
      .def(nb::init<In<float, 2>, In<float, 2>, In<float, 1>>(), "x"_a.noconvert(),
           "targets"_a.noconvert(), "weights"_a.noconvert());

  nb::class_<newron::Run>(m, "Run")
      .def_prop_ro("status", &newron::Run::status)
      .def_prop_ro("epoch", &newron::Run::epoch)
      .def_prop_ro("best_epoch", &newron::Run::best_epoch)
      .def_prop_ro("best", &newron::Run::best)
      .def_prop_ro("wrong", &newron::Run::wrong)
      .def_prop_ro("steps", &newron::Run::steps)
      .def_prop_ro("last",
                   [](const newron::Run& run) {
                     return run.history().empty() ? std::numeric_limits<double>::infinity()
                                                  : run.history().back();
                   })
      .def("history", [](const newron::Run& run) { return to_array(run.history()); })
      .def("params", [](const newron::Run& run) { return to_array(run.params()); })
      .def("mean", [](const newron::Run& run) { return to_array(run.mean()); })
      .def("square", [](const newron::Run& run) { return to_array(run.square()); });

  nb::class_<PyTrainer>(m, "Trainer")
      .def(nb::init<PyNetwork&, const PyTable&, const PyTable*, const newron::Settings&,
                    In<float, 2>, In<std::uint64_t, 1>, In<float, 1>, In<float, 1>,
                    std::optional<In<float, 1>>, int>(),
           "network"_a, "train"_a, "validation"_a.none(), "settings"_a, "starts"_a.noconvert(),
           "seeds"_a.noconvert(), "share"_a.noconvert(), "decay"_a.noconvert(),
           "sign"_a.noconvert().none(), "n_threads"_a, nb::keep_alive<1, 2>())
      .def("advance", &PyTrainer::advance, "seconds"_a)
      .def("run", &PyTrainer::run, "index"_a, nb::rv_policy::reference_internal)
      .def("resume", &PyTrainer::resume, "index"_a, "mean"_a.noconvert(), "square"_a.noconvert(),
           "steps"_a);

  nb::class_<PyEvaluator>(m, "Evaluator")
      .def(nb::init<>())
      .def("add_channel", &PyEvaluator::add_channel, "column"_a, "knots"_a.noconvert(),
           "x"_a.noconvert(), "y"_a.noconvert(), "slope"_a.noconvert())
      .def("add_layer", &PyEvaluator::add_layer, "processing"_a, "aggregation"_a, "activation"_a,
           "factors"_a, "n_neurons"_a, "source"_a.noconvert(), "begin"_a.noconvert(),
           "w"_a.noconvert(), "b"_a.noconvert(), "alpha"_a.noconvert(), "centre"_a.noconvert(),
           "missing"_a.noconvert(), "level_begin"_a.noconvert(), "levels"_a.noconvert())
      .def("set_curve", &PyEvaluator::set_curve, "role"_a, "lines"_a.noconvert(),
           "constants"_a.noconvert(), "n_registers"_a, "reach"_a)
      .def("set_code", &PyEvaluator::set_code, "lines"_a.noconvert(), "constants"_a.noconvert(),
           "n_inputs"_a, "n_registers"_a, "reach"_a, "parameters"_a.noconvert())
      .def("seal", &PyEvaluator::seal)
      .def("score", &PyEvaluator::score, "x"_a.noconvert(), "scores"_a.noconvert(),
           "n_threads"_a = 1);

  nb::class_<PyRankTable>(m, "RankTable")
      .def(nb::init<In<std::uint16_t, 2>, In<int, 1>, In<int, 1>, In<int, 1>, In<float, 2>,
                    In<double, 1>, newron::Objective, int, std::optional<In<double, 2>>>(),
           "ranks"_a.noconvert(), "n_bins"_a.noconvert(), "n_ordered"_a.noconvert(),
           "monotone"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert(), "loss"_a,
           "n_outputs"_a, "base"_a = nb::none());

  nb::class_<PyCrisp>(m, "Crisp")
      .def(nb::init<const PyRankTable&, In<int, 1>, In<int, 2>, In<int, 2>, In<int, 1>,
                    In<double, 1>, In<double, 1>, In<std::uint8_t, 1>, In<std::uint8_t, 1>>(),
           "table"_a, "begin"_a.noconvert(), "conditions"_a.noconvert(), "terms"_a.noconvert(),
           "only"_a.noconvert(), "weight"_a.noconvert(), "centre"_a.noconvert(),
           "condition_free"_a.noconvert(), "term_free"_a.noconvert())
      .def("polish", &PyCrisp::polish, "other_columns"_a, "ridge"_a, "n_threads"_a)
      .def("refit", &PyCrisp::refit, "sweeps"_a, "ridge"_a)
      .def(
          "objective",
          [](PyCrisp& crisp, double ridge) { return crisp.network().objective(ridge); }, "ridge"_a)
      .def_prop_ro("loss", [](PyCrisp& crisp) { return crisp.network().loss(); })
      .def_prop_ro("wrong", [](PyCrisp& crisp) { return crisp.network().count_wrong(); })
      .def("shape", [](PyCrisp& crisp) { return to_tuple(crisp.network().shape()); });

  nb::class_<newron::GrowSettings>(m, "GrowSettings")
      .def(nb::init<>())
      .def_rw("max_terms", &newron::GrowSettings::max_terms)
      .def_rw("max_conditions", &newron::GrowSettings::max_conditions)
      .def_rw("beam", &newron::GrowSettings::beam)
      .def_rw("length_price", &newron::GrowSettings::length_price)
      .def_rw("ridge", &newron::GrowSettings::ridge)
      .def_rw("least_weight", &newron::GrowSettings::least_weight)
      .def_rw("polish_every", &newron::GrowSettings::polish_every)
      .def_rw("exchange_every", &newron::GrowSettings::exchange_every)
      .def_rw("sweeps", &newron::GrowSettings::sweeps)
      .def_rw("windows", &newron::GrowSettings::windows)
      .def_rw("counts", &newron::GrowSettings::counts);

  nb::class_<PyGrower>(m, "Grower")
      .def(nb::init<const PyRankTable&, const newron::GrowSettings&, int>(), "table"_a,
           "settings"_a, "n_threads"_a)
      .def("grow", &PyGrower::grow)
      .def("grow_size", &PyGrower::grow_size)
      .def("settle", &PyGrower::settle)
      .def("find_best", &PyGrower::find_best)
      .def("score", &PyGrower::score, "rows"_a)
      .def(
          "objective",
          [](PyGrower& grower, double ridge) { return grower.network().objective(ridge); },
          "ridge"_a)
      .def_prop_ro("loss", [](PyGrower& grower) { return grower.network().loss(); })
      .def_prop_ro("wrong", [](PyGrower& grower) { return grower.network().count_wrong(); })
      .def_prop_ro("n_terms",
                   [](PyGrower& grower) { return grower.network().shape().terms.size(); })
      .def("shape", [](PyGrower& grower) { return to_tuple(grower.network().shape()); });

  m.def("function_names", &function_names);
  m.def("instruction_set", [] { return std::string(newron::choose_passes().name); });
  m.def("differentiate", &differentiate, "network"_a, "table"_a, "params"_a.noconvert(), "loss"_a,
        "blend"_a = 1.0f);
  m.def("evaluate", &evaluate, "network"_a, "table"_a, "params"_a.noconvert(), "loss"_a);
  m.def("time_bare_sigmoid", &time_bare_sigmoid, "x"_a.noconvert(), "w"_a.noconvert(),
        "b"_a.noconvert(), "repeats"_a);
  bind_engine(m);
}
