// Every allocation and every start of a thread fails once: what comes out is std::bad_alloc
// or the right result, never a crash, a hang or (under the address sanitizer) a leak.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/evaluator.h"
#include "core/grow.h"
#include "core/trainer.h"
#include "support.h"

#ifdef __GLIBCXX__
#include <dlfcn.h>
#endif

namespace {
constexpr long kNever = -1;
std::atomic<long> until_allocation{kNever};  // how many still succeed
std::atomic<long> until_thread{kNever};

// Counts down; true once, when the count is used up.
bool fails_now(std::atomic<long>& left) {
  if (left.load(std::memory_order_relaxed) == kNever) return false;
  return left.fetch_sub(1) == 0;
}

void* try_allocate(std::size_t size) noexcept {
  return fails_now(until_allocation) ? nullptr : std::malloc(size > 0 ? size : 1);
}

void* allocate(std::size_t size) {
  void* memory = try_allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return try_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#ifdef __GLIBCXX__
// Stands before the function of libstdc++ by which every std::thread is started.
void std::thread::_M_start_thread(_State_ptr state, void (*depend)()) {
  if (fails_now(until_thread)) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  using Start = void (*)(std::thread*, _State_ptr, void (*)());
  static const Start start = reinterpret_cast<Start>(dlsym(
      RTLD_NEXT,
      "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"));
  start(this, std::move(state), depend);
}
#endif

namespace newron {
namespace {

using Result = std::vector<double>;
using Work = std::function<Result()>;

Result train(int rows, int starts, int threads) {
  const Data data(rows, 3, 3);
  Network network(3, {}, make_shapes(1, Aggregation::sum, 1, 3, 2, 3));
  const NetworkView& net = network.view();
  Settings settings;
  settings.loss = Loss::categorical;
  settings.monitor = Monitor::exact;
  settings.batch_size = rows / 2;
  settings.max_epochs = 2;
  const std::vector<float> share(net.n_params, 1.0f), decay(net.n_params, 0.01f);
  const Problem problem = {net, settings, data.table, Table{}, share.data(), decay.data(), nullptr};
  std::vector<std::vector<float>> params;
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < starts; ++i) {
    seeds.push_back(static_cast<std::uint64_t>(i));
    params.push_back(make_params(net.n_params, seeds.back()));
  }
  Trainer trainer(problem, params, seeds, threads);
  while (!trainer.advance(1.0)) {
  }
  Result result;
  for (int i = 0; i < starts; ++i) result.push_back(trainer.run(i).best());
  return result;
}

Result grow(int threads) {
  const int rows = 60, columns = 3, bins = 4;
  Random random(11);
  std::vector<Rank> ranks;
  for (int i = 0; i < rows * columns; ++i) ranks.push_back(static_cast<Rank>(random.below(bins)));
  const std::vector<int> n_bins(columns, bins), free(columns, 0);
  const std::vector<double> weights(rows, 1.0);
  std::vector<float> targets;
  for (int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    targets.push_back((ranks[at] > 1) != (ranks[at + rows] > 2) ? 1.0f : 0.0f);
  }
  RankTable table = {};
  table.n_rows = rows;
  table.n_columns = columns;
  table.n_outputs = 1;
  table.loss = Loss::binary;
  table.ranks = ranks.data();
  table.n_bins = n_bins.data();
  table.n_ordered = n_bins.data();
  table.monotone = free.data();
  table.targets = targets.data();
  table.weights = weights.data();
  table.total_weight = rows;
  GrowSettings settings;
  settings.max_terms = 2;
  settings.max_conditions = 2;
  settings.polish_every = 1;
  Grower grower(table, settings, threads);
  while (grower.grow()) {
  }
  return {grower.network().loss()};
}

Result predict(int threads) {
  const ChannelMap own = {0, {}, {}, {}, {}};
  ExactShape shape = {
      1, Aggregation::sum, Activation::identity, 1, 1, {0}, {0, 1}, {1}, {0.5}, {1.5}, {0.1}};
  shape.missing = {0.5};
  shape.level_begin = {0, 0};
  const Evaluator evaluator({own}, {shape});
  std::vector<double> x(5000, 0.25), scores(5000);
  evaluator.score(x.data(), 5000, 1, scores.data(), threads);
  return scores;
}

// Fails the first, the second, ... until the work is through without a failure.
long fail_each(std::atomic<long>& left, const Work& work, const Result& right) {
  for (long n = 0;; ++n) {
    left = n;
    Result result;
    bool failed = false;
    try {
      result = work();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    const bool reached = left.exchange(kNever) < 0;
    EXPECT(failed || result == right);
    if (!reached) return n;
  }
}

void check(const char* name, const Work& work) {
  const Result right = work();
  const long allocations = fail_each(until_allocation, work, right);
  const long threads = fail_each(until_thread, work, right);
  EXPECT(allocations > 0);
  std::printf("failure_test: %s: %ld allocations and %ld threads failed once each\n", name,
              allocations, threads);
}

}  // namespace
}  // namespace newron

int main() {
  using namespace newron;
  check("one fit in three threads", [] { return train(2100, 1, 3); });
  check("four restarts in three threads", [] { return train(130, 4, 3); });
  check("growing in three threads", [] { return grow(3); });
  check("predicting in three threads", [] { return predict(3); });
  return 0;
}
