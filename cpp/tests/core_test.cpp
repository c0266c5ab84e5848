// The core's own tests, meant to run under sanitizers: every function with every
// aggregation forward and backward, training alone and in threads, prediction.
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/evaluator.h"
#include "core/grow.h"
#include "core/trainer.h"
#include "support.h"

using namespace newron;

namespace {

// Functions that would read the last channel read its place in its stead.
std::vector<LayerShape> read_place(std::vector<LayerShape> shapes) {
  for (LayerShape& shape : shapes) {
    for (int& source : shape.source) source = source == 2 ? 3 : source;
  }
  return shapes;
}

void check_gradients(const Data& data, bool points) {
  for (int f = 0; f < count_functions(); ++f) {
    for (int g = 0; g < 5; ++g) {
      const int factors = count_kept(f, 3) == 3 ? 3 : 1;
      const auto shapes =
          make_shapes(f, static_cast<Aggregation>(g), factors, points ? 4 : 3, 4, 3);
      const std::vector<Place> places(points ? 1 : 0, Place{2, 2, 0});
      Network network(3, places, points ? read_place(shapes) : shapes);
      const NetworkView& net = network.view();
      std::vector<float> params = make_params(net.n_params, 5), gradient, unused;
      // Soft all the way, so that differences exist for Heaviside too.
      differentiate(net, Loss::categorical, data.table, params.data(), 0.0f, gradient);
      EXPECT(gradient.size() == net.n_params);
      int close = 0;
      for (std::size_t i = 0; i < params.size(); ++i) {
        const float kept = params[i], step = 1e-2f;
        params[i] = kept + step;
        const double up =
            differentiate(net, Loss::categorical, data.table, params.data(), 0.0f, unused).loss;
        params[i] = kept - step;
        const double down =
            differentiate(net, Loss::categorical, data.table, params.data(), 0.0f, unused).loss;
        params[i] = kept;
        const double slope = (up - down) / (2.0 * step);
        close += std::fabs(slope - gradient[i]) < 2e-3 + 0.05 * std::fabs(slope);
      }
      // min, max and relu have kinks that a step may cross.
      EXPECT(close >= static_cast<int>(0.85 * static_cast<double>(params.size())));
    }
  }
}

void test_gradients_follow_the_loss() {
  Data data(37, 3, 3);
  check_gradients(data, false);
  for (int i = 0; i < 37; i += 3)
    data.x[static_cast<std::size_t>(3 * i + 2)] = kPoint * (1 + i % 2);
  check_gradients(data, true);
}

std::vector<float> train(const NetworkView& net, const Data& data, int threads, int starts,
                         int batch, bool stop_early) {
  Settings settings;
  settings.loss = Loss::categorical;
  settings.monitor = Monitor::exact;
  settings.batch_size = batch;
  settings.max_epochs = 6;
  settings.stop_at_zero_error = stop_early;
  const std::vector<float> share(net.n_params, 1.0f), decay(net.n_params, 0.01f);
  Problem problem = {net, settings, data.table, Table{}, share.data(), decay.data(), nullptr};
  std::vector<std::vector<float>> params;
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < starts; ++i) {
    seeds.push_back(static_cast<std::uint64_t>(i));
    params.push_back(make_params(net.n_params, seeds.back()));
  }
  Trainer trainer(problem, params, seeds, threads);
  while (!trainer.advance(0.001)) {
  }
  int best = 0;
  for (int i = 0; i < starts; ++i) {
    EXPECT(trainer.run(i).status() != Status::running);
    if (trainer.run(i).best() < trainer.run(best).best()) best = i;
  }
  return trainer.run(best).params();
}

void test_threads_change_nothing() {
  const Data data(1500, 3, 3);
  Network network(3, {}, make_shapes(1, Aggregation::sum, 1, 3, 40, 3));
  for (const int starts : {1, 5}) {
    for (const int batch : {64, 1500}) {
      const auto once = train(network.view(), data, 1, starts, batch, false);
      EXPECT(once == train(network.view(), data, 2, starts, batch, false));
      EXPECT(once == train(network.view(), data, 4, starts, batch, false));
      EXPECT(std::isfinite(once[0]));
    }
  }
  train(network.view(), data, 3, 6, 64, true);
}

void test_a_team_does_every_part_once() {
  for (const int workers : {1, 2, 5}) {
    Team team(workers);
    EXPECT(team.size() == workers);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> done(17, 0);
      team.run(17, [&](int part, int) { ++done[static_cast<std::size_t>(part)]; });
      EXPECT(done == std::vector<int>(17, 1));
    }
  }
}

void test_what_a_part_throws_comes_out_of_the_call() {
  for (const int workers : {1, 2, 5}) {
    Team team(workers);
    for (int round = 0; round < 50; ++round) {
      bool caught = false;
      try {
        team.run(17, [&](int part, int) {
          if (part % 3 == round % 3) throw std::runtime_error("part");
        });
      } catch (const std::runtime_error&) {
        caught = true;
      }
      EXPECT(caught);
      std::vector<int> done(17, 0);  // and the team works on
      team.run(17, [&](int part, int) { ++done[static_cast<std::size_t>(part)]; });
      EXPECT(done == std::vector<int>(17, 1));
    }
  }
}

void test_threads_are_no_more_than_cores_and_work() {
  EXPECT(limit_threads(1000000) == limit_threads(std::numeric_limits<int>::max()));
  EXPECT(limit_threads(1000000) >= 1);
  EXPECT(limit_threads(1000000, 1) == 1);
  EXPECT(limit_threads(0) == 1);
  EXPECT(limit_threads(-3, 0) == 1);
}

void test_prediction_is_the_same_in_blocks_and_threads() {
  ChannelMap own = {0, {}, {}, {}, {}};
  ChannelMap ranked = {1, {0.0, 1.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 1.0}, {1.0, 1.0, 1.0}};
  for (int f = 0; f < count_functions(); ++f) {
    ExactShape shape = {f,      Aggregation::sum, Activation::identity, 1,          1,    {0, 1},
                        {0, 2}, {1, -2},          {0.5, 0.25},          {1.5, 2.5}, {0.1}};
    shape.missing = {0.5, 1.0};
    shape.level_begin = {0, 2, 2};  // the first column holds two categories
    shape.levels = {0.25, 0.75};
    shape.code = code_of(f, false);
    shape.parameters = {0.5, 2.0};
    Evaluator evaluator({own, ranked}, {shape});
    std::vector<double> x, all(1000), one(1000), threaded(1000);
    Random random(3);
    for (int i = 0; i < 2000; ++i) x.push_back(static_cast<double>(random.below(100)) / 50.0);
    for (int i = 0; i < 2000; i += 7) {
      x[static_cast<std::size_t>(i)] = std::numeric_limits<double>::quiet_NaN();
    }
    evaluator.score(x.data(), 1000, 2, all.data(), 1);
    evaluator.score(x.data(), 1000, 2, threaded.data(), 3);
    for (int i = 0; i < 1000; ++i) evaluator.score(x.data() + 2 * i, 1, 2, one.data() + i, 1);
    EXPECT(all == one);
    EXPECT(all == threaded);
    evaluator.score(x.data(), 0, 2, all.data(), 1);
  }
}

// Grows in one thread and in three.
void check_growth(const RankTable& table) {
  std::vector<double> ends;
  for (const int threads : {1, 3}) {
    GrowSettings settings;
    settings.max_terms = 4;
    settings.polish_every = 2;
    Grower grower(table, settings, threads);
    double last = grower.network().objective(settings.ridge);
    while (grower.grow()) {
      const double now = grower.network().objective(settings.ridge);
      EXPECT(now <= last + 1e-6);
      last = now;
    }
    grower.settle();
    EXPECT(grower.network().objective(settings.ridge) <= last + 1e-6);
    CrispNetwork cut = grower.network();
    cut.keep_terms(2);
    cut.refit(3, settings.ridge);
    EXPECT(cut.shape().terms.size() == 2);
    ends.push_back(grower.network().loss());
  }
  EXPECT(ends[0] == ends[1]);
}

// Inputs score and target, the constant 2, outputs e * e, 2 e and 2, and one register for e.
Code make_squared_loss() {
  const auto line = [](Operation operation, int to, int a, int b) {
    return std::vector<int>{static_cast<int>(operation), to, a, b, 0};
  };
  std::vector<int> lines;
  for (const auto& each : {line(Operation::subtract, 6, 0, 1), line(Operation::multiply, 3, 6, 6),
                           line(Operation::multiply, 4, 2, 6), line(Operation::copy, 5, 2, 0)}) {
    lines.insert(lines.end(), each.begin(), each.end());
  }
  return {lines, {2.0}, 2, 3, 7, 0.0};
}

void test_growing_lowers_the_objective_in_any_number_of_threads() {
  const int rows = 8300, columns = 3, bins = 5;  // in three parts
  Random random(11);
  std::vector<Rank> ranks;
  for (int i = 0; i < rows * columns; ++i) ranks.push_back(static_cast<Rank>(random.below(bins)));
  const std::vector<int> n_bins(columns, bins);
  const std::vector<double> weights(rows, 1.0);
  Objective tweedie = Loss::tweedie, huber = Loss::huber, quantile = Loss::quantile;
  tweedie.parameter = 1.5f;
  huber.parameter = 0.5f;
  quantile.parameter = 0.1f;
  for (float& level : quantile.levels) level = 0.3f;
  Objective formula = Loss::formula;
  for (int k = 0; k < 3; ++k) formula.codes.push_back(make_squared_loss());
  for (const Objective& loss :
       {Objective(Loss::binary), Objective(Loss::categorical), Objective(Loss::squared), tweedie,
        huber, quantile, formula, Objective(Loss::ordinal), Objective(Loss::labels)}) {
    const int outputs = loss == Loss::binary || loss == Loss::ordinal ? 1 : 3;
    std::vector<float> targets;
    for (int i = 0; i < rows; ++i) {
      const bool high = ranks[static_cast<std::size_t>(i)] > 2;
      const bool odd = ranks[static_cast<std::size_t>(rows + i)] > 3;
      const int label = (high != odd) + (loss == Loss::categorical && high && odd);
      if (loss == Loss::ordinal) {  // limits around the class, and a constant
        targets.insert(targets.end(), {label ? 0.5f : -1e30f, label ? 1e30f : 0.5f, 0.0f});
        continue;
      }
      for (int k = 0; k < loss.n_targets(outputs); ++k) {
        targets.push_back(static_cast<float>(label));
      }
    }
    std::vector<int> ordered = n_bins, free(n_bins.size(), 0), directed = free;
    RankTable table = {};
    table.n_rows = rows;
    table.n_columns = columns;
    table.n_outputs = outputs;
    table.loss = loss;
    table.ranks = ranks.data();
    table.n_bins = n_bins.data();
    table.n_ordered = ordered.data();
    table.monotone = free.data();
    table.targets = targets.data();
    table.weights = weights.data();
    table.total_weight = rows;
    check_growth(table);
    // What follows is about bins and scores, for which these losses stand.
    if (!(loss == Loss::binary || loss == Loss::categorical || loss == Loss::formula)) continue;
    // The first column as categories, the second with a gap.
    ordered[0] = 0;
    ordered[1] -= 1;
    check_growth(table);
    directed[1] = 1;  // scores may only rise with the second column
    table.monotone = directed.data();
    check_growth(table);
    table.monotone = free.data();
    std::vector<double> base;  // and on top of scores that are there already
    for (int i = 0; i < rows * outputs; ++i) base.push_back(0.01 * random.below(200) - 1.0);
    table.base = base.data();
    check_growth(table);
  }
}

void test_the_generator_shuffles() {
  Random random(1);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  random.shuffle(items.data(), 10);
  int sum = 0;
  for (const int item : items) sum += item;
  EXPECT(sum == 45);
  EXPECT(items != (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace

int main() {
  test_the_generator_shuffles();
  test_a_team_does_every_part_once();
  test_what_a_part_throws_comes_out_of_the_call();
  test_threads_are_no_more_than_cores_and_work();
  test_gradients_follow_the_loss();
  test_threads_change_nothing();
  test_prediction_is_the_same_in_blocks_and_threads();
  test_growing_lowers_the_objective_in_any_number_of_threads();
  std::printf("core_test (%s): %d expectations hold\n", choose_passes().name, count_passed());
  return 0;
}
