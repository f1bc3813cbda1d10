// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/web/tasks.h"

#include <deque>
#include <utility>

namespace vramscope::web {
namespace {

std::deque<std::weak_ptr<Task>>& Waiting() {
  static std::deque<std::weak_ptr<Task>> waiting;
  return waiting;
}

}  // namespace

void Later(const std::shared_ptr<Task>& task) { Waiting().push_back(task); }

bool RunOne() {
  while (!Waiting().empty()) {
    const std::shared_ptr<Task> task = Waiting().front().lock();
    Waiting().pop_front();
    if (task == nullptr || task->begun()) continue;
    task->Run();
    return true;
  }
  return false;
}

bool AnyTask() { return !Waiting().empty(); }

}  // namespace vramscope::web
