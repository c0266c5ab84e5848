// The one generator of the core: splitmix64, a counter and a mixer. Small
// enough that tests/oracle writes it again in five lines of Python.
#pragma once

#include <cstdint>

namespace newron {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  // A whole number in [0, n).
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

  void shuffle(int* items, int n) {
    for (int i = n - 1; i > 0; --i) {
      const int j = static_cast<int>(below(static_cast<std::uint32_t>(i + 1)));
      const int kept = items[i];
      items[i] = items[j];
      items[j] = kept;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace newron
