// SPDX-License-Identifier: Apache-2.0
// The simulated GPU memory that each process of a run has taken. It is a table in a file that all of them
// map.
//
// Each process sees what the others have taken. The collector reads the peak over all processes.
//
//   lock │ process 0: who, bytes on each device │ process 1 │ ...        written by that process alone
//        │ device 0: peak, who had what of it   │ device 1  │ ...        written under the lock
//
// A file of zeros is a valid, empty table. The next process that looks frees what an ended process had taken.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::trace {

// The environment variable with the file's name.
inline constexpr char kDeviceUseVariable[] = "VRAMSCOPE_SIMULATED_SHARED";
inline constexpr int kMostSharedDevices = 16;
inline constexpr uint32_t kMostSharingProcesses = 1024;

// Identifies a process, even after its pid was reused. 0 = nobody.
struct SharingProcess {
  uint32_t pid;
  uint32_t started;  // low bits of field 22 of /proc/PID/stat: clock ticks since boot

  bool operator==(const SharingProcess&) const = default;
};

struct ProcessUse {
  SharingProcess process;
  uint64_t live_bytes[kMostSharedDevices];
};

// A process's share of the peak of a device.
struct PeakShare {
  SharingProcess process;
  uint64_t bytes;
};

struct DeviceUse {
  uint64_t peak_bytes;  // most bytes at one time, by all processes
  uint32_t share_count;
  PeakShare shares[kMostSharingProcesses];  // each process's part of the peak
};

struct DeviceUseTable {
  std::atomic<uint64_t> lock;  // pid and start of its holder as one number; 0 = free
  uint32_t process_count;      // entries of `processes` that were ever used
  ProcessUse processes[kMostSharingProcesses];
  DeviceUse devices[kMostSharedDevices];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace vramscope::trace
