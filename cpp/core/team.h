// A few threads that work through numbered parts of a job together.
//
// Which thread does which part changes from run to run; the parts do not. A
// job is deterministic when each part writes to its own place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace newron {

// At least one thread, and no more than were requested, than there are cores, or than
// there are parts to work on.
int limit_threads(int requested, long work = std::numeric_limits<long>::max());

class Team {
 public:
  using Job = std::function<void(int part, int worker)>;

  // Starts fewer threads where the system gives no more of them.
  explicit Team(int n_workers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Runs job(0..n_parts-1, worker); the caller is worker 0. Returns when all
  // parts are done, or throws what one of them threw when no thread works any more.
  void run(int n_parts, const Job& job);

 private:
  void serve(int worker);
  void work(int worker) noexcept;

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned> call_{0};
  std::atomic<int> busy_{0};
  std::atomic<int> next_{0};
  std::atomic<bool> closed_{false};
  int n_parts_ = 0;
  const Job* job_ = nullptr;
  std::exception_ptr failure_;
};

}  // namespace newron
