// SPDX-License-Identifier: Apache-2.0
// A queue for work that the desktop program does on threads. The web module has one thread: tasks run between
// frames.
//
//   frame   │ task (opens a file: frames are drawn from within) │ frame │ task │ frame   idle
//
// A task without an owner is dropped.
#pragma once

#include <functional>
#include <memory>

namespace vramscope::web {

class Task {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  // Runs the work, once.
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
// Runs the oldest owned task. False if there is none.
bool RunOne();
[[nodiscard]] bool AnyTask();

}  // namespace vramscope::web
