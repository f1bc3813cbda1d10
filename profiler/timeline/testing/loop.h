// SPDX-License-Identifier: Apache-2.0
// Pieces of training loops for tests, in the order in which PyTorch runs them. Each allocates something, so
// that no span is empty.
#pragma once

#include <string>

#include "profiler/model/testing/script.h"

namespace vramscope::timeline::testing {

struct Loop {
  model::testing::Script s;
  int made = 0;

  std::string Fresh() { return "t" + std::to_string(++made); }
  void Work() {
    const std::string temporary = Fresh();
    s.Alloc(temporary, 8).Free(temporary);
  }
  void Data() {
    s.Data([&] { Work(); });
  }
  void Forward() {
    const std::string activation = Fresh();
    s.Alloc(activation, 8).Saved(activation);
    Work();
  }
  void Backward() {
    s.Backward([&] { Work(); });
  }
  void Optimizer(uint64_t id = 1) {
    s.Optimizer(
        "Adam", [&] { Work(); }, id);
  }
  void Evaluate() {
    Data();
    Work();
  }
};

}  // namespace vramscope::timeline::testing
