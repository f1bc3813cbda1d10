// SPDX-License-Identifier: Apache-2.0
// Notes at moments of a run. They are kept next to the trace, as run.vms.notes.json:
//
//   {"notes": [{"at_ns": 1500000, "text": "the spike"}]}
//
// In a browser they are kept in its own storage. The trace is never changed.
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

// The path of a trace's notes.
[[nodiscard]] std::string NotesPath(const std::string& trace);

class Notes {
 public:
  // The notes of a trace; none if there is no such file. A file that is not a list of notes is left
  // unchanged, and Write then fails.
  static Notes Read(const std::string& trace);

  [[nodiscard]] const std::vector<Note>& all() const { return notes_; }  // in order of time
  // Replaces the note at that time; "" removes it.
  void Set(uint64_t at_ns, std::string_view text);
  [[nodiscard]] const Note* At(uint64_t at_ns) const;
  [[nodiscard]] Status Write(const std::string& trace) const;

 private:
  std::vector<Note> notes_;
  bool foreign_ = false;  // the file is something else
};

// For links: letters, digits and "-._~/:" stay, other bytes become "%20" and the like.
[[nodiscard]] std::string InLink(std::string_view text);
[[nodiscard]] std::string FromLink(std::string_view text);

}  // namespace vramscope::viewer
