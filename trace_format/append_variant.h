// SPDX-License-Identifier: Apache-2.0
// Appends a stored re-run (a variant, see docs/glossary.md) to a finished trace file, without writing the
// whole file again.
//
//   ... │ index │ trailer │ variant │ index │ trailer
//   └──── unchanged ──────┘└────── one write ───────┘
//
// The new index lists the old blocks of the file and the variant. The old index and the old trailer are no
// longer used.
//
// The file is not rewritten because it may have gigabytes, and because other programs may have mapped it. If
// the process is killed during the write, the file ends in a truncated block. Readers still find all old
// blocks, and the next variant overwrites the truncated block.
#pragma once

#include <string>
#include <string_view>

#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::trace {

// `trace` is a complete trace of at most kMaxVariantBytes. If the file is not writable, has no trailer or is
// damaged, AppendVariant returns an error and changes nothing. If several callers append to one file, they
// wait for each other.
Status AppendVariant(const std::string& path, std::string_view key, ByteView trace);

}  // namespace vramscope::trace
