// SPDX-License-Identifier: Apache-2.0
// What the what-if panel shows: the answers of profiler/whatif for what is set in it, made on a thread.
//
// The recorded step is read once for a device; each question after that takes some tens of milliseconds, so
// while a slider moves the newest question waits for the one that runs, and those between are never asked.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "viewer/model/document.h"
#include "viewer/model/fit_view.h"
#include "viewer/model/kept_reruns.h"
#include "viewer/model/whatif_question.h"

namespace vramscope::viewer {

// The recorded step, and what can be changed in it.
struct WhatIfSubject {
  whatif::Step step;
  whatif::Baseline baseline;
  whatif::UseOverStep before;
  std::optional<plan::Beside> beside;  // what the device holds beside PyTorch's allocator
  ModuleChoices modules;
  std::shared_ptr<const KeptReruns> reruns;
};

// Fails with a sentence that says what is missing in the recording.
[[nodiscard]] Result<WhatIfSubject> MakeWhatIfSubject(const Document& document, const DeviceView& device);

struct WhatIfAnswer {
  std::vector<whatif::Asked> asked;
  whatif::Prediction prediction;
  whatif::UseOverStep after;
  experiment::AnswerKind kind = experiment::AnswerKind::kRecorded;
  size_t rerun_levers = 0;         // so many of the prediction's levers, the first, were run by PyTorch
  std::string gpu;                 // simulated, of the re-run; "" = there was none
  std::string command;             // that gives the same answer
  std::vector<std::string> notes;  // what to know beside it
  std::shared_ptr<const LoadedRerun> rerun;
  std::string rerun_key;                     // WhatIfQuestion::rerun of it
  std::shared_ptr<const KeptReruns> reruns;  // where the file was looked at again
  // There is no answer, for the re-run was not kept: one sentence, and a command. Nothing above is set.
  std::optional<KeptReruns::Unanswered> not_kept;
};

// `subject` and `reruns` as they are; what `question` asks for.
[[nodiscard]] Result<WhatIfAnswer> AnswerTo(const WhatIfQuestion& question, const WhatIfSubject& subject,
                                            std::shared_ptr<const KeptReruns> reruns,
                                            const std::string& path);

// A pixel column: the moment within it at which most is allocated, and the most that is reserved.
struct StepColumn {
  const whatif::UseAt* most = nullptr;  // nullptr: the step is over
  uint64_t reserved = 0;
};
// `whole`: the events that the columns stand for together. O(points).
[[nodiscard]] std::vector<StepColumn> ColumnsOf(const whatif::UseOverStep& use, int64_t whole,
                                                size_t columns);

class WhatIfView {
 public:
  // Begins with what is new since the last time. Document and device must outlive the view, or its next
  // Update. `wake` when there is an answer.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Forgets the device: before its document goes. Waits for what still reads it. The question stays, for a
  // file that has grown: it is asked of the next device again.
  void Forget();
  // The question too: before another file, or device.
  void Clear();
  // An answer is on its way, or the step is read.
  [[nodiscard]] bool busy() const { return reading_.valid() || running_.valid() || fit_.busy(); }
  // Nothing while the step is read.
  [[nodiscard]] const std::optional<Result<WhatIfSubject>>& subject() const { return subject_; }
  // To the last question that was answered; while another one is, that of the one before. An error of the
  // whole prediction is a sentence.
  [[nodiscard]] const std::optional<Result<WhatIfAnswer>>& answer() const { return answer_; }
  // Of the re-run that is chosen, once it is there; else of the recorded step. With a subject alone.
  [[nodiscard]] const ModuleChoices& modules() const;
  // The re-runs of the file as it was last looked at. With a subject alone.
  [[nodiscard]] const std::shared_ptr<const KeptReruns>& reruns() const {
    return reruns_ ? reruns_ : subject_->value().reruns;
  }
  // Asks the same again: re-runs may have come to the file.
  void LookAgain() { asked_.reset(); }
  // Changes with which the step fits into so much memory.
  [[nodiscard]] FitView& fit() { return fit_; }
  // As a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;

  WhatIfQuestion question;  // the panel sets it

 private:
  void Ask(const std::function<void()>& wake);
  void Take(Result<WhatIfAnswer> answer);

  const DeviceView* device_ = nullptr;
  std::string path_;
  std::optional<Result<WhatIfSubject>> subject_;
  std::optional<Result<WhatIfAnswer>> answer_;
  std::shared_ptr<const KeptReruns> reruns_;  // nothing: those of the subject
  std::shared_ptr<const LoadedRerun> rerun_;  // that was loaded last
  std::string rerun_key_;                     // of it
  std::optional<WhatIfQuestion> asked_;       // the last one that was begun with
  // Behind what they read.
  std::future<Result<WhatIfSubject>> reading_;
  std::future<Result<WhatIfAnswer>> running_;
  FitView fit_;
};

}  // namespace vramscope::viewer
