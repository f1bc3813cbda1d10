// SPDX-License-Identifier: Apache-2.0
// Removes texts that look like secrets from a command line.
//
//   python train.py --hf-token hf_abc --password=x WANDB_API_KEY=y https://me:pw@host/
//   python train.py --hf-token [redacted] --password=[redacted] WANDB_API_KEY=[redacted]
//                   https://[redacted]@host/
//
// Recognizes names (token, key, password, secret, ...) and common forms of tokens. Other secrets are not
// found.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// Returns the command line without secrets. The words must be separated by blanks and quoted as in a shell.
[[nodiscard]] std::string Redacted(std::string_view command_line);

// Returns only the program and the script, without folders: "python train.py [arguments redacted]".
[[nodiscard]] std::string ProgramAlone(std::string_view command_line);

}  // namespace vramscope::text
