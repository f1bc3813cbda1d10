// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/program_head.h"

#include <nlohmann/json.hpp>

namespace vramscope::experiment {
namespace {

constexpr size_t kMostMissing = 100;
constexpr size_t kMostCheckpointed = 100'000;

// Keeps the head and skips the body, so that memory does not grow with the text.
bool KeepHead(int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed, bool* has_body) {
  if (depth != 1 || event != nlohmann::json::parse_event_t::key) return depth <= 2;
  const bool is_body = parsed == "body";
  *has_body |= is_body;
  for (const char* key : {"version", "torch", "python", "missing", "step", "batch", "checkpointed"})
    if (parsed == key) return true;
  return false;
}

std::string TextAt(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t NumberAt(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

// The texts of an array, at most so many.
std::vector<std::string> TextsAt(const nlohmann::json& document, const char* key, size_t most) {
  std::vector<std::string> texts;
  const auto found = document.find(key);
  if (found == document.end() || !found->is_array()) return texts;
  for (const auto& text : *found)
    if (text.is_string() && texts.size() < most) texts.push_back(text.get<std::string>());
  return texts;
}

}  // namespace

std::optional<ProgramHead> ReadProgramHead(std::string_view text) {
  ProgramHead head;
  const auto document = nlohmann::json::parse(
      text.begin(), text.end(),
      [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
        return KeepHead(depth, event, parsed, &head.has_body);
      },
      false);
  if (!document.is_object()) return std::nullopt;
  head.version = NumberAt(document, "version");
  head.step = NumberAt(document, "step");
  head.batch = NumberAt(document, "batch");
  head.torch = TextAt(document, "torch");
  head.python = TextAt(document, "python");
  head.missing = TextsAt(document, "missing", kMostMissing);
  head.checkpointed = TextsAt(document, "checkpointed", kMostCheckpointed);
  return head;
}

std::optional<NotedProgram> ProgramOf(const trace::Programs& programs) {
  std::optional<NotedProgram> found;
  for (const auto& [process, program] : programs) {
    std::optional<ProgramHead> head = ReadProgramHead(program.text);
    if (!head || (found && !head->has_body)) continue;
    const bool runs = head->has_body;
    found = NotedProgram{process, std::move(*head), program.text, program.seal};
    if (runs) return found;
  }
  return found;
}

}  // namespace vramscope::experiment
