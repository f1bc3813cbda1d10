// SPDX-License-Identifier: Apache-2.0
// Reads PyTorch's memory snapshots: pickles of protocols 1 to 5, and the viewer's JSON; also as .gz and .zst.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// The file may contain anything. Refuses files that are no snapshot, not plain data, cut off or damaged. The
// error names the file and the byte. Takes 40 bytes of memory per event, at most twice the unpacked size plus
// 64 MiB.
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> Read(const std::string& path);
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadBytes(std::span<const uint8_t> bytes,
                                                                const std::string& name);

// True if the file begins like a snapshot (a pickle, JSON, or compressed data). False for traces and
// unreadable files.
[[nodiscard]] bool LooksLikeSnapshot(const std::string& path);

}  // namespace vramscope::snapshot
