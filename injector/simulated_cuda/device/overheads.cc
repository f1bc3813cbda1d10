// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/overheads.h"

#include <cstring>

namespace vramscope::simulated {
namespace {

struct Overhead {
  const char* call;
  Certainty certainty;
};

constexpr Overhead kOverheads[] = {
#define OVERHEAD(call, ...) {call, {__VA_ARGS__}},
#include "injector/simulated_cuda/overheads.def"
};

const char* NameOf(ContextBasis basis) {
  return basis == kMeasured ? "measured" : basis == kDerived ? "derived" : "given";
}

}  // namespace

Certainty CertaintyOf(const char* call, ContextBasis context) {
  const bool is_context = std::strcmp(call, "context") == 0;
  for (const Overhead& overhead : kOverheads) {
    if (std::strcmp(overhead.call, call) != 0) continue;
    if (!is_context || std::strcmp(overhead.certainty.basis, NameOf(context)) == 0) return overhead.certainty;
  }
  return {"exact", 100, 100};
}

}  // namespace vramscope::simulated
