// SPDX-License-Identifier: Apache-2.0
// The autopsy of a failed request. It reports the request, the free memory and why it did not serve the
// request, the verdict with its proof in bytes and by replay, the responsible tensors, and the advice.
//
// The program's own causes take precedence: if it keeps memory from every step, or from failed steps, memory
// runs out with any allocator setting. Otherwise the verdict is what the allocator could have done:
//
//   could have served it        verdict
//   what grew                   growth                and how many steps any setting could add
//   what failed steps left      failed_steps          a caught exception holds it
//   a free block                fits_free_block       PyTorch searched too early
//   driver + free segments      empty_cache           it gives completely free segments back to the driver
//   another setting             setting               proved: with it, the allocator model serves the request
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

// The places of the free bytes that did not serve the request. The sum of the members, without
// `largest_block` and `pending`, is all free memory, including the driver's.
struct FreeBytes {
  uint64_t same_domain = 0;    // in segments of the request's pool, stream and size class
  uint64_t largest_block = 0;  // the largest block among them
  uint64_t releasable = 0;     // completely free segments and pages elsewhere: empty_cache returns them
  uint64_t other_stream = 0;
  uint64_t other_pool = 0;
  uint64_t other_size_class = 0;  // the small pool for a large request, the large pool for a small one
  uint64_t pending = 0;           // freed, but in use by another stream; not free
  std::optional<uint64_t> driver;

  [[nodiscard]] uint64_t all() const {
    return same_domain + releasable + other_stream + other_pool + other_size_class;
  }
};

// Blocks of one category with the same name, or else allocated at the same source line.
struct Holder {
  std::string title;
  std::string category;  // a key; "" = unknown
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

struct Autopsy {
  std::optional<Failure> failure;     // empty: no failure was recorded; the state is that at the end
  size_t number = 0;                  // 1-based number of the failure
  size_t failures = 0;                // in the file, on all devices in question
  uint64_t rounded = 0;               // size that a free block must have
  uint64_t segment_bytes = 0;         // size requested from the driver
  std::optional<MomentAnswer> state;  // empty: the segments are unknown
  FreeBytes free;
  // Bytes that the driver gets if all completely free segments and pages of the default pool are given back.
  uint64_t returned = 0;
  Circumstances program;
  Verdict verdict = Verdict::kUnknown;
  Verdict of_allocator = Verdict::kUnknown;  // the verdict without the program's own causes
  uint64_t shortfall = 0;                    // for a true shortage: at least this much more was needed
  uint64_t steps_more = 0;                   // for growth: further steps that would fit without fragmentation
  std::optional<bool> reproduced;  // true: the model with the recorded settings fails too; empty: not tried
  std::vector<Trial> trials;       // of other settings
  std::vector<SegmentAnswer> blockers;  // segments of the request's domain with free bytes
  std::vector<Holder> holders;          // of all live memory, largest first
  std::vector<std::string> reasons;     // why each kind of free memory did not serve, one sentence each
  std::vector<std::string> advice;      // what to change, best first
  std::vector<std::string> unknown;     // what the file does not record
};

// Examines failure `number` of the subject (from 1); 0 = its main failure, or the end if nothing failed.
// Fails if there is no such failure.
[[nodiscard]] Result<Autopsy> Examine(const Subject& subject, const LayoutWalk& walk, size_t number);

[[nodiscard]] std::string ToJson(const Subject& subject, const Autopsy& autopsy, int indent = 2);

}  // namespace vramscope::fragmentation
