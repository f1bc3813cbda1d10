// SPDX-License-Identifier: Apache-2.0
// The what-if panel: answers of profiler/whatif for its settings, computed on a thread.
//
// The step is read once per device. Each question then takes some tens of milliseconds. While a slider moves,
// only the newest question is answered next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "viewer/model/background_task.h"
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
  std::optional<plan::Beside> beside;  // the device's memory outside PyTorch's allocator
  ModuleChoices modules;
  std::shared_ptr<const KeptReruns> reruns;
};

// An error names what the recording lacks.
[[nodiscard]] Result<WhatIfSubject> MakeWhatIfSubject(const Document& document, const DeviceView& device);

struct WhatIfAnswer {
  std::vector<whatif::Asked> asked;
  whatif::Prediction prediction;
  whatif::UseOverStep after;
  experiment::AnswerKind kind = experiment::AnswerKind::kRecorded;
  size_t rerun_levers = 0;         // number of levers that PyTorch ran; they come first
  std::string gpu;                 // simulated GPU of the re-run; "" = no re-run
  std::string command;             // the command that gives the same answer
  std::vector<std::string> notes;  // notes for the user
  std::shared_ptr<const LoadedRerun> rerun;
  std::string rerun_key;                     // its WhatIfQuestion::rerun
  std::shared_ptr<const KeptReruns> reruns;  // if the file was read again
  // The re-run was not kept: one sentence, and a command. Nothing above is set.
  std::optional<KeptReruns::Unanswered> not_kept;
};

// The answer to `question`. Reads the file again if `reruns` lacks the re-run.
[[nodiscard]] Result<WhatIfAnswer> AnswerTo(const WhatIfQuestion& question, const WhatIfSubject& subject,
                                            std::shared_ptr<const KeptReruns> reruns,
                                            const std::string& path);

// A pixel column: its moment with the most allocated bytes, and its most reserved bytes.
struct StepColumn {
  const whatif::UseAt* most = nullptr;  // nullptr: the step is over
  uint64_t reserved = 0;
};
// `whole`: events in all columns. O(points).
[[nodiscard]] std::vector<StepColumn> ColumnsOf(const whatif::UseOverStep& use, int64_t whole,
                                                size_t columns);

class WhatIfView {
 public:
  // Starts to read the step, or to answer a changed question. Document and device must live until the next
  // Update, Forget or Clear. Calls `wake` when there is an answer.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Forgets the device; call before its document is destroyed. Waits for the threads. The question is asked
  // again for the new device.
  void Forget();
  // Also forgets the question.
  void Clear();
  // True while an answer is being computed or the step is being read.
  [[nodiscard]] bool busy() const { return reading_.busy() || running_.busy() || fit_.busy(); }
  // Nothing while the step is read.
  [[nodiscard]] const std::optional<Result<WhatIfSubject>>& subject() const { return subject_; }
  // The answer to the last answered question. An error is a sentence.
  [[nodiscard]] const std::optional<Result<WhatIfAnswer>>& answer() const { return answer_; }
  // The choices of the loaded re-run, or of the recorded step. Call only with a subject.
  [[nodiscard]] const ModuleChoices& modules() const;
  // The re-runs when the file was last read. Call only with a subject.
  [[nodiscard]] const std::shared_ptr<const KeptReruns>& reruns() const {
    return reruns_ ? reruns_ : subject_->value().reruns;
  }
  // Asks again: the file may have new re-runs.
  void LookAgain() { asked_.reset(); }
  // Changes with which the step fits into a size.
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
  std::shared_ptr<const KeptReruns> reruns_;  // nullptr: those of the subject
  std::shared_ptr<const LoadedRerun> rerun_;  // the last one loaded
  std::string rerun_key_;                     // the key of `rerun_`
  std::optional<WhatIfQuestion> asked_;       // the last question that was started
  // Declared after the objects that they read.
  BackgroundTask<Result<WhatIfSubject>> reading_;
  BackgroundTask<Result<WhatIfAnswer>> running_;
  FitView fit_;
};

}  // namespace vramscope::viewer
