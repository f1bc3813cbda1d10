// SPDX-License-Identifier: Apache-2.0
// Device memory of one process in the address space of another (cuIpcGetMemHandle, cuIpcOpenMemHandle).
//
//   owner:  allocation ──contents──► memfd ◄──mapped through /proc/OWNER/fd/N── addresses :other
//
// The owner's memory is backed by a file from the first handle on, and whoever opens the handle maps that
// file: what was really copied by one is seen by the other. The memory is counted for its owner alone. Where
// the file cannot be opened (other users, a process that hides its descriptors) the other sees zeros.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/abi.h"
#include "trace_format/device_use.h"

namespace vramscope::simulated {

// A file of `bytes` zeros without a name; -1 when there is none to be had.
int NamelessFile(uint64_t bytes);

class IpcMemory {
 public:
  // A handle for the allocation of cuMemAlloc that contains the address; kInvalidValue for other memory.
  int Export(uint64_t address, IpcHandle* handle);
  // The allocation's address here. Opened again, it is the same one, to be closed as often. kInvalidContext
  // in the process that made the handle, kInvalidHandle for what is none or whose process has ended.
  int Open(const IpcHandle& handle, uint64_t* address);
  int Close(uint64_t address);

  // The owner frees the allocation that begins there: who has it open keeps its contents.
  void Forget(uint64_t address);
  // The opened memory that contains the address; false when there is none.
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
