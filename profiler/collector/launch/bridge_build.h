// SPDX-License-Identifier: Apache-2.0
// Provides the deep recorder ("bridge", injector/torch/bridge) for the PyTorch that a command will load. A
// bridge must fit the installed PyTorch, because PyTorch's structures change in every release. The bridge is
// either prebuilt (prebuilt_bridge.h) or compiled once on this machine. Without a bridge, only the data of
// deep steps is missing.
//
//   ${XDG_CACHE_HOME:-~/.cache}/vramscope/bridge/
//       torch-2.15.0-<key>.so      key: bridge source, compiler, torch's headers and string ABI
//       torch-2.15.0-<key>.log     messages of a failed build, which is tried again after an hour
//       torch-2.15.0-<key>.lock    locked during the compilation; other processes wait
//       <hash>.answer              results of earlier calls (answer_cache.h)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct BridgeOptions {
  std::string source_root;      // contains injector/torch/bridge; empty = installed with this executable
  std::string cache_folder;     // empty = folder above
  std::string prebuilt_folder;  // empty = installed with this executable
  // Called before a build, and with the error if the command uses torch but no bridge can be provided.
  std::function<void(const std::string& sentence)> progress;
};

struct BridgeInfo {
  std::string path;           // file of the bridge, for the injector's option bridge=PATH
  std::string torch_version;  // "2.15.0+cu132"; empty when unknown
  std::string torch_root;     // contains include/ and lib/
  uint64_t torch_bytes = 0;   // size of libtorch_cpu.so, for the option bridge_torch_bytes=N
  bool built = false;         // true: this call has compiled the bridge
};

// Finds or builds the bridge for `command`. An error explains why deep steps will have no operators, and what
// to do. Takes 1 ms if an earlier call had the same result, 0.1 s for the first call, and 10 s for a build.
// Several processes may call this function at the same time.
Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options = {});

}  // namespace vramscope::collector
