// SPDX-License-Identifier: Apache-2.0
// Links to what a session shows: "run.vms@1500000,view:owners,block:12". Texts are encoded as in URLs.
#pragma once

#include <optional>
#include <string>

#include "trace_format/result.h"

namespace vramscope::viewer {

class Session;

// The link: file, moment in ns, and all differences from a file just opened. Session::GoTo reads the part
// after "@". "" if no file is loaded.
[[nodiscard]] std::string LinkTo(const Session& session);

// Applies one word of a link: "view:owners", "device:cuda:1", "shown:BEGIN-END" (ns), "block:12",
// "filter:WORDS" or "note:TEXT". nullopt for others.
[[nodiscard]] std::optional<Status> GoToView(Session& session, const std::string& word);

}  // namespace vramscope::viewer
