// SPDX-License-Identifier: Apache-2.0
// Opens a file on its own thread: progress, a first picture, cancel.
//
//   decoding ┐
//   reading ─┴─┬─► analyzing ──► document (timeline)
//              └─► placing ────────┴─► layouts (address map, fragmentation), device by device
//
// The upper stage of each pair has its own thread. The document is handed over when the timeline can be
// drawn. Keep the document until the job has finished or been destroyed.
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

// Allocated bytes of the first GPU while the file is read, as its allocator reported them.
struct PreviewPoint {
  double time_ns = 0;
  uint64_t bytes = 0;  // the most since the previous point
};

class LoadJob {
 public:
  // The thread calls `wake` when there is news.
  LoadJob(std::string path, std::function<void()> wake);
  // Cancels unfinished work. Reading stops at once. An analysis runs to its end.
  ~LoadJob();
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool finished() const { return finished_; }
  // "reading", "analyzing", "placing addresses"
  [[nodiscard]] const char* stage() const { return stage_; }
  [[nodiscard]] double share() const { return share_; }  // of the reading, 0 to 1
  void Cancel() { cancelled_ = true; }
  // After the end: bytes of the file when reading began; duration; whether the writer has closed the file.
  [[nodiscard]] uint64_t file_bytes() const { return file_bytes_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] bool closed() const { return closed_; }

  [[nodiscard]] std::vector<PreviewPoint> preview() const;
  [[nodiscard]] double preview_duration_ns() const { return duration_ns_; }  // 0 = not known
  // One sentence; "" if there is no error.
  [[nodiscard]] std::string error() const;
  // The document, once.
  [[nodiscard]] std::unique_ptr<Document> TakeDocument();
  // The next layout, with its device. Call after the document was taken.
  [[nodiscard]] std::unique_ptr<LayoutView> TakeLayout(model::DeviceIndex& device);

 private:
  class Watched;

  void Work();
  Result<model::Run> Read(std::shared_ptr<const snapshot::Snapshot>& snapshot);
  // For all devices, in parallel with the analysis. Adds the analysis's facts when they exist.
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

  mutable std::mutex mutex_;  // protects all below
  std::vector<PreviewPoint> preview_;
  std::string error_;
  std::unique_ptr<Document> document_;
  std::vector<std::pair<model::DeviceIndex, std::unique_ptr<LayoutView>>> layouts_;

  std::thread thread_;
};

}  // namespace vramscope::viewer
