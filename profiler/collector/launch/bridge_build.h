// SPDX-License-Identifier: Apache-2.0
// Provides the deep recorder ("bridge", injector/torch/bridge) for the torch that a command will load. The
// bridge is prebuilt (prebuilt_bridge.h), or compiled once per torch, because PyTorch's structures change in
// every release. Without a bridge, only the data of deep steps is missing.
//
//   ${XDG_CACHE_HOME:-~/.cache}/vramscope/bridge/
//       torch-2.15.0-<key>.so      key: bridge source, compiler, torch's headers and string ABI
//       torch-2.15.0-<key>.log     messages of a failed build; tried again after an hour
//       torch-2.15.0-<key>.lock    held while compiling; others wait
//       <hash>.answer              answers of earlier calls (answer_cache.h)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct BridgeOptions {
  std::string source_root;      // holds injector/torch/bridge; empty: the one installed with this executable
  std::string cache_folder;     // empty: as above
  std::string prebuilt_folder;  // empty: the one installed with this executable
  // Called before a build, and with the error if the command uses torch but no bridge can be provided.
  std::function<void(const std::string& sentence)> progress;
};

struct BridgeInfo {
  std::string path;           // of the library, for the injector's option bridge=PATH
  std::string torch_version;  // "2.15.0+cu132"; empty when unknown
  std::string torch_root;     // contains include/ and lib/
  uint64_t torch_bytes = 0;   // of its libtorch_cpu.so, for the injector's option bridge_torch_bytes=N
  bool built = false;         // by this call
};

// An error explains why deep steps will have no operators, and what to do. Takes 1 ms if the bridge is known,
// 0.1 s the first time, 10 s to build. Safe to call from several processes.
Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options = {});

}  // namespace vramscope::collector
