// SPDX-License-Identifier: Apache-2.0
// Has the deep recorder ("bridge", injector/torch/bridge) ready for the torch that a command will load:
// compiled once per torch, then taken from a cache.
//
// Why compile on the user's machine: what the bridge reads (RecordFunction, TensorImpl, Node) has another
// layout in every torch release, and only that release's headers know it; every wheel brings them. Without a
// compiler everything works except the deep facts.
//
//   ${XDG_CACHE_HOME:-~/.cache}/vramscope/bridge/
//       torch-2.15.0-<key>.so      key: bridge source, compiler, torch's headers and library
//       torch-2.15.0-<key>.log     the compiler's words when it failed: tried again after an hour
//       torch-2.15.0-<key>.lock    held while compiling; others wait and find the result
//       <hash>.answer              what was found out before (remembered.h)
#pragma once

#include <functional>
#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct BridgeOptions {
  std::string source_root;   // holds injector/torch/bridge; empty: what belongs to this executable
  std::string cache_folder;  // empty: as above
  // Called before a wait of more than a moment, "Building the deep recorder for torch 2.15.0, once, about 10
  // s.", and with the sentence of an error if the command does use torch.
  std::function<void(const std::string& sentence)> progress;
};

struct BridgeInfo {
  std::string path;           // of the library, for the injector's option bridge=PATH
  std::string torch_version;  // "2.15.0+cu132"; empty when unknown
  std::string torch_root;     // the folder with include/ and lib/
  bool built = false;         // by this call
};

// An error says in one sentence why deep steps will have no operators, and what to do: no torch found, no
// compiler, no headers, a failed build and where its log is. Takes 1 ms when the bridge was found there
// before, 0.1 s the first time, 10 s when it must be built. Safe to call from several processes.
Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options = {});

}  // namespace vramscope::collector
