// SPDX-License-Identifier: Apache-2.0
// The re-runs that people ask for most, made before they ask: autocast in bf16 and fp16, 16 bits throughout,
// half the batch.
#pragma once

#include <string>
#include <vector>

namespace vramscope::cli {

// Who makes them after a dry run, and when.
enum class UsualVariants {
  kNone,
  kBehind,  // a process of its own, which goes on when the command has ended
  kNow,     // the command, before it ends
};

// VRAMSCOPE_VARIANTS=none turns kBehind off, for machines where no process may stay behind.
[[nodiscard]] bool MayWorkBehind();

// The programs of this command are run again with the Python that it starts, unless VRAMSCOPE_PYTHON names
// one.
void UsePythonOf(const std::vector<std::string>& command);

// Starts `vramscope whatif PATH` with these changes, at the lowest priority, and does not wait for it. What
// it makes is kept in the trace. It writes to no terminal; when it fails, a question asks anew and is told
// why.
void MakeUsualVariantsBehind(const std::string& path);

// Says on stderr what it does, and what cannot be made.
void MakeUsualVariantsNow(const std::string& path);

}  // namespace vramscope::cli
