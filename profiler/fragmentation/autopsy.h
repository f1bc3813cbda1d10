// SPDX-License-Identifier: Apache-2.0
// The autopsy of a failed request: why the free memory did not serve the request, the verdict with its proof,
// the responsible tensors, and the advice.
//
// The program's own causes take precedence. Otherwise the verdict is what the allocator could have done:
//
//   could have served it        verdict
//   what grew                   growth                and how many more steps would fit
//   what failed steps left      failed_steps          a caught exception holds it
//   a free block                fits_free_block       PyTorch searched too early
//   driver + free segments      empty_cache           gives completely free segments back to the driver
//   another setting             setting               with it, the allocator model serves the request
//   all free bytes in one piece stitchable
//   nothing                     true_shortage         `shortfall` is the number of missing bytes
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

// The places of the free bytes that did not serve the request. The sum without `largest_block` and `pending`
// is all free memory, including the driver's.
struct FreeBytes {
  uint64_t same_domain = 0;    // in the request's pool, stream and size class
  uint64_t largest_block = 0;  // largest block of same_domain
  uint64_t releasable = 0;     // completely free segments and pages elsewhere
  uint64_t other_stream = 0;
  uint64_t other_pool = 0;
  uint64_t other_size_class = 0;  // small pool for a large request, or the reverse
  uint64_t pending = 0;           // freed, but in use by another stream
  std::optional<uint64_t> driver;

  [[nodiscard]] uint64_t all() const {
    return same_domain + releasable + other_stream + other_pool + other_size_class;
  }
};

// Blocks of one category with the same name or source line.
struct Holder {
  std::string title;
  std::string category;  // a key; "" = unknown
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

struct Autopsy {
  std::optional<Failure> failure;     // empty: no failure was recorded, the state is at the end
  size_t number = 0;                  // 1-based
  size_t failures = 0;                // on all devices in question
  uint64_t rounded = 0;               // required size of a free block
  uint64_t segment_bytes = 0;         // size requested from the driver
  std::optional<MomentAnswer> state;  // empty: segments unknown
  FreeBytes free;
  // Bytes that empty_cache() would give back to the driver from the default pool.
  uint64_t returned = 0;
  Circumstances program;
  Verdict verdict = Verdict::kUnknown;
  Verdict of_allocator = Verdict::kUnknown;  // without the program's own causes
  uint64_t shortfall = 0;                    // for kTrueShortage: missing bytes, at least
  uint64_t steps_more = 0;                   // for kGrowth: further steps that would fit
  std::optional<bool> reproduced;  // true: the model with the recorded settings fails too; empty: not tried
  std::vector<Trial> trials;       // of other settings
  std::vector<SegmentAnswer> blockers;  // segments of the request's domain with free bytes
  std::vector<Holder> holders;          // of all live memory, largest first
  std::vector<std::string> reasons;     // why free memory did not serve the request, by kind
  std::vector<std::string> advice;      // what to change, best first
  std::vector<std::string> unknown;     // facts that are not recorded
};

// Examines failure `number` (1-based). 0 = the main failure, or the end if nothing failed. Fails if there is
// no such failure.
[[nodiscard]] Result<Autopsy> Examine(const Subject& subject, const LayoutWalk& walk, size_t number);

[[nodiscard]] std::string ToJson(const Subject& subject, const Autopsy& autopsy, int indent = 2);

}  // namespace vramscope::fragmentation
