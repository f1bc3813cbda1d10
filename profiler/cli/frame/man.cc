// SPDX-License-Identifier: Apache-2.0
// `vramscope man`: the manual pages; the build writes all of them for the installation.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/cli/frame/man_page.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/new_file.h"

namespace vramscope::cli {

const VerbHelp& ManHelp() {
  static const VerbHelp help = {
      "man",
      "print or install the manual pages",
      "man [options] [VERB]",
      {{"vramscope man report | man -l -", "read the page of a verb"},
       {"vramscope man --into ~/.local/share/man/man1", "install all pages where man finds them"}},
      {{"into", '\0', "FOLDER", "Write vramscope.1 and a page for each verb to this folder."}}};
  return help;
}

namespace {

Status WritePage(const std::string& folder, const std::string& name, const std::string& page) {
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(folder + "/" + name + ".1", {}));
  VRAMSCOPE_TRY(file.Write(page));
  return file.Commit();
}

Result<int> WriteAll(const std::string& folder) {
  VRAMSCOPE_TRY(WritePage(folder, "vramscope", ManPage(Verbs(), VRAMSCOPE_VERSION)));
  for (const Verb& verb : Verbs())
    VRAMSCOPE_TRY(
        WritePage(folder, fmt::format("vramscope-{}", verb.name), ManPage(verb, VRAMSCOPE_VERSION)));
  return kDone;
}

Result<int> ManVerb(const Arguments& arguments, const Terminal&) {
  const std::vector<std::string>& named = arguments.positionals();
  if (arguments.Has("into") && named.empty()) return WriteAll(arguments.Get("into"));
  if (arguments.Has("into") || named.size() > 1)
    return UsageError(
        "man prints one page, or writes all of them: vramscope man report, or vramscope man --into FOLDER.");
  if (named.empty()) {
    Print(ManPage(Verbs(), VRAMSCOPE_VERSION));
    return kDone;
  }
  const auto verb = std::find_if(Verbs().begin(), Verbs().end(),
                                 [&](const Verb& one) { return named.front() == one.name; });
  if (verb == Verbs().end())
    return UsageError(fmt::format("there is no verb '{}'. See vramscope --help.", Printable(named.front())));
  Print(ManPage(*verb, VRAMSCOPE_VERSION));
  return kDone;
}

}  // namespace

int RunMan(std::span<const std::string> words) {
  return RunParsed(ManHelp(), Arguments::Parse(ManHelp(), words), ManVerb);
}

}  // namespace vramscope::cli
