#include "team.h"

#include <algorithm>

namespace newron {

namespace {
// Steps follow each other within microseconds: spin that long before sleeping.
constexpr int kSpins = 4000;
}  // namespace

Team::Team(int n_workers) {
  for (int i = 1; i < n_workers; ++i) threads_.emplace_back([this, i] { serve(i); });
}

Team::~Team() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    ++call_;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Team::run(int n_parts, const Job& job) {
  if (threads_.empty() || n_parts == 1) {
    for (int part = 0; part < n_parts; ++part) job(part, 0);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    n_parts_ = n_parts;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    ++call_;
  }
  wake_.notify_all();
  work(0);
  for (int spins = 0; busy_.load(std::memory_order_acquire) > 0; ++spins) {
    if (spins > kSpins) std::this_thread::yield();
  }
}

void Team::work(int worker) {
  for (int part = next_++; part < n_parts_; part = next_++) (*job_)(part, worker);
}

void Team::serve(int worker) {
  unsigned seen = 0;
  for (;;) {
    for (int spins = 0; call_.load(std::memory_order_acquire) == seen && spins < kSpins; ++spins) {
    }
    if (call_.load(std::memory_order_acquire) == seen) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return call_.load() != seen; });
    }
    seen = call_.load(std::memory_order_acquire);
    if (closed_) return;
    work(worker);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace newron
