// SPDX-License-Identifier: Apache-2.0
// Reads memory snapshots of PyTorch: pickles of protocols 1 to 5, and the JSON that its viewer takes; also as
// .gz and .zst.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// The file may be anything: what is no snapshot, asks for more than plain data, is cut off or damaged is
// refused with a sentence that names the file and the byte. Takes 40 bytes an event, and never more than
// twice the file's (unpacked) size and 64 MiB.
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> Read(const std::string& path);
[[nodiscard]] Result<std::shared_ptr<const Snapshot>> ReadBytes(std::span<const uint8_t> bytes,
                                                                const std::string& name);

// Whether the file begins like a snapshot (a pickle, JSON, or packed data) and not like a trace. False when
// it cannot be read.
[[nodiscard]] bool LooksLikeSnapshot(const std::string& path);

}  // namespace vramscope::snapshot
