// Chooses the copy of the passes that this machine runs fastest.
#include <cstdlib>
#include <cstring>

#include "engine_kernels.h"
#include "machine.h"
#include "network.h"

namespace newron {

namespace baseline {
extern const Passes passes;
extern const EngineKernels engine_kernels;
}  // namespace baseline
#ifdef NEWRON_X86_COPIES
namespace v3 {
extern const Passes passes;
extern const EngineKernels engine_kernels;
}  // namespace v3
namespace v4 {
extern const Passes passes;
extern const EngineKernels engine_kernels;
}  // namespace v4
#endif

namespace {

struct Copy {
  const Passes* passes;
  const EngineKernels* engine_kernels;
};

// NEWRON_INSTRUCTION_SET=baseline, v3 or v4 keeps to a lower set than the machine has.
[[maybe_unused]] bool allows(const char* name) {
  const char* limit = std::getenv("NEWRON_INSTRUCTION_SET");
  return limit == nullptr || std::strcmp(name, limit) <= 0;
}

Copy find_copy() {
#ifdef NEWRON_X86_COPIES
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (has_v4 && allows("v4")) return {&v4::passes, &v4::engine_kernels};
  if (has_v3 && allows("v3")) return {&v3::passes, &v3::engine_kernels};
#endif
  return {&baseline::passes, &baseline::engine_kernels};
}

template <class... Fs>
int count(List<Fs...>) {
  return static_cast<int>(sizeof...(Fs));
}

template <class... Fs>
const char* name_at(List<Fs...>, int index) {
  const char* names[] = {Fs::name...};
  return names[index];
}

template <class... Fs>
int kept_at(List<Fs...>, int index, int factors) {
  const int kept[] = {Fs::kept(factors)...};
  return kept[index];
}

}  // namespace

const Passes& choose_passes() {
  static const Passes* chosen = find_copy().passes;
  return *chosen;
}

const EngineKernels& choose_engine_kernels() {
  static const EngineKernels* chosen = find_copy().engine_kernels;
  return *chosen;
}

int count_functions() { return count(AllFunctions{}); }

const char* function_name(int index) { return name_at(AllFunctions{}, index); }

int count_kept(int processing, int factors) { return kept_at(AllFunctions{}, processing, factors); }

}  // namespace newron
