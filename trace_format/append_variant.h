// SPDX-License-Identifier: Apache-2.0
// Adds a re-run (a variant) to a closed trace, without writing the trace again.
//
//   ... │ index │ trailer │ variant │ index │ trailer
//   └──── as it was ──────┘└────── one write ───────┘
//
// The new index lists the old blocks and the variant. Nothing refers to the old index and trailer any more.
//
// Why at the end and not in a new file: a trace may be gigabytes long, and other programs may have it mapped.
// If the process is killed half way, the file ends in a truncated block. Readers find everything that was
// there before, and the next variant overwrites the truncated block.
#pragma once

#include <string>
#include <string_view>

#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::trace {

// `trace` is a whole trace of at most kMaxVariantBytes. Fails and leaves the file as it was if the file
// cannot be written, has no trailer (a recorder was killed or still writes) or is damaged. Programs that
// append to the same file at the same time wait for each other.
Status AppendVariant(const std::string& path, std::string_view key, ByteView trace);

}  // namespace vramscope::trace
