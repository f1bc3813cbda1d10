// SPDX-License-Identifier: Apache-2.0
// Runs the most common re-runs of a trace in advance: autocast in bf16 and in fp16, all values in 16 bits,
// and half the batch. Later answers of whatif then need no re-run.
#pragma once

#include <string>
#include <vector>

namespace vramscope::cli {

// True unless VRAMSCOPE_VARIANTS=none. Set this variable on machines where no process may outlive the
// command.
[[nodiscard]] bool MayWorkBehind();

// Makes re-runs use the same Python as `command`, unless VRAMSCOPE_PYTHON is set.
void UsePythonOf(const std::vector<std::string>& command);

// Starts `vramscope whatif PATH` with the common changes as a background process of the lowest priority, and
// does not wait for it. The process prints nothing and stores its results in the trace. If it fails, a later
// whatif repeats the re-run and reports the error.
void MakeUsualVariantsBehind(const std::string& path);

// Runs the common re-runs and waits for them. Prints on stderr which changes cannot be run.
void MakeUsualVariantsNow(const std::string& path);

}  // namespace vramscope::cli
