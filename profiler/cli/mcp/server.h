// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol over lines of JSON-RPC 2.0: https://modelcontextprotocol.io/specification (stdio
// transport, tools).
//
//   {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":{"file":"run.vms"}}}
//   {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"schema_version\":1, ...}"}],...}}
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/mcp/served_folder.h"
#include "profiler/cli/mcp/tools.h"

namespace vramscope::cli {

struct VerbAnswer {
  int exit_code = 0;
  std::string document;  // JSON; "" = none
  std::string sentence;
};
using RunTool = std::function<VerbAnswer(const Tool& tool, const std::vector<std::string>& words)>;

class McpServer {
 public:
  static constexpr size_t kLongestLine = 1 << 20;

  McpServer(ServedFolder folder, std::string version, RunTool run)
      : folder_(std::move(folder)), version_(std::move(version)), run_(std::move(run)) {}

  // The answer to one line, or nothing for a notification. Never throws on any input.
  [[nodiscard]] std::optional<std::string> Answer(const std::string& line);
  // For a line longer than kLongestLine.
  [[nodiscard]] static std::string TooLong();

 private:
  using Json = nlohmann::ordered_json;
  Json Result_(const std::string& method, const Json& params);
  Json Initialize(const Json& params) const;
  Json Call(const Json& params);
  Json ListRuns() const;

  ServedFolder folder_;
  std::string version_;
  RunTool run_;
};

}  // namespace vramscope::cli
