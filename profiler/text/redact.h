// SPDX-License-Identifier: Apache-2.0
// Takes what looks like a secret out of a command line, before it is shown to others.
//
//   python train.py --hf-token hf_abc --password=x WANDB_API_KEY=y https://me:pw@host/
//   python train.py --hf-token [redacted] --password=[redacted] WANDB_API_KEY=[redacted]
//                   https://[redacted]@host/
//
// By names (token, key, password, secret, ... as a word of an option or variable) and by the known forms of
// tokens. What follows neither is not found: it is a help, no proof.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::text {

// Of words that are separated by blanks, with quotes as a shell has them.
[[nodiscard]] std::string Redacted(std::string_view command_line);

// The program and its script alone, without folders: "python train.py [arguments redacted]".
[[nodiscard]] std::string ProgramAlone(std::string_view command_line);

}  // namespace vramscope::text
