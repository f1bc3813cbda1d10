// SPDX-License-Identifier: Apache-2.0
// Explains why the caching allocator could not serve a request (an out-of-memory failure). The explanation,
// called autopsy, contains a verdict with its proof, the tensors that hold the memory, and advice.
//
// The verdict is the first row of this table that is true. The first two rows are causes in the program. The
// other rows say what the allocator could have done for this request.
//
//   verdict            the request fits ...
//   failed_steps       without the memory of earlier failed steps, which a caught exception keeps alive
//   growth             without the memory that grew from step to step
//   fits_free_block    into a free block: PyTorch searched before that block was free
//   empty_cache        after empty_cache() has returned completely free segments to the driver
//   setting            with another allocator setting, in a replay
//   stitchable         only if all free bytes were one piece
//   true_shortage      not at all; `shortfall` is the number of missing bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/trial.h"

namespace vramscope::fragmentation {

enum class Verdict : uint8_t {
  kUnknown,
  kGrowth,
  kFailedSteps,
  kFitsFreeBlock,
  kEmptyCache,
  kSetting,
  kStitchable,
  kTrueShortage
};
[[nodiscard]] const char* VerdictKey(Verdict verdict);

// The free bytes that did not serve the request, by place. All members except `largest_block` and `pending`
// sum to all free memory, including the driver's.
struct FreeBytes {
  uint64_t same_domain = 0;    // in segments of the request's pool, stream and size class
  uint64_t largest_block = 0;  // largest block of same_domain
  uint64_t releasable = 0;     // completely free segments and pages outside same_domain
  uint64_t other_stream = 0;
  uint64_t other_pool = 0;
  uint64_t other_size_class = 0;  // small pool for a large request, or large pool for a small request
  uint64_t pending = 0;           // freed by the program, but another stream may still use it
  std::optional<uint64_t> driver;

  [[nodiscard]] uint64_t all() const {
    return same_domain + releasable + other_stream + other_pool + other_size_class;
  }
};

// The live blocks of one category that have the same name or source line.
struct Holder {
  std::string title;
  std::string category;  // key of the category; "" = unknown
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

struct Autopsy {
  std::optional<Failure> failure;     // nullopt: no failure was recorded; `state` is the end of the run
  size_t number = 0;                  // number of the failure, from 1
  size_t failures = 0;                // number of failures on all examined devices
  uint64_t rounded = 0;               // size of the free block that the request needs
  uint64_t segment_bytes = 0;         // size of the segment that PyTorch would request from the driver
  std::optional<MomentAnswer> state;  // layout at the failure; nullopt if segments are unknown
  FreeBytes free;
  // Bytes of the default pool that empty_cache() would return to the driver.
  uint64_t returned = 0;
  Circumstances program;
  Verdict verdict = Verdict::kUnknown;
  Verdict of_allocator = Verdict::kUnknown;  // verdict without causes in the program
  uint64_t shortfall = 0;                    // for kTrueShortage: lower bound of the missing bytes
  uint64_t steps_more = 0;                   // for kGrowth: number of further steps that would fit at most
  std::optional<bool> reproduced;  // true: a replay with the recorded settings fails too; nullopt: not tried
  std::vector<Trial> trials;       // replays with other settings
  std::vector<SegmentAnswer> blockers;  // segments of the request's domain with free bytes
  std::vector<Holder> holders;          // groups of live blocks, most bytes first
  std::vector<std::string> reasons;     // sentences: why the free memory did not serve the request
  std::vector<std::string> advice;      // sentences: what to change, best first
  std::vector<std::string> unknown;     // sentences: facts that are not recorded
};

// Examines failure `number`, counted from 1. 0 examines the main failure, or the end of the run if nothing
// failed. Returns an error if there is no such failure.
[[nodiscard]] Result<Autopsy> Examine(const Subject& subject, const LayoutWalk& walk, size_t number);

[[nodiscard]] std::string ToJson(const Subject& subject, const Autopsy& autopsy, int indent = 2);

}  // namespace vramscope::fragmentation
