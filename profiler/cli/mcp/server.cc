// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "profiler/cli/frame/terminal.h"
#include "profiler/text/json_dump.h"

namespace vramscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Error codes of JSON-RPC 2.0.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kNoSuchMethod = -32601;
constexpr int kInvalidParams = -32602;

constexpr std::array kProtocols = {"2025-06-18", "2025-03-26", "2024-11-05"};  // the newest first
constexpr char kListRuns[] = "list_runs";

struct Refusal {
  int code = 0;
  std::string message;
};

std::string Line(const Json& document) { return text::Dump(document, -1); }

std::string Failed(const Json& id, const Refusal& refusal) {
  return Line(
      {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", refusal.code}, {"message", refusal.message}}}});
}

Json TextResult(const std::string& text, bool is_error) {
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})}, {"isError", is_error}};
}

Json DescriptionOf(const char* name, const char* about, const Json& schema) {
  return {{"name", name},
          {"description", about},
          {"inputSchema", schema},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

Json ListTools() {
  Json tools = Json::array(
      {DescriptionOf(kListRuns, "The traces and memory snapshots of the served folder, with their sizes.",
                     {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}})});
  for (const Tool& tool : Tools())
    tools.push_back(DescriptionOf(tool.name, tool.description, InputSchema(tool)));
  return {{"tools", tools}};
}

// The `id` to answer with; null if the request has no valid one.
Json IdOf(const Json& request) {
  if (!request.is_object() || !request.contains("id")) return nullptr;
  const Json& id = request["id"];
  return id.is_string() || id.is_number() ? id : Json(nullptr);
}

}  // namespace

Json McpServer::Initialize(const Json& params) const {
  std::string protocol = kProtocols.front();
  if (params.is_object() && params.contains("protocolVersion") && params["protocolVersion"].is_string()) {
    const auto asked = params["protocolVersion"].get<std::string>();
    if (std::find(kProtocols.begin(), kProtocols.end(), asked) != kProtocols.end()) protocol = asked;
  }
  return {
      {"protocolVersion", protocol},
      {"capabilities", {{"tools", Json::object()}}},
      {"serverInfo", {{"name", "vramscope"}, {"version", version_}}},
      {"instructions",
       "Answers questions about the GPU memory of recorded training runs. Start with list_runs and report. "
       "Bytes are integers in keys that end in _bytes, nanoseconds in keys that end in _ns."}};
}

Json McpServer::ListRuns() const {
  const ServedFolder::Listing listing = folder_.Files();
  Json runs = Json::array();
  for (const ServedFolder::File& file : listing.files)
    runs.push_back(
        {{"file", file.name}, {"bytes", file.bytes}, {"kind", file.is_trace ? "trace" : "snapshot"}});
  return TextResult(Line({{"runs", runs}, {"complete", listing.complete}}), false);
}

Json McpServer::Call(const Json& params) {
  if (!params.is_object() || !params.contains("name") || !params["name"].is_string())
    throw Refusal{kInvalidParams, "tools/call needs the name of a tool."};
  const auto name = params["name"].get<std::string>();
  if (name == kListRuns) return ListRuns();
  const Tool* tool = ToolNamed(name);
  if (tool == nullptr) throw Refusal{kInvalidParams, fmt::format("There is no tool '{}'.", Printable(name))};
  const auto words = WordsOf(*tool, folder_, params.value("arguments", Json::object()));
  if (!words.ok()) return TextResult(words.error().sentence, true);
  const VerbAnswer answer = run_(*tool, *words);
  const bool has_answer = answer.exit_code != kBadInput && Json::accept(answer.document);
  if (!has_answer)
    return TextResult(
        answer.sentence.empty() ? fmt::format("{} gave no answer.", tool->name) : answer.sentence, true);
  return TextResult(Line(Json::parse(answer.document)), false);
}

Json McpServer::Result_(const std::string& method, const Json& params) {
  if (method == "initialize") return Initialize(params);
  if (method == "ping") return Json::object();
  if (method == "tools/list") return ListTools();
  if (method == "tools/call") return Call(params);
  throw Refusal{kNoSuchMethod, fmt::format("There is no method '{}'.", Printable(method))};
}

std::optional<std::string> McpServer::Answer(const std::string& line) {
  Json request;
  try {
    request = Json::parse(line);
  } catch (const Json::exception&) {
    return Failed(nullptr, {kParseError, "This line is not JSON."});
  }
  const Json id = IdOf(request);
  try {
    if (!request.is_object() || request.value("jsonrpc", Json()) != "2.0" || !request.contains("method") ||
        !request["method"].is_string())
      return Failed(id, {kInvalidRequest, "This is not a JSON-RPC 2.0 request."});
    if (!request.contains("id")) return std::nullopt;
    if (id.is_null())
      return Failed(id, {kInvalidRequest, "The id of a request must be a string or a number."});
    const Json result =
        Result_(request["method"].get<std::string>(), request.value("params", Json::object()));
    return Line({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
  } catch (const Refusal& refusal) {
    return Failed(id, refusal);
  } catch (const Json::exception&) {
    return Failed(id, {kInvalidParams, "The parameters do not have the types that this method takes."});
  }
}

std::string McpServer::TooLong() {
  return Failed(nullptr, {kInvalidRequest, fmt::format("A request has at most {} bytes.", kLongestLine)});
}

}  // namespace vramscope::cli
