// SPDX-License-Identifier: Apache-2.0
// Facts about blocks from the events: the shape and type of a block's tensor, and what freed the block.
//
// A run has neither fact. At first use, the trace is read once more. 12 bytes per block are kept.
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
  // Reads all events. `run` must outlive it.
  explicit TensorFacts(const model::Run& run);

  // "[8, 128, 256] float32": the largest tensor that an operator used and the block contains; "" = unknown. A
  // scalar: "[] int64".
  [[nodiscard]] std::string TensorOf(model::BlockId block) const;
  // The autograd node or operator running on the thread of the free: "MmBackward0", "aten::cat"; "" =
  // unknown.
  [[nodiscard]] std::string FreedIn(model::BlockId block) const;
  // The stack of the free; 0 = not recorded.
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

// "float32", "bfloat16"; "type 99" if unknown. PyTorch: c10/core/ScalarType.h.
[[nodiscard]] std::string TypeName(uint8_t scalar_type);

// The facts of the shown document, read on a thread at first use.
class TensorFactsView {
 public:
  // `run` must live until the next Update or Clear. Calls `wake` when there are facts.
  void Update(const model::Run& run, const std::function<void()>& wake);
  // Forgets the run; call before it is destroyed. Waits for the thread.
  void Clear() { facts_.Clear(); }
  [[nodiscard]] bool busy() const { return facts_.busy(); }
  // nullptr while they are being read.
  [[nodiscard]] const TensorFacts* facts() const { return facts_.answer() ? &*facts_.answer() : nullptr; }

 private:
  BackgroundAnswer<const model::Run*, TensorFacts> facts_;
};

}  // namespace vramscope::viewer
