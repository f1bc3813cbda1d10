// SPDX-License-Identifier: Apache-2.0
// One open file of the viewer: its document, results computed from it, and its notes. If the file grows, it
// is read again in the background, and the document is then replaced.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "viewer/model/document.h"
#include "viewer/model/load_job.h"
#include "viewer/model/notes.h"
#include "viewer/model/tail.h"

namespace vramscope::viewer {

struct OpenFile {
  std::unique_ptr<Document> document;                // nullptr while it is being read
  std::vector<std::unique_ptr<LayoutView>> layouts;  // one per device; nullptr while it is being computed
  std::unique_ptr<LoadJob> job;                      // uses the document, so it is destroyed first
  Tail tail;
  Notes notes;
  bool remembered = false;        // true: the file was added to the recent files
  bool followed = false;          // true: `tail` was told about the first read
  std::unique_ptr<LoadJob> next;  // reads the same file again after it has grown
  [[nodiscard]] std::string name() const;
  // True while a recorder is writing the file.
  [[nodiscard]] bool live() const;
  // Moves finished layouts to their devices.
  void TakeLayouts();
  // Call this regularly. While the file grows, it is read again from time to time on another thread. When a
  // read is done, this object gets the new document, and the old document and all results from it are
  // returned. Otherwise returns nullptr.
  [[nodiscard]] std::unique_ptr<OpenFile> Follow(const std::function<void()>& wake);

 private:
  [[nodiscard]] std::unique_ptr<OpenFile> Exchange();
};

}  // namespace vramscope::viewer
