// The pass in double precision, in a file of its own because it is compiled
// without fused multiply-adds: it must round exactly as NumPy does.
#pragma once

#include "network.h"

namespace newron {
namespace exact {
namespace baseline {
void pass(const ExactLayer& layer, int rows, double* signals, double* scratch);
}
namespace v3 {
void pass(const ExactLayer& layer, int rows, double* signals, double* scratch);
}
namespace v4 {
void pass(const ExactLayer& layer, int rows, double* signals, double* scratch);
}
}  // namespace exact
}  // namespace newron
