// SPDX-License-Identifier: Apache-2.0
// One open file: its document, results from it, and its notes. A growing file is read again in the
// background, then replaced.
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
  std::vector<std::unique_ptr<LayoutView>> layouts;  // by device; nullptr while it is being computed
  std::unique_ptr<LoadJob> job;                      // uses the document: destroyed first
  Tail tail;
  Notes notes;
  bool remembered = false;        // among the recent files
  bool followed = false;          // the tail knows the first read's result
  std::unique_ptr<LoadJob> next;  // the same file, after it has grown
  [[nodiscard]] std::string name() const;
  // True while a recorder writes it.
  [[nodiscard]] bool live() const;
  // Moves finished layouts to their devices.
  void TakeLayouts();
  // While the file grows, reads it again from time to time on a thread. After a read, this file gets the new
  // document, and the old one is returned with everything made from it. Otherwise nullptr.
  [[nodiscard]] std::unique_ptr<OpenFile> Follow(const std::function<void()>& wake);

 private:
  [[nodiscard]] std::unique_ptr<OpenFile> Exchange();
};

}  // namespace vramscope::viewer
