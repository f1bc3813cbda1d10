// SPDX-License-Identifier: Apache-2.0
// The most common re-runs, prepared before anybody asks: autocast in bf16 and fp16, all values in 16 bits,
// half the batch.
#pragma once

#include <string>
#include <vector>

namespace vramscope::cli {

// False if VRAMSCOPE_VARIANTS=none: no re-runs in the background, for machines where no process may remain.
[[nodiscard]] bool MayWorkBehind();

// Re-runs will use the Python that this command starts, unless VRAMSCOPE_PYTHON is set.
void UsePythonOf(const std::vector<std::string>& command);

// Starts `vramscope whatif PATH` with these changes at the lowest priority, and does not wait for it. The
// results are kept in the trace. It writes to no terminal; if it fails, a later question runs again and
// reports why.
void MakeUsualVariantsBehind(const std::string& path);

// Reports on stderr what it does, and what cannot be run.
void MakeUsualVariantsNow(const std::string& path);

}  // namespace vramscope::cli
