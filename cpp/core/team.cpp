#include "team.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace newron {

namespace {
// Steps follow each other within microseconds: spin that long before sleeping.
constexpr int kSpins = 4000;
}  // namespace

int limit_threads(int requested, long work) {
  const long cores = std::max(1L, static_cast<long>(std::thread::hardware_concurrency()));
  return static_cast<int>(std::clamp<long>(requested, 1, std::max(1L, std::min(cores, work))));
}

Team::Team(int n_workers) {
  try {
    threads_.reserve(static_cast<std::size_t>(std::max(n_workers - 1, 0)));
    for (int i = 1; i < n_workers; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {
    // The system has no more threads to give: those that are there do the work.
  } catch (const std::bad_alloc&) {
  }
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
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// An exception must not leave a thread, nor the caller while others still work: the
// first one is kept for `run`, and parts that have not begun are left out.
void Team::work(int worker) noexcept {
  try {
    for (int part = next_++; part < n_parts_; part = next_++) (*job_)(part, worker);
  } catch (...) {
    next_ = n_parts_;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ == nullptr) failure_ = std::current_exception();
  }
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
