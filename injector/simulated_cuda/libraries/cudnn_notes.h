// SPDX-License-Identifier: Apache-2.0
// What a dry run says about the workspaces of convolutions: where their sizes come from, and how much they
// are.
//
//   VRAMSCOPE_SIMULATED_CUDNN_NOTES=FILE    written when the process ends, "%p" = its number: "cudnn" (asked)
//   or
//                                           "model" (estimated), a tab, and the largest workspace of a plan
//                                           that ran, in bytes
#pragma once

#include <cstdint>

namespace vramscope::simulated::cudnn {

// A plan with a workspace of so many bytes has run. Any thread.
void NoteWorkspace(bool is_estimated, int64_t bytes);

}  // namespace vramscope::simulated::cudnn
