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
    return "The trace has no program that could be run with " + OptionsText(changes) +
           ", and no such re-run was kept: a program is noted in the sixth step of a training loop in "
           "Python.";
  if (!program->head.has_body)
    return "The program could not be noted: " +
           (program->head.missing.empty() ? "the recorder does not say why"
                                          : text::OneLine(program->head.missing.front())) +
           ".";
  if (program->head.version > kKnownVersion)
    return "The program was noted by a newer vramscope. Use one that is as new.";
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
