// SPDX-License-Identifier: Apache-2.0
// The tools of `vramscope mcp`: the verb that each one runs, and the options that a client may pass.
//
// Read only: options that write a file or start a program are not accepted. whatif and plan answer with
// --by transform, because a re-run starts Python and is kept in the trace.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "profiler/cli/frame/verb.h"
#include "profiler/cli/mcp/served_folder.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct Tool {
  const char* name;         // also the verb's
  const char* description;  // for the model that chooses the tool
  const VerbHelp& (*help)();
  std::vector<const char*> options;  // options of the verb that a client may give
  std::vector<const char*> always;   // words that are added to each call
};

std::span<const Tool> Tools();
// nullptr: there is none.
const Tool* ToolNamed(const std::string& name);

// JSON Schema of the arguments: `file` and the options. Switches are booleans, everything else is a string or
// a number; an option that may be repeated is an array too.
[[nodiscard]] nlohmann::ordered_json InputSchema(const Tool& tool);

// The words of the verb for a client's arguments. The error names the argument that is wrong.
[[nodiscard]] Result<std::vector<std::string>> WordsOf(const Tool& tool, const ServedFolder& folder,
                                                       const nlohmann::ordered_json& arguments);

}  // namespace vramscope::cli
