// SPDX-License-Identifier: Apache-2.0
// Notes at moments of a run, next to the trace in run.vms.notes.json:
//
//   {"notes": [{"at_ns": 1500000, "text": "the spike"}]}
//
// A browser keeps notes in its own storage. The trace never changes.
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
  // The notes of a trace; none without a file. A file of another form is left unchanged, and Write fails.
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

// For links: letters, digits and "-._~/:" stay, others become "%20" and the like.
[[nodiscard]] std::string InLink(std::string_view text);
[[nodiscard]] std::string FromLink(std::string_view text);

}  // namespace vramscope::viewer
