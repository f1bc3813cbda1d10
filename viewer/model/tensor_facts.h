// SPDX-License-Identifier: Apache-2.0
// Facts about blocks: the shape and type of a block's tensor, and the operator or autograd node that freed
// the block.
//
// A model::Run does not contain these facts. They are read from the trace at first use. 12 bytes per block
// are stored.
//
//   op_begin aten::mm / alloc 0x7f.. / op_tensor storage 0x7f.. shape "8,128" dtype 6 / op_end
//   node_begin MmBackward0 / free 0x7f.. / node_end          -> block: [8, 128] float32, freed in MmBackward0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "viewer/model/background_task.h"

namespace vramscope::viewer {

class TensorFacts {
 public:
  // Reads all events of the trace. `run` must outlive this object.
  explicit TensorFacts(const model::Run& run);

  // Returns the shape and type of the largest tensor in the block that an operator used: "[8, 128, 256]
  // float32", or "[] int64" for a scalar. Returns "" if unknown.
  [[nodiscard]] std::string TensorOf(model::BlockId block) const;
  // Returns the outermost autograd node or operator that was running on the thread of the free:
  // "MmBackward0", "aten::cat". Returns "" if unknown.
  [[nodiscard]] std::string FreedIn(model::BlockId block) const;
  // Returns the stack id of the free; 0 = not recorded.
  [[nodiscard]] uint32_t FreeStack(model::BlockId block) const;

 private:
  friend class TensorFactsReader;
  struct Facts {
    uint32_t shape = 0;  // trace::StringId, here and below
    uint32_t freed_in = 0;
    uint32_t free_stack = 0;
  };
  const model::Run* run_;
  std::vector<Facts> facts_;     // by BlockId
  std::vector<uint8_t> dtypes_;  // c10::ScalarType, by BlockId; kNoType = no tensor was seen
};

// Returns the name of a type: "float32", "bfloat16"; "type 99" if the type is unknown. PyTorch:
// c10/core/ScalarType.h.
[[nodiscard]] std::string TypeName(uint8_t scalar_type);

// Reads the facts of the shown document on a background thread, at first use.
class TensorFactsView {
 public:
  // Call once per frame. `run` must live until the next Update or Clear. Calls `wake` when the facts are
  // ready.
  void Update(const model::Run& run, const std::function<void()>& wake);
  // Drops all references to the run, and waits for the thread. Call before the run is destroyed.
  void Clear() { facts_.Clear(); }
  [[nodiscard]] bool busy() const { return facts_.busy(); }
  // Returns nullptr while the facts are being read.
  [[nodiscard]] const TensorFacts* facts() const { return facts_.answer() ? &*facts_.answer() : nullptr; }

 private:
  BackgroundAnswer<const model::Run*, TensorFacts> facts_;
};

}  // namespace vramscope::viewer
