// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/man_page.h"

#include <fmt/format.h>

#include <string_view>

namespace vramscope::cli {
namespace {

// Escapes text for troff: backslashes, hyphens that must stay ASCII dashes, and requests at the start of a
// line.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Bold(std::string_view text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Roff(text) + "\\fR"; }

std::string PageHeading(const std::string& name, const std::string& version) {
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(".TH {} 1 \"\" \"vramscope {}\" \"vramscope\"\n", Roff(upper), Roff(version));
}

std::string Examples(std::span<const Example> examples) {
  std::string text = ".SH EXAMPLES\n";
  for (const Example& example : examples)
    text += fmt::format(".TP\n{}\n{}\n", Bold(example.command), Roff(example.meaning));
  return text;
}

std::string OptionsText(const VerbHelp& help) {
  std::string text = ".SH OPTIONS\n";
  for (const Option& option : AllOptions(help)) {
    text += ".TP\n";
    if (option.letter != '\0') text += Bold(fmt::format("-{}", option.letter)) + ", ";
    text += Bold(fmt::format("--{}", option.name));
    if (option.value != nullptr) text += " " + Italic(option.value);
    text += "\n" + Roff(option.help) + "\n";
  }
  return text;
}

constexpr const char* kExitStatus =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n\\fB0\\fR\ndone\n"
    ".TP\n\\fB1\\fR\nthe answer is no: a rule is broken, or the program does not fit\n"
    ".TP\n\\fB2\\fR\nbad usage or bad input; one sentence on standard error explains it\n"
    ".TP\n\\fB3\\fR\nthe question could not be answered\n";
constexpr const char* kExitStatusOfRecord =
    ".PP\n\\fBvramscope record\\fR ends as the recorded command did.\n";

}  // namespace

std::string ManPage(std::span<const Verb> verbs, const std::string& version) {
  std::string text = PageHeading("vramscope", version);
  text +=
      ".SH NAME\nvramscope \\- where the memory of a training run goes\n.SH SYNOPSIS\n.B vramscope\n"
      ".I VERB\n[options] ...\n.SH DESCRIPTION\nRecords what a PyTorch program allocates, on GPUs and on the "
      "CPU, and shows where the memory went,\nwhat fragments it, why it ran out, and what a change would "
      "save.\n";
  const Example examples[] = {{"vramscope record -- python train.py", "record a run, with no change to it"},
                              {"vramscope report run.vms", "show where its memory went"}};
  text += Examples(examples) + ".SH VERBS\n";
  for (const Verb& verb : verbs)
    text += fmt::format(".TP\n{}\n{}\n", Bold(verb.name), Roff(verb.help().summary));
  text += kExitStatus;
  text += kExitStatusOfRecord;
  text += ".SH \"SEE ALSO\"\n";
  for (size_t i = 0; i < verbs.size(); ++i)
    text += fmt::format(".BR vramscope\\-{} (1){}\n", Roff(verbs[i].name), i + 1 < verbs.size() ? "," : "");
  return text;
}

std::string ManPage(const Verb& verb, const std::string& version) {
  const VerbHelp& help = verb.help();
  const std::string name = fmt::format("vramscope-{}", verb.name);
  std::string text = PageHeading(name, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B vramscope {}\n", Roff(name), Roff(help.summary),
                      Roff(verb.name));
  const std::string_view usage = help.usage;
  const size_t space = usage.find(' ');
  if (space != std::string_view::npos) text += Roff(usage.substr(space + 1)) + "\n";
  text += Examples(help.examples) + OptionsText(help) + kExitStatus;
  if (name == "vramscope-record") text += kExitStatusOfRecord;
  return text + ".SH \"SEE ALSO\"\n.BR vramscope (1)\n";
}

}  // namespace vramscope::cli
