// SPDX-License-Identifier: Apache-2.0
// CUDA IPC memory: maps device memory of one process into another process (cuIpcGetMemHandle,
// cuIpcOpenMemHandle).
//
//   owner process                               other process
//   allocation ──contents──► unnamed file ◄──── address range that maps /proc/OWNER/fd/N
//
// When the owner creates the first handle, its memory becomes backed by a file. A process that opens the
// handle maps the same file, so each process sees the data that the other one writes. The memory is counted
// for its owner only. If the other process may not open the file (another user), it reads zeros.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/abi.h"
#include "trace_format/device_use.h"

namespace vramscope::simulated {

// Returns the descriptor of a new unnamed file with `bytes` zeros; -1 on failure.
int NamelessFile(uint64_t bytes);

class IpcMemory {
 public:
  // Stores a handle for the cuMemAlloc allocation at the address. Returns kInvalidValue for other memory.
  int Export(uint64_t address, IpcHandle* handle);
  // Stores the address of the allocation in this process. Opening a handle again returns the same address,
  // which must be closed as often as it was opened. Returns kInvalidContext in the process that created the
  // handle. Returns kInvalidHandle for invalid handles and if the owner process has ended.
  int Open(const IpcHandle& handle, uint64_t* address);
  int Close(uint64_t address);

  // Call when the owner frees the allocation. Processes that have opened the handle keep the contents.
  void Forget(uint64_t address);
  // Stores begin and size of the opened memory that contains the address. False if there is none.
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
