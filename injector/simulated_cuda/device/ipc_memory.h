// SPDX-License-Identifier: Apache-2.0
// Device memory of one process in the address space of another (cuIpcGetMemHandle, cuIpcOpenMemHandle).
//
//   owner:  allocation ──contents──► memfd ◄──mapped through /proc/OWNER/fd/N── addresses :other
//
// From the first handle on, a file backs the owner's memory. A process that opens the handle maps the file:
// each sees what the other copies there. The memory counts for its owner only. If the file cannot be opened
// (another user), the other process sees zeros.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/abi.h"
#include "trace_format/device_use.h"

namespace vramscope::simulated {

// An unnamed file of `bytes` zeros; -1 on failure.
int NamelessFile(uint64_t bytes);

class IpcMemory {
 public:
  // A handle for the cuMemAlloc allocation at the address; kInvalidValue for other memory.
  int Export(uint64_t address, IpcHandle* handle);
  // The allocation's address in this process. Opening again returns the same address. Close it as often as it
  // was opened. kInvalidContext in the handle's own process. kInvalidHandle if it is no handle or its process
  // has ended.
  int Open(const IpcHandle& handle, uint64_t* address);
  int Close(uint64_t address);

  // Call when the owner frees the allocation. Processes that have it open keep its contents.
  void Forget(uint64_t address);
  // The opened memory that contains the address; false if there is none.
  bool Find(uint64_t address, uint64_t* begin, uint64_t* bytes);

 private:
  struct Exported {
    int file;
    uint64_t bytes;
  };
  struct Opened {
    trace::SharingProcess owner;
    uint64_t inode;
    int device;
    uint64_t bytes;
    uint32_t references;
  };

  std::mutex mutex_;
  std::map<uint64_t, Exported> exported_;
  std::map<uint64_t, Opened> opened_;
};

IpcMemory& TheIpcMemory();

}  // namespace vramscope::simulated
