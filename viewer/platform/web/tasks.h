// SPDX-License-Identifier: Apache-2.0
// A queue of tasks for the viewer in a browser. The desktop program does this work on threads. The web module
// has only one thread, so that tasks run between frames.
//
//   frame   │ task (while a file is read, the task draws frames) │ frame │ task │ frame   idle
//
// If no shared_ptr refers to a task, the task is dropped.
#pragma once

#include <functional>
#include <memory>

namespace vramscope::web {

class Task {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  // Runs the work. Does nothing if the work has already run.
  void Run() {
    if (const std::function<void()> work = std::move(work_); work) {
      work_ = nullptr;
      work();
    }
  }
  [[nodiscard]] bool begun() const { return !work_; }

 private:
  std::function<void()> work_;
};

void Later(const std::shared_ptr<Task>& task);
// Runs the oldest task that was not dropped. Returns false if there is none.
bool RunOne();
[[nodiscard]] bool AnyTask();

}  // namespace vramscope::web
