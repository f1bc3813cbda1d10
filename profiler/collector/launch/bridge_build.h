// SPDX-License-Identifier: Apache-2.0
// Provides the deep recorder ("bridge", injector/torch/bridge) for the torch that a command will load. It
// comes with vramscope (prebuilt_bridge.h), or is compiled once per torch and then taken from a cache.
//
// Why compile on the user's machine: the structures that the bridge reads (RecordFunction, TensorImpl, Node)
// change their layout in every torch release. Only that release's headers define it, and every wheel contains
// them. With neither a prebuilt bridge nor a compiler, everything works except the data of deep steps.
//
//   ${XDG_CACHE_HOME:-~/.cache}/vramscope/bridge/
//       torch-2.15.0-<key>.so      key: bridge source, compiler, torch's headers and string ABI
//       torch-2.15.0-<key>.log     the compiler's messages if it failed; tried again after an hour
//       torch-2.15.0-<key>.lock    held while compiling; others wait and find the result
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
  // Called before a build ("Building the deep recorder for torch 2.15.0 once; this takes about 10 s."). Also
  // called with the error sentence if the command uses torch but there is no bridge.
  std::function<void(const std::string& sentence)> progress;
};

struct BridgeInfo {
  std::string path;           // of the library, for the injector's option bridge=PATH
  std::string torch_version;  // "2.15.0+cu132"; empty when unknown
  std::string torch_root;     // the folder with include/ and lib/
  uint64_t torch_bytes = 0;   // of its libtorch_cpu.so, for the injector's option bridge_torch_bytes=N
  bool built = false;         // by this call
};

// An error is one sentence: why deep steps will have no operators, and what to do (no torch found, no
// compiler, no headers, a failed build and its log). Takes 1 ms if the bridge was found before, 0.1 s the
// first time, 10 s to build. Safe to call from several processes.
Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options = {});

}  // namespace vramscope::collector
