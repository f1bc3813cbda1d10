// SPDX-License-Identifier: Apache-2.0
// The data of the what-if panel. profiler/whatif predicts the changed program for the panel's settings, on a
// thread.
//
// A question is the set of changes that the user has selected. The recorded step is read once per device.
// After that, each question takes some tens of milliseconds. While a slider moves, questions that are no
// longer current are skipped.
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

// The recorded step, and the changes that are possible.
struct WhatIfSubject {
  whatif::Step step;
  whatif::Baseline baseline;
  whatif::UseOverStep before;
  std::optional<plan::Beside> beside;  // the device's memory outside PyTorch's allocator
  ModuleChoices modules;
  std::shared_ptr<const KeptReruns> reruns;
};

// Reads the recorded step. The error explains which data the recording does not contain.
[[nodiscard]] Result<WhatIfSubject> MakeWhatIfSubject(const Document& document, const DeviceView& device);

struct WhatIfAnswer {
  std::vector<whatif::Asked> asked;
  whatif::Prediction prediction;
  whatif::UseOverStep after;
  experiment::AnswerKind kind = experiment::AnswerKind::kRecorded;
  size_t rerun_levers = 0;         // the first `rerun_levers` changes in `asked` were re-run
  std::string gpu;                 // simulated GPU of the re-run; "" = no re-run
  std::string command;             // command line that gives the same answer
  std::vector<std::string> notes;  // notes for the user
  std::shared_ptr<const LoadedRerun> rerun;
  std::string rerun_key;                     // WhatIfQuestion::rerun of `rerun`
  std::shared_ptr<const KeptReruns> reruns;  // set if the file was read again
  // Set if the re-run is not stored: a sentence, and a command that runs it. Then the answer has no
  // prediction.
  std::optional<KeptReruns::Unanswered> not_kept;
};

// Answers `question`. Reads the file again if `reruns` does not contain the re-run.
[[nodiscard]] Result<WhatIfAnswer> AnswerTo(const WhatIfQuestion& question, const WhatIfSubject& subject,
                                            std::shared_ptr<const KeptReruns> reruns,
                                            const std::string& path);

// One pixel column of the chart: the moment with the most allocated bytes, and the most reserved bytes.
struct StepColumn {
  const whatif::UseAt* most = nullptr;  // nullptr = after the end of the step
  uint64_t reserved = 0;
};
// `whole` is the number of events that all columns together show. O(points).
[[nodiscard]] std::vector<StepColumn> ColumnsOf(const whatif::UseOverStep& use, int64_t whole,
                                                size_t columns);

class WhatIfView {
 public:
  // Starts to read the step, or to answer a changed question. `document` and `device` must exist until the
  // next call of Update, Forget or Clear. Calls `wake` when there is an answer.
  void Update(const Document& document, const DeviceView& device, const std::function<void()>& wake);
  // Call before the document is destroyed. Waits for the threads. The next Update() answers the same question
  // for the new device.
  void Forget();
  // Like Forget(), but also resets the question.
  void Clear();
  // True while an answer is being computed or the step is being read.
  [[nodiscard]] bool busy() const { return reading_.busy() || running_.busy() || fit_.busy(); }
  // Empty while the step is being read.
  [[nodiscard]] const std::optional<Result<WhatIfSubject>>& subject() const { return subject_; }
  // The answer to the question that was answered last.
  [[nodiscard]] const std::optional<Result<WhatIfAnswer>>& answer() const { return answer_; }
  // The modules of the loaded re-run, or of the recorded step. Call only if subject() has a value.
  [[nodiscard]] const ModuleChoices& modules() const;
  // The re-runs in the file when it was read last. Call only if subject() has a value.
  [[nodiscard]] const std::shared_ptr<const KeptReruns>& reruns() const {
    return reruns_ ? reruns_ : subject_->value().reruns;
  }
  // Makes Update() answer the question again, because the file may contain new re-runs.
  void LookAgain() { asked_.reset(); }
  // The search for changes with which the step fits in a given memory size.
  [[nodiscard]] FitView& fit() { return fit_; }
  // Returns the state of the panel as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;

  WhatIfQuestion question;  // the panel sets it

 private:
  void Ask(const std::function<void()>& wake);
  void Take(Result<WhatIfAnswer> answer);

  const DeviceView* device_ = nullptr;
  std::string path_;
  std::optional<Result<WhatIfSubject>> subject_;
  std::optional<Result<WhatIfAnswer>> answer_;
  std::shared_ptr<const KeptReruns> reruns_;  // nullptr = use the subject's
  std::shared_ptr<const LoadedRerun> rerun_;  // the re-run that was loaded last
  std::string rerun_key_;                     // the key of `rerun_`
  std::optional<WhatIfQuestion> asked_;       // the last question that was started
  // Declared after the objects that they read.
  BackgroundTask<Result<WhatIfSubject>> reading_;
  BackgroundTask<Result<WhatIfAnswer>> running_;
  FitView fit_;
};

}  // namespace vramscope::viewer
