// SPDX-License-Identifier: Apache-2.0
// A script of what one linear layer, [64, 64] in float32, makes of tensors [1024, 64], and what goes on with
// these.
#pragma once

#include <string>

#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {

inline constexpr uint64_t kRow = 64 * 4;                          // bytes in float32
inline constexpr uint64_t kWide = 1024 * kRow, kNarrow = kWide / 2;  // bytes of a tensor, and in 16 bits
inline constexpr const char* kShape[] = {"1024,64", "64,1"};      // and strides

class LinearScript : public TensorScript {
 public:
  void Linear(const std::string& from, const std::string& result) {
    s.Op("aten::linear", [&] {
      In(from, kShape[0], kShape[1]);
      In("weight", "64,64", "64,1", 1);
      s.Alloc(result, kWide);
      Out(result, kShape[0], kShape[1]);
    });
  }

 protected:
  LinearScript() {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("weight", 64 * kRow).Parameter("weight", "linear.weight");
    s.Alloc("x", kWide);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
  }
};

}  // namespace vramscope::whatif
