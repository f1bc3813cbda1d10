// SPDX-License-Identifier: Apache-2.0
// Finds the owners of the memory at one moment: by module, parameter, operator and stack.
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

// The place where a block was allocated. A field is "" if unknown.
struct Place {
  std::string_view module;
  std::string_view node;
  std::string_view op;
  uint32_t as_in_step = 0;
};
// Returns the place of a block. If the block has a name (parameters, gradients, optimizer state), the module
// comes from the name. Otherwise, the result has the module whose forward was running at the allocation.
[[nodiscard]] Place PlaceOf(const classify::Analysis& analysis, classify::Origins& origins,
                            model::BlockId block);

// Returns the one frame that represents a stack in a report (text::TellingFrame); "" for an unknown stack.
[[nodiscard]] std::string_view FrameToShow(const model::Run& run, uint32_t stack);

// FrameToShow with a cache. `run` must outlive this object.
class FramesToShow {
 public:
  explicit FramesToShow(const model::Run& run) : run_(run) {}
  [[nodiscard]] std::string_view Of(uint32_t stack);

 private:
  const model::Run& run_;
  std::unordered_map<uint32_t, std::string_view> by_stack_;
};

// Returns the frames of a stack for a flame graph, outermost first. Frames of the Python interpreter itself
// are left out, unless there are no other frames.
[[nodiscard]] std::vector<std::string_view> FramesToDraw(const model::Run& run, uint32_t stack);

struct Owners {
  std::vector<Owner> owners;              // sorted by kind, then by bytes, largest first
  std::map<Owner::Kind, uint64_t> known;  // bytes with a known owner of that kind
  uint64_t inferred_blocks = 0;           // number of blocks whose place was taken from a deep step
};

// `blocks` are the blocks that are alive after event `at`. Returns at most `top` owners of each kind; 0 =
// all.
[[nodiscard]] Owners FindOwners(const classify::Analysis& analysis, classify::Origins& origins,
                                std::span<const model::BlockId> blocks, model::EventIndex at, uint32_t top);

}  // namespace vramscope::report
