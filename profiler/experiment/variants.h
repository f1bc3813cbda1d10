// SPDX-License-Identifier: Apache-2.0
// The re-runs that were kept: in the trace itself, or beside it where the trace cannot be added to.
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

// The trace of the variant; empty: it was not kept. What lies beside `path` counts only when it was made for
// the recording that `source` is.
[[nodiscard]] trace::Bytes FindVariant(const model::Source& source, const std::string& path,
                                       const std::string& key);

// One that answers: `vramscope whatif` finds it for these changes.
struct KeptVariant {
  std::string key;
  std::vector<whatif::Asked> changes;  // none: the program as it is, run again
  std::string gpu;
};
// All of `source` and of the file beside `path`, those of the recorded GPU first, then by their keys. Left
// out is what no question leads to: other settings of the allocator than the recorded ones, and changes that
// a transformation answers unless --by asks for a re-run.
[[nodiscard]] std::vector<KeptVariant> KeptVariants(const model::Source& source, const std::string& path);

// Keeps it; returns the file that has it now. An error: nowhere; nothing has changed then.
Result<std::string> KeepVariant(const model::Source& source, const std::string& path, const std::string& key,
                                trace::ByteView variant);

// "run.vms.variants"
[[nodiscard]] std::string FileBeside(const std::string& path);

}  // namespace vramscope::experiment
