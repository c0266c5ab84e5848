// A few threads that work through numbered parts of a job together.
//
// Which thread does which part changes from run to run; the parts do not. A
// job is deterministic when each part writes to its own place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace newron {

class Team {
 public:
  using Job = std::function<void(int part, int worker)>;

  explicit Team(int n_workers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Runs job(0..n_parts-1, worker); the caller is worker 0. Returns when all
  // parts are done.
  void run(int n_parts, const Job& job);

 private:
  void serve(int worker);
  void work(int worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned> call_{0};
  std::atomic<int> busy_{0};
  std::atomic<int> next_{0};
  std::atomic<bool> closed_{false};
  int n_parts_ = 0;
  const Job* job_ = nullptr;
};

}  // namespace newron
