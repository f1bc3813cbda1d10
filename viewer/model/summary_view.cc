// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/summary_view.h"

#include "profiler/experiment/savings.h"
#include "profiler/report/build.h"

namespace vramscope::viewer {
namespace {

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
    answering_.Start(wake, [&document, request = SummaryRequest(document, device)] {
      return report::BuildAnswer(*document.analysis, request);
    });
  }
  if (std::optional<Result<report::Answer>> answer = answering_.Take()) {
    if (!answer->ok()) return;  // the device exists, so this cannot happen
    answer_.emplace(std::move(**answer));
    summary_ = MakeSummary(*document.run, *answer_, nullptr, live_);
    if (live_) return;
    saving_.Start(wake, [&document, index = device.index] {
      return experiment::FindSavings(*document.analysis, index, document.path);
    });
  }
  if (const auto savings = saving_.Take()) summary_ = MakeSummary(*document.run, *answer_, &*savings, live_);
}

void SummaryView::Forget() {
  answering_.Drop();
  saving_.Drop();
  answer_.reset();
  device_ = nullptr;
}

void SummaryView::Clear() {
  Forget();
  summary_.reset();
}

}  // namespace vramscope::viewer
