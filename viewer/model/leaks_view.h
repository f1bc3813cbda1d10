// SPDX-License-Identifier: Apache-2.0
// What the leaks panel prints: the answer of `vramscope leaks` for a device, made on a thread.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "profiler/leaks/growth.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// "Memory grows by 12 MiB a step, from 2 places."; what `vramscope leaks` says, in one sentence.
[[nodiscard]] std::string LeaksHeadline(const leaks::Answer& answer);
// The filter that shows what such a place has left in the table of live blocks; "" where nothing is known
// of it.
[[nodiscard]] std::string FilterFor(const leaks::Growth& growth);

class LeaksView {
 public:
  // Document and device must outlive the view, or its next Update. `wake` when there is an answer.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Forgets the device: before its document goes. Waits for what still reads it.
  void Clear();
  [[nodiscard]] bool busy() const { return running_.valid(); }
  // Nothing while it is looked for.
  [[nodiscard]] const std::optional<Result<leaks::Answer>>& answer() const { return answer_; }

 private:
  const DeviceView* device_ = nullptr;
  std::optional<Result<leaks::Answer>> answer_;
  std::future<Result<leaks::Answer>> running_;
};

}  // namespace vramscope::viewer
