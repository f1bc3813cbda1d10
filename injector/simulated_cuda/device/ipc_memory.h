// SPDX-License-Identifier: Apache-2.0
// Device memory of one process in the address space of another (cuIpcGetMemHandle, cuIpcOpenMemHandle).
//
//   owner:  allocation ──contents──► memfd ◄──mapped through /proc/OWNER/fd/N── addresses :other
//
// From the first handle on, a file backs the owner's memory. A process that opens the handle maps that file,
// so each sees what the other really copied. The memory counts only for its owner. Where the file cannot be
// opened (other users, a process that hides its descriptors), the other process sees zeros.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/abi.h"
#include "trace_format/device_use.h"

namespace vramscope::simulated {

// An unnamed file of `bytes` zeros; -1 if it cannot be created.
int NamelessFile(uint64_t bytes);

class IpcMemory {
 public:
  // A handle for the cuMemAlloc allocation that contains the address; kInvalidValue for other memory.
  int Export(uint64_t address, IpcHandle* handle);
  // The allocation's address in this process. Opening it again returns the same address, which must then be
  // closed as many times. kInvalidContext in the process that made the handle; kInvalidHandle if it is not a
  // handle or its process has ended.
  int Open(const IpcHandle& handle, uint64_t* address);
  int Close(uint64_t address);

  // The owner frees the allocation that begins there. Processes that have it open keep its contents.
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
