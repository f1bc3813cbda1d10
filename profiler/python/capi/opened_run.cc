// SPDX-License-Identifier: Apache-2.0
#include "profiler/python/capi/opened_run.h"

#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/report/device_choice.h"
#include "profiler/snapshot/run_file.h"
#include "profiler/text/harmless.h"
#include "profiler/text/number.h"

namespace vramscope::python {
namespace {

struct Question {
  report::Request request;
  bool all_devices = false;
};

Result<uint32_t> NumberIn(std::string_view key, std::string_view text) {
  if (const auto number = text::ParseNumber<uint32_t>(text)) return *number;
  return Error{std::string(key) + " must be a number, not '" + text::Clean(text) + "'."};
}

Status Take(std::string_view key, std::string_view value, Question& question) {
  if (key == "device") {
    question.request.device = std::string(value);
  } else if (key == "process" || key == "rank") {
    const uint32_t number = VRAMSCOPE_TRY(NumberIn(key, value));
    (key == "rank" ? question.request.rank : question.request.pid) = number;
  } else if (key == "steps") {
    question.request.steps = VRAMSCOPE_TRY(report::ParseStepRange(value));
  } else if (key == "all") {
    question.all_devices = value == "1";
  } else {
    return Error{"a table has no option '" + text::Clean(key) + "'."};
  }
  return {};
}

Result<Question> Parsed(std::string_view text) {
  Question question;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(line.find('='), line.size());
    VRAMSCOPE_TRY(Take(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())), question));
  }
  return question;
}

}  // namespace

Result<std::unique_ptr<OpenedRun>> OpenedRun::Open(const std::string& path) {
  auto source = VRAMSCOPE_TRY(snapshot::RunFile(path).OpenSource());
  return std::unique_ptr<OpenedRun>(new OpenedRun(source));
}

Result<const model::Run*> OpenedRun::Loaded() {
  if (!run_.has_value()) {
    model::Run run = VRAMSCOPE_TRY(model::Load(source_));
    run_.emplace(std::move(run));
  }
  return &*run_;
}

Result<const exporting::Content*> OpenedRun::ContentFor(const report::Request& request,
                                                        const std::string& question) {
  if (content_.has_value() && content_question_ == question) return &*content_;
  const model::Run* const run = VRAMSCOPE_TRY(Loaded());
  if (!analysis_.has_value()) analysis_.emplace(*run);
  exporting::Content content = VRAMSCOPE_TRY(exporting::Content::Of(*analysis_, request));
  content_.emplace(std::move(content));
  content_question_ = question;
  return &*content_;
}

Result<SharedTable> OpenedRun::Series(const std::string& question) {
  Question asked = VRAMSCOPE_TRY(Parsed(question));
  const auto steps = std::exchange(asked.request.steps, std::nullopt).value_or(std::pair{0U, 0U});
  const auto content = VRAMSCOPE_TRY(ContentFor(asked.request, question));
  std::vector<model::DeviceIndex> devices = {content->device()};
  if (asked.all_devices) {
    devices.resize(content->run().devices.size());
    std::iota(devices.begin(), devices.end(), model::DeviceIndex{0});
  }
  return SeriesTable(*content, devices, steps.first, steps.second);
}

Result<SharedTable> OpenedRun::TableNamed(const std::string& name, const std::string& question) {
  const std::lock_guard lock(one_at_a_time_);
  if (name == "events") return EventsTable(*source_);
  if (name == "stacks") return StacksTable(*source_);
  if (name == "operators") return OperatorsTable(*source_);
  if (name == "series") return Series(question);
  if (name == "blocks") {
    const Question asked = VRAMSCOPE_TRY(Parsed(question));
    const auto content = VRAMSCOPE_TRY(ContentFor(asked.request, question));
    return BlocksTable(*content);
  }
  if (name == "segments") {
    const model::Run* const run = VRAMSCOPE_TRY(Loaded());
    return SegmentsTable(*run);
  }
  return Error{"there is no table '" + text::Clean(name) + "'."};
}

}  // namespace vramscope::python
