// SPDX-License-Identifier: Apache-2.0
// The tools that `vramscope mcp` (Model Context Protocol) offers: the verb of each tool, and the options that
// a client may pass.
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
  const char* name;         // name of the tool and of the verb
  const char* description;  // text for the language model that chooses the tool
  const VerbHelp& (*help)();
  std::vector<const char*> options;  // options that a client may give
  std::vector<const char*> always;   // options that are added to each call
};

std::span<const Tool> Tools();
const Tool* ToolNamed(const std::string& name);

// Returns the JSON Schema of a tool's arguments: `file` and the options. A switch is a boolean; other options
// are strings or numbers. If an option may be repeated, it may also be an array.
[[nodiscard]] nlohmann::ordered_json InputSchema(const Tool& tool);

// Converts a client's arguments into the words of a command line. The error names the wrong argument.
[[nodiscard]] Result<std::vector<std::string>> WordsOf(const Tool& tool, const ServedFolder& folder,
                                                       const nlohmann::ordered_json& arguments);

}  // namespace vramscope::cli
