// SPDX-License-Identifier: Apache-2.0
// The most common re-runs, prepared in advance: autocast in bf16 and fp16, all values in 16 bits, half the
// batch.
#pragma once

#include <string>
#include <vector>

namespace vramscope::cli {

// False if VRAMSCOPE_VARIANTS=none, for machines where no process may outlive the command.
[[nodiscard]] bool MayWorkBehind();

// Re-runs will use the Python that this command starts, unless VRAMSCOPE_PYTHON is set.
void UsePythonOf(const std::vector<std::string>& command);

// Starts `vramscope whatif PATH` with the usual changes at the lowest priority, and does not wait. The
// results are stored in the trace. The process prints nothing. After a failure, a later question repeats the
// re-run and reports why.
void MakeUsualVariantsBehind(const std::string& path);

// Makes the usual variants and waits. Reports on stderr what cannot be run.
void MakeUsualVariantsNow(const std::string& path);

}  // namespace vramscope::cli
