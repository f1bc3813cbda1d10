// SPDX-License-Identifier: Apache-2.0
// Computes what a damaged, truncated or unfinished trace has lost, in numbers and as one sentence.
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
  uint64_t events_lost = 0;  // lower bound if the file is truncated
  std::string sentence;      // "" if nothing is missing
};

// A block or a gap of the file, with the state that the reader found.
struct Stretch {
  enum class State { kReadable, kDamaged, kNewer };

  uint64_t offset = 0;
  uint64_t bytes = 0;
  State state = State::kReadable;
  std::optional<BlockHeader> header;  // if the stretch is a block
};

struct DamageFacts {
  std::string name;  // name of the file, for the sentence
  uint64_t file_bytes = 0;
  bool header_damaged = false;
  bool has_index = false;
  std::optional<Trailer> trailer;
  std::vector<Stretch> stretches;  // all blocks and gaps, ordered by offset
};

Damage AssessDamage(const DamageFacts& facts);

}  // namespace vramscope::trace
