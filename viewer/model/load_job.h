// SPDX-License-Identifier: Apache-2.0
// Opens a file on a thread of its own. Reports progress and a preview while it reads, and can be canceled.
//
//   decoding ┐
//   reading ─┴─┬─► analyzing ──► document (timeline)
//              └─► placing ────────┴─► layouts (address map, fragmentation), device by device
//
// Decoding and reading run in parallel, and so do analyzing and placing. TakeDocument() returns the document
// as soon as the timeline can be drawn. Keep the document until the job has finished or is destroyed.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "viewer/model/document.h"

namespace vramscope::viewer {

// A point of the preview: allocated bytes of the first GPU, as its allocator reported them.
struct PreviewPoint {
  double time_ns = 0;
  uint64_t bytes = 0;  // highest value since the previous point
};

class LoadJob {
 public:
  // The thread calls `wake` when the state of the job has changed.
  LoadJob(std::string path, std::function<void()> wake);
  // Cancels the job and waits for the thread. Reading stops immediately; an analysis runs to its end.
  ~LoadJob();
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool finished() const { return finished_; }
  // Returns "reading", "analyzing" or "placing addresses".
  [[nodiscard]] const char* stage() const { return stage_; }
  [[nodiscard]] double share() const { return share_; }  // progress of reading, 0 to 1
  void Cancel() { cancelled_ = true; }
  // Valid after the end: the file size when reading began, the duration of the job, and whether the recorder
  // had closed the file.
  [[nodiscard]] uint64_t file_bytes() const { return file_bytes_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] bool closed() const { return closed_; }

  [[nodiscard]] std::vector<PreviewPoint> preview() const;
  [[nodiscard]] double preview_duration_ns() const { return duration_ns_; }  // 0 = unknown
  // Returns one sentence, or "" if there is no error.
  [[nodiscard]] std::string error() const;
  // Returns the document, once. Returns nullptr before and after that.
  [[nodiscard]] std::unique_ptr<Document> TakeDocument();
  // Returns the next layout and sets its device, or returns nullptr. Call after the document was taken.
  [[nodiscard]] std::unique_ptr<LayoutView> TakeLayout(model::DeviceIndex& device);

 private:
  class Watched;

  void Work();
  Result<model::Run> Read(std::shared_ptr<const snapshot::Snapshot>& snapshot);
  // Creates the layouts of all devices, in parallel with the analysis. Adds facts of the analysis after it
  // has finished.
  void PlaceAddresses(const Document& document, const std::shared_future<void>& analyzed);
  void Enter(const char* stage);
  void Fail(const std::string& sentence);

  const std::string path_;
  const std::function<void()> wake_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> finished_ = false;
  std::atomic<const char*> stage_ = "reading";
  std::atomic<double> share_ = 0;
  std::atomic<double> duration_ns_ = 0;
  std::atomic<uint64_t> file_bytes_ = 0;
  std::atomic<double> seconds_ = 0;
  std::atomic<bool> closed_ = true;

  mutable std::mutex mutex_;  // protects the members below
  std::vector<PreviewPoint> preview_;
  std::string error_;
  std::unique_ptr<Document> document_;
  std::vector<std::pair<model::DeviceIndex, std::unique_ptr<LayoutView>>> layouts_;

  std::thread thread_;
};

}  // namespace vramscope::viewer
