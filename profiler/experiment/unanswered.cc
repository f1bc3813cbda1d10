// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/unanswered.h"

#include "profiler/text/harmless.h"
#include "profiler/text/redact.h"

namespace vramscope::experiment {
namespace {

constexpr uint64_t kKnownVersion = 1;  // program format version

}  // namespace

std::string WhyNoProgram(const std::optional<NotedProgram>& program,
                         const std::vector<whatif::Asked>& changes) {
  if (!program)
    return "The trace contains no program that could be re-run with " + OptionsText(changes) +
           ", and no such re-run was kept. A program is recorded in the sixth step of a training loop in "
           "Python.";
  if (!program->head.has_body)
    return "The program could not be recorded: " +
           (program->head.missing.empty() ? "the recorder gave no reason"
                                          : text::OneLine(program->head.missing.front())) +
           ".";
  if (program->head.version > kKnownVersion)
    return "A newer vramscope recorded the program. Use that version or a newer one.";
  return "";
}

std::string TryCommand(const trace::Metadata& metadata, const std::string& gpu,
                       const std::vector<whatif::Asked>& changes) {
  const auto command = metadata.find("command_line");
  return "vramscope try --dry --gpu " + (gpu.empty() ? "GPU" : gpu) + (changes.empty() ? "" : " ") +
         text::OneLine(OptionsText(changes)) + " -- " +
         (command == metadata.end() ? "COMMAND" : text::OneLine(text::Redacted(command->second)));
}

}  // namespace vramscope::experiment
