// SPDX-License-Identifier: Apache-2.0
// Reads and writes the stored re-runs (variants) of a trace. They are in the trace itself or in a file next
// to it.
//
//   run.vms            blocks of type 11 (trace_format/append_variant.h)
//   run.vms.variants   a trace without events; used if run.vms is read-only, incomplete, or of another user
#pragma once

#include <string>
#include <vector>

#include "profiler/experiment/question.h"
#include "profiler/model/source.h"
#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

// Returns the trace of the variant `key`; empty if there is none. A file next to `path` is used only if it
// belongs to the recording `source`.
[[nodiscard]] trace::Bytes FindVariant(const model::Source& source, const std::string& path,
                                       const std::string& key);

// A stored variant, and the changes for which `vramscope whatif` uses it.
struct KeptVariant {
  std::string key;
  std::vector<whatif::Asked> changes;  // empty = the unchanged program
  std::string gpu;
};
// Returns the variants in `source` and in the file next to `path`. Variants of the recorded GPU come first;
// each group is ordered by GPU and key. Variants that `vramscope whatif` does not use are left out: variants
// with other allocator settings or another world size, and variants with a change that a transformation
// predicts.
[[nodiscard]] std::vector<KeptVariant> KeptVariants(const model::Source& source, const std::string& path);

// Stores the variant. Returns the path of the file that contains it. If an error is returned, no variant was
// stored.
Result<std::string> KeepVariant(const model::Source& source, const std::string& path, const std::string& key,
                                trace::ByteView variant);

// Returns the path of the file next to the trace: "run.vms.variants".
[[nodiscard]] std::string FileBeside(const std::string& path);

}  // namespace vramscope::experiment
