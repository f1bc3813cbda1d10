// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "profiler/text/harmless.h"
#include "profiler/text/json_dump.h"
#include "viewer/model/small_file.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostNotesBytes = 4 << 20;  // of the file
constexpr size_t kMostNoteText = 4096;       // of a note

}  // namespace

Notes Notes::Read(const std::string& trace) {
  Notes notes;
  const auto text = ReadSmallFile(NotesPath(trace), kMostNotesBytes);
  if (!text) return notes;
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("notes") || !json["notes"].is_array()) {
    notes.foreign_ = true;
    return notes;
  }
  for (const nlohmann::json& each : json["notes"]) {
    if (!each.is_object() || !each.contains("at_ns") || !each["at_ns"].is_number_unsigned() ||
        !each.contains("text") || !each["text"].is_string())
      continue;
    notes.Set(each["at_ns"].get<uint64_t>(), each["text"].get<std::string>());
  }
  return notes;
}

void Notes::Set(uint64_t at_ns, std::string_view text) {
  const auto place = std::lower_bound(notes_.begin(), notes_.end(), at_ns,
                                      [](const Note& note, uint64_t at) { return note.at_ns < at; });
  const bool there = place != notes_.end() && place->at_ns == at_ns;
  const std::string kept(text.substr(0, kMostNoteText));
  if (kept.empty() && there) {
    notes_.erase(place);
  } else if (!kept.empty() && there) {
    place->text = kept;
  } else if (!kept.empty()) {
    notes_.insert(place, {at_ns, kept});
  }
}

const Note* Notes::At(uint64_t at_ns) const {
  const auto found =
      std::find_if(notes_.begin(), notes_.end(), [&](const Note& n) { return n.at_ns == at_ns; });
  return found == notes_.end() ? nullptr : &*found;
}

Status Notes::Write(const std::string& trace) const {
  const std::string path = NotesPath(trace);
  if (foreign_)
    return Error{text::OneLine(path) + " is not a list of notes, so vramscope does not overwrite it."};
  nlohmann::ordered_json json = {{"notes", nlohmann::json::array()}};
  for (const Note& note : notes_) json["notes"].push_back({{"at_ns", note.at_ns}, {"text", note.text}});
  if (ReplaceSmallFile(path, text::Dump(json) + "\n")) return {};
  return Error{text::OneLine(path) + ": cannot be written, so the note is lost when the viewer closes."};
}

std::string InLink(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~/:").find(c) != std::string_view::npos;
    safe += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return safe;
}

std::string FromLink(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* const begin = text.data() + i + 1;
    const bool coded = text[i] == '%' && i + 2 < text.size() &&
                       std::from_chars(begin, begin + 2, code, 16).ptr == begin + 2 && code != 0;
    plain += coded ? static_cast<char>(code) : text[i];
    if (coded) i += 2;
  }
  return plain;
}

}  // namespace vramscope::viewer
