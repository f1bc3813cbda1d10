// SPDX-License-Identifier: Apache-2.0
// Removes what looks like a secret from a command line, before it is shown to others.
//
//   python train.py --hf-token hf_abc --password=x WANDB_API_KEY=y https://me:pw@host/
//   python train.py --hf-token [redacted] --password=[redacted] WANDB_API_KEY=[redacted]
//                   https://[redacted]@host/
//
// Secrets are recognized by name (token, key, password, secret, ... as a word of an option or variable) and
// by the known forms of tokens. Other secrets are not found, so this is no guarantee.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// Expects words separated by blanks, with quotes as in a shell.
[[nodiscard]] std::string Redacted(std::string_view command_line);

// Only the program and its script, without folders: "python train.py [arguments redacted]".
[[nodiscard]] std::string ProgramAlone(std::string_view command_line);

}  // namespace vramscope::text
