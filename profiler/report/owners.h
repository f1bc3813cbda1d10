// SPDX-License-Identifier: Apache-2.0
// Owners of memory at a moment: by module, parameter, op and stack.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Where a block was allocated, in words; "" if unknown.
struct Place {
  std::string_view module;
  std::string_view node;
  std::string_view op;
  uint32_t as_in_step = 0;
};
// The module is that of the block's name (parameters, gradients, optimizer state). Without a name: the module
// that was open at the allocation.
[[nodiscard]] Place PlaceOf(const classify::Analysis& analysis, classify::Origins& origins,
                            model::BlockId block);

// The frame that represents a stack (text::TellingFrame); "" for an unknown stack.
[[nodiscard]] std::string_view FrameToShow(const model::Run& run, uint32_t stack);

// FrameToShow with a cache. `run` must outlive it.
class FramesToShow {
 public:
  explicit FramesToShow(const model::Run& run) : run_(run) {}
  [[nodiscard]] std::string_view Of(uint32_t stack);

 private:
  const model::Run& run_;
  std::unordered_map<uint32_t, std::string_view> by_stack_;
};

// The frames of a stack for a flame graph, outermost first. Without the interpreter's frames, unless there
// are no others.
[[nodiscard]] std::vector<std::string_view> FramesToDraw(const model::Run& run, uint32_t stack);

struct Owners {
  std::vector<Owner> owners;              // by kind, largest first
  std::map<Owner::Kind, uint64_t> known;  // bytes with a known owner of that kind
  uint64_t inferred_blocks = 0;           // blocks whose place comes from a deep step
};

// `blocks`: those alive after event `at`. At most `top` owners of each kind; 0 = all.
[[nodiscard]] Owners FindOwners(const classify::Analysis& analysis, classify::Origins& origins,
                                std::span<const model::BlockId> blocks, model::EventIndex at, uint32_t top);

}  // namespace vramscope::report
