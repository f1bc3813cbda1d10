// SPDX-License-Identifier: Apache-2.0
// Removes what looks like a secret from a command line.
//
//   python train.py --hf-token hf_abc --password=x WANDB_API_KEY=y https://me:pw@host/
//   python train.py --hf-token [redacted] --password=[redacted] WANDB_API_KEY=[redacted]
//                   https://[redacted]@host/
//
// Recognizes names (token, key, password, secret, ...) and known forms of tokens. No guarantee: other secrets
// are not found.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// Expects words separated by blanks, quoted as in a shell.
[[nodiscard]] std::string Redacted(std::string_view command_line);

// Only program and script, without folders: "python train.py [arguments redacted]".
[[nodiscard]] std::string ProgramAlone(std::string_view command_line);

}  // namespace vramscope::text
