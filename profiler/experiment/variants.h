// SPDX-License-Identifier: Apache-2.0
// The stored variants: in the trace itself, or in a file next to it.
//
//   run.vms            blocks of type 11 (trace_format/append_variant.h)
//   run.vms.variants   a trace without events, if run.vms is read-only, another account's, or incomplete
#pragma once

#include <string>
#include <vector>

#include "profiler/experiment/question.h"
#include "profiler/model/source.h"
#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

// The trace of the variant; empty if there is none. A file next to `path` counts only if it belongs to the
// recording `source`.
[[nodiscard]] trace::Bytes FindVariant(const model::Source& source, const std::string& path,
                                       const std::string& key);

// A variant that `vramscope whatif` uses for these changes.
struct KeptVariant {
  std::string key;
  std::vector<whatif::Asked> changes;  // none: the unchanged program
  std::string gpu;
};
// All variants in `source` and in the file next to `path`: those of the recorded GPU first, then by key.
// Variants that no question can reach are left out: those with other allocator settings, or with a change
// that a transformation answers.
[[nodiscard]] std::vector<KeptVariant> KeptVariants(const model::Source& source, const std::string& path);

// Stores the variant and returns the file that contains it. On an error, nothing has changed.
Result<std::string> KeepVariant(const model::Source& source, const std::string& path, const std::string& key,
                                trace::ByteView variant);

// "run.vms.variants"
[[nodiscard]] std::string FileBeside(const std::string& path);

}  // namespace vramscope::experiment
