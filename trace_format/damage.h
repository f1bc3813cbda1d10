// SPDX-License-Identifier: Apache-2.0
// The losses of a damaged, truncated or unfinished trace, in numbers and one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace_format/block_map.h"

namespace vramscope::trace {

struct Damage {
  bool closed_cleanly = true;  // the recorder wrote the end of the file
  uint64_t bytes_unreadable = 0;
  uint64_t blocks_unreadable = 0;  // damaged blocks and other unreadable stretches
  uint64_t events_readable = 0;
  uint64_t events_lost = 0;  // known to be missing; more if the file is truncated
  std::string sentence;      // empty when nothing is missing
};

// A stretch of a file as the reader found it.
struct Stretch {
  enum class State { kReadable, kDamaged, kNewer };

  uint64_t offset = 0;
  uint64_t bytes = 0;
  State state = State::kReadable;
  std::optional<BlockHeader> header;  // if the stretch is a block
};

struct DamageFacts {
  std::string name;  // of the file, for the sentence
  uint64_t file_bytes = 0;
  bool header_damaged = false;
  bool has_index = false;
  std::optional<Trailer> trailer;
  std::vector<Stretch> stretches;  // all blocks and gaps, ascending
};

Damage AssessDamage(const DamageFacts& facts);

}  // namespace vramscope::trace
