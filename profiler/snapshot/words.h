// SPDX-License-Identifier: Apache-2.0
// The dict keys and string constants of PyTorch's snapshots, as numbers.
//
// PyTorch: torch/csrc/cuda/Module.cpp and torch/csrc/cuda/memory_snapshot.cpp, 1.13 to 2.15.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::snapshot {

enum class Word : uint8_t {
  kOther,
  // keys
  kSegments,
  kDeviceTraces,
  kAllocatorSettings,
  kExternalAnnotations,
  kHostSegments,
  kHostTraces,
  kAction,
  kAddr,
  kDeviceFree,
  kSize,
  kStream,
  kTimeUs,
  kFrames,
  kCompileContext,
  kUserMetadata,
  kPoolId,
  kDevice,
  kAddress,
  kTotalSize,
  kAllocatedSize,
  kActiveSize,
  kRequestedSize,
  kSegmentType,
  kSegmentPoolId,
  kIsExpandable,
  kBlocks,
  kState,
  kHistory,
  kRealSize,
  kFilename,
  kLine,
  kName,
  kStage,
  // actions, in PyTorch's order
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOom,
  kAnnotate,
  // states and others
  kActiveAllocated,
  kActivePendingFree,
  kActiveAwaitingFree,
  kInactive,
  kSmall,
  kLarge,
  kStart,
  kEnd,
  kCount,
};

Word WordOf(std::string_view text);

}  // namespace vramscope::snapshot
