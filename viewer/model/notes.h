// SPDX-License-Identifier: Apache-2.0
// The user's notes at moments of a run. The notes are stored next to the trace run.vms in run.vms.notes.json:
//
//   {"notes": [{"at_ns": 1500000, "text": "the spike"}]}
//
// In the browser, notes are stored in the browser's own storage. The trace itself never changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::viewer {

struct Note {
  uint64_t at_ns = 0;
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

[[nodiscard]] std::string NotesPath(const std::string& trace);

class Notes {
 public:
  // Reads the notes of a trace. If there is no file, there are no notes. If the file has another format, it
  // is left unchanged, and Write fails.
  static Notes Read(const std::string& trace);

  [[nodiscard]] const std::vector<Note>& all() const { return notes_; }  // in order of time
  // Replaces the note at that time. An empty text removes the note.
  void Set(uint64_t at_ns, std::string_view text);
  [[nodiscard]] const Note* At(uint64_t at_ns) const;
  [[nodiscard]] Status Write(const std::string& trace) const;

 private:
  std::vector<Note> notes_;
  bool foreign_ = false;  // true: the file exists, but has another format
};

// Encodes and decodes text for links. Letters, digits and "-._~/:" stay unchanged; other characters become
// "%20" and the like.
[[nodiscard]] std::string InLink(std::string_view text);
[[nodiscard]] std::string FromLink(std::string_view text);

}  // namespace vramscope::viewer
