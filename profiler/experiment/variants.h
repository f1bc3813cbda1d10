// SPDX-License-Identifier: Apache-2.0
// The kept re-runs: in the trace itself, or in a file next to it if the trace cannot be extended.
//
//   run.vms            blocks of type 11 (trace_format/append_variant.h)
//   run.vms.variants   a trace without events that holds them, for a run.vms that is read-only, another
//                      account's, or was never closed
#pragma once

#include <string>
#include <vector>

#include "profiler/experiment/question.h"
#include "profiler/model/source.h"
#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

// The trace of the variant; empty: none was kept. A file next to `path` counts only if it was made for the
// recording `source`.
[[nodiscard]] trace::Bytes FindVariant(const model::Source& source, const std::string& path,
                                       const std::string& key);

// A kept re-run that `vramscope whatif` uses as the answer for these changes.
struct KeptVariant {
  std::string key;
  std::vector<whatif::Asked> changes;  // none: a re-run of the unchanged program
  std::string gpu;
};
// All variants in `source` and in the file next to `path`: first those of the recorded GPU, then by key. Left
// out are variants that no question can reach: those with other allocator settings than the recorded ones,
// and those with a change that a transformation answers (a re-run answers it only with --by).
[[nodiscard]] std::vector<KeptVariant> KeptVariants(const model::Source& source, const std::string& path);

// Keeps the trace; returns the file that now contains it. On an error, nothing has changed.
Result<std::string> KeepVariant(const model::Source& source, const std::string& path, const std::string& key,
                                trace::ByteView variant);

// "run.vms.variants"
[[nodiscard]] std::string FileBeside(const std::string& path);

}  // namespace vramscope::experiment
