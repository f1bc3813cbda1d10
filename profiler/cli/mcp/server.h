// SPDX-License-Identifier: Apache-2.0
// A server for the Model Context Protocol (https://modelcontextprotocol.io/specification: stdio transport,
// tools). Each message is one line of JSON-RPC 2.0.
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
  std::string document;  // JSON output of the verb; "" = none
  std::string sentence;
};
using RunTool = std::function<VerbAnswer(const Tool& tool, const std::vector<std::string>& words)>;

class McpServer {
 public:
  static constexpr size_t kLongestLine = 1 << 20;

  McpServer(ServedFolder folder, std::string version, RunTool run)
      : folder_(std::move(folder)), version_(std::move(version)), run_(std::move(run)) {}

  // Returns the answer to one line, or nothing if the line is a notification. Does not throw for any input.
  [[nodiscard]] std::optional<std::string> Answer(const std::string& line);
  // Returns the answer to a line that is longer than kLongestLine.
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
