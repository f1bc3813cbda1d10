// SPDX-License-Identifier: Apache-2.0
// A table of the simulated GPU memory that each process of a run has taken. The table is a file that all
// processes map into their memory.
//
// Each process sees the memory that other processes have taken. The collector reads the peak over all
// processes.
//
//   lock │ process 0: identity, bytes on each device    │ process 1 │ ...   only this process writes here
//        │ device 0: peak, bytes of each process at it  │ device 1  │ ...   written under the lock
//
// A file of zeros is a valid, empty table. If a process has ended without freeing its memory, the next
// process that reads the table frees it.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::trace {

// The environment variable with the file's name.
inline constexpr char kDeviceUseVariable[] = "VRAMSCOPE_SIMULATED_SHARED";
inline constexpr int kMostSharedDevices = 16;
inline constexpr uint32_t kMostSharingProcesses = 1024;

// Identifies a process, even if its pid is used again later. 0 = no process.
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
  uint64_t peak_bytes;                      // most bytes at one time, by all processes
  uint32_t share_count;                     // number of valid entries in `shares`
  PeakShare shares[kMostSharingProcesses];  // bytes of each process at the peak
};

struct DeviceUseTable {
  std::atomic<uint64_t> lock;  // pid and start time of the process that holds the lock; 0 = free
  uint32_t process_count;      // entries of `processes` that were ever used
  ProcessUse processes[kMostSharingProcesses];
  DeviceUse devices[kMostSharedDevices];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared between processes");

}  // namespace vramscope::trace
