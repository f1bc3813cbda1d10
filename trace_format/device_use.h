// SPDX-License-Identifier: Apache-2.0
// How much of each simulated GPU the processes of one run have taken: a table in a file that all of them map.
//
// Why: on a machine with a GPU its memory is shared by whoever runs there. The table lets a process see what
// the others have taken, survives the processes that are killed, and tells the collector the peak of all
// together.
//
//   lock │ process 0: who, bytes on each device │ process 1 │ ...        written by that process alone
//        │ device 0: peak, who had what of it   │ device 1  │ ...        written under the lock
//
// A file of zeros is a table in which nothing is taken, so whoever comes first need not prepare it, and nobody
// has to tidy up: what a process had taken that is gone is freed by the next one that looks.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::trace {

// The file's name, in the environment of every process of the run.
inline constexpr char kDeviceUseVariable[] = "VRAMSCOPE_SIMULATED_SHARED";
inline constexpr int kMostSharedDevices = 16;
inline constexpr uint32_t kMostSharingProcesses = 1024;

// Who a process is, also when its number is used again: 0 = nobody.
struct SharingProcess {
  uint32_t pid;
  uint32_t started;  // the low bits of field 22 of /proc/PID/stat: clock ticks since boot

  bool operator==(const SharingProcess&) const = default;
};

struct ProcessUse {
  SharingProcess process;
  uint64_t live_bytes[kMostSharedDevices];
};

// A process's part of the peak of a device.
struct PeakShare {
  SharingProcess process;
  uint64_t bytes;
};

struct DeviceUse {
  uint64_t peak_bytes;  // most that was taken at one time, by all processes together
  uint32_t share_count;
  PeakShare shares[kMostSharingProcesses];  // at that time
};

struct DeviceUseTable {
  std::atomic<uint64_t> lock;  // pid and start of the process that holds it, as one number; 0 = free
  uint32_t process_count;      // entries of `processes` that were ever used
  ProcessUse processes[kMostSharingProcesses];
  DeviceUse devices[kMostSharedDevices];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace vramscope::trace
