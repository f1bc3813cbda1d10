// SPDX-License-Identifier: Apache-2.0
// Adds a re-run (a variant) to a closed trace, without writing the trace again.
//
//   ... │ index │ trailer │ variant │ index │ trailer
//   └──── as it was ──────┘└────── one write ───────┘
//
// The new index lists the old blocks and the variant. The old index and trailer are unused.
//
// A trace may be gigabytes long, and other programs may have it mapped. If the process is killed, the file
// ends in a truncated block. Readers still find all old blocks, and the next variant overwrites the truncated
// one.
#pragma once

#include <string>
#include <string_view>

#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::trace {

// `trace`: a whole trace of at most kMaxVariantBytes. Fails without a change if the file is not writable, has
// no trailer or is damaged. Concurrent callers wait for each other.
Status AppendVariant(const std::string& path, std::string_view key, ByteView trace);

}  // namespace vramscope::trace
