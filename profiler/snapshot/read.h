// SPDX-License-Identifier: Apache-2.0
// Reads memory snapshots of PyTorch: pickles of protocols 1 to 5, and the JSON that its viewer accepts; also
// as .gz and .zst.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// The file may contain anything. A file is refused if it is not a snapshot, contains more than plain data, is
// cut off or is damaged; the error sentence names the file and the byte. Takes 40 bytes per event, and never
// more than twice the file's (unpacked) size plus 64 MiB.
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> Read(const std::string& path);
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadBytes(std::span<const uint8_t> bytes,
                                                                const std::string& name);

// True if the file begins like a snapshot (a pickle, JSON, or compressed data) and not like a trace. False if
// it cannot be read. For RunFile, which keeps the answer.
[[nodiscard]] bool LooksLikeSnapshot(const std::string& path);

}  // namespace vramscope::snapshot
