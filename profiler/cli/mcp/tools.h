// SPDX-License-Identifier: Apache-2.0
// The tools of `vramscope mcp`: the verb of each tool, and the options that a client may pass.
//
// Options that write a file or start a program are not accepted. whatif and plan use --by transform, because
// a re-run starts Python.
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
  std::vector<const char*> options;  // options that a client may give
  std::vector<const char*> always;   // words added to each call
};

std::span<const Tool> Tools();
const Tool* ToolNamed(const std::string& name);

// JSON Schema of `file` and the options. Switches are booleans, other options strings or numbers. An option
// that may be repeated may also be an array.
[[nodiscard]] nlohmann::ordered_json InputSchema(const Tool& tool);

// The verb's words for a client's arguments. The error names the wrong argument.
[[nodiscard]] Result<std::vector<std::string>> WordsOf(const Tool& tool, const ServedFolder& folder,
                                                       const nlohmann::ordered_json& arguments);

}  // namespace vramscope::cli
