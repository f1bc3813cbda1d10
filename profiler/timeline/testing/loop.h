// SPDX-License-Identifier: Apache-2.0
// Builds the events of a training loop for tests. Each function adds one part of a step (data, forward,
// backward, ...). A test calls them in the order in which PyTorch would run these parts. Each part allocates
// something, so that no part is empty.
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
