// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/summary_view.h"

#include <chrono>

#include "profiler/experiment/savings.h"
#include "profiler/report/build.h"

namespace vramscope::viewer {
namespace {

template <typename Value>
bool HasArrived(const std::future<Value>& value) {
  return value.valid() && value.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

report::Request SummaryRequest(const Document& document, const DeviceView& device) {
  const model::Device& of = document.run->devices[device.index];
  report::Request request;
  request.device = of.name;
  request.pid = document.run->processes[of.process].info.pid;
  return request;
}

}  // namespace

void SummaryView::Update(const Document& document, const DeviceView& device, bool live,
                         const std::function<void()>& wake) {
  if (device_ != &device) {
    if (device_ != nullptr) Clear();
    device_ = &device;
    live_ = live;
    answering_ =
        std::async(std::launch::async, [&document, wake, request = SummaryRequest(document, device)] {
          auto answer = report::BuildAnswer(*document.analysis, request);
          wake();
          return answer;
        });
  }
  if (HasArrived(answering_)) {
    Result<report::Answer> answer = answering_.get();
    if (!answer.ok()) return;  // the device exists, so this cannot happen
    answer_.emplace(std::move(*answer));
    summary_ = MakeSummary(*document.run, *answer_, nullptr, live_);
    if (live_) return;
    saving_ = std::async(std::launch::async, [&document, wake, index = device.index] {
      auto savings = experiment::FindSavings(*document.analysis, index, document.path);
      wake();
      return savings;
    });
  }
  if (!HasArrived(saving_)) return;
  const std::optional<report::Savings> savings = saving_.get();
  summary_ = MakeSummary(*document.run, *answer_, &savings, live_);
}

void SummaryView::Forget() {
  if (answering_.valid()) answering_.wait();
  if (saving_.valid()) saving_.wait();
  answering_ = {};
  saving_ = {};
  answer_.reset();
  device_ = nullptr;
}

void SummaryView::Clear() {
  Forget();
  summary_.reset();
}

}  // namespace vramscope::viewer
