// SPDX-License-Identifier: Apache-2.0
// Creates and opens links to the current view of a session: "run.vms@1500000,view:owners,block:12". Texts in
// links are encoded as in URLs.
#pragma once

#include <optional>
#include <string>

#include "trace_format/result.h"

namespace vramscope::viewer {

class Session;

// Returns the link: the file, the moment in ns, and all settings that differ from a newly opened file.
// Session::GoTo reads the part after "@". Returns "" if no file is loaded.
[[nodiscard]] std::string LinkTo(const Session& session);

// Applies one word of a link: "view:owners", "device:cuda:1", "shown:BEGIN-END" (ns), "block:12",
// "filter:WORDS" or "note:TEXT". Returns nullopt for other words.
[[nodiscard]] std::optional<Status> GoToView(Session& session, const std::string& word);

}  // namespace vramscope::viewer
