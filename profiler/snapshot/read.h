// SPDX-License-Identifier: Apache-2.0
// Reads PyTorch's memory snapshots: pickles of protocols 1 to 5, and JSON from PyTorch's memory viewer. The
// files may be compressed as .gz or .zst.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// Reads a snapshot. The file may come from an untrusted source. Returns an error if the file is not a
// snapshot, is truncated or damaged, or contains more than plain data. The error contains the file name and
// the byte position. Needs 40 bytes of memory per event, and at most twice the unpacked size plus 64 MiB.
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> Read(const std::string& path);
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadBytes(std::span<const uint8_t> bytes,
                                                                const std::string& name);

// Returns true if the file begins like a snapshot (a pickle, JSON, or compressed data). Returns false for
// traces and for files that cannot be read.
[[nodiscard]] bool LooksLikeSnapshot(const std::string& path);

}  // namespace vramscope::snapshot
