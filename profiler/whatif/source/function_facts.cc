// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/function_facts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "profiler/whatif/lifetimes/function_calls.h"
#include "profiler/whatif/lifetimes/helper_calls.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

// "11-14" at the begin of the text, which is taken off; nothing where it is none.
std::optional<Lines> TakeLines(std::string_view& text) {
  Lines lines;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, lines.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, lines.last);
  if (last.ec != std::errc() || lines.first < 1 || lines.last < lines.first) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(last.ptr - text.data()));
  return lines;
}

std::vector<std::string> SplitAtCommas(std::string_view word) {
  std::vector<std::string> parts;
  for (size_t comma = 0; comma != std::string_view::npos; word.remove_prefix(comma + 1)) {
    comma = word.find(',');
    parts.emplace_back(word.substr(0, comma));
    if (comma == std::string_view::npos) break;
  }
  return parts;
}

bool TakeStatement(std::string_view word, Function& function) {
  const std::optional<Lines> lines = TakeLines(word);
  if (!lines || word.empty()) return false;
  if (word == "@") {
    function.loops.push_back(*lines);
    return true;
  }
  Given given;
  given.lines = *lines;
  given.unsure = word.front() == '?';
  if (given.unsure) word.remove_prefix(1);
  if (word.size() < 2) return false;
  const char what = word.front();
  word.remove_prefix(1);
  if (what == '>') {
    const bool kept = word.front() == '{';
    if (kept) word.remove_prefix(1);
    function.returned.push_back({*lines, given.unsure, SplitAtCommas(word), kept});
    return true;
  }
  const size_t from = what == '<' ? word.find('<') : std::string_view::npos;
  if (what == '<' && from == std::string_view::npos) return false;
  if (what == '<') given.what = Given::What::kOther, given.from = word.substr(from + 1);
  if (what == '=') given.what = Given::What::kResult;
  if (what == '(') given.what = Given::What::kReturned;
  if (what == '[') given.what = Given::What::kOneOfEach;
  if (what == '!') given.what = Given::What::kHeldElsewhere;
  const std::vector<std::string> names = SplitAtCommas(word.substr(0, from));
  given.elements = static_cast<uint32_t>(names.size());
  for (; given.element < given.elements; ++given.element) {
    given.name = names[given.element];
    function.given.push_back(given);
  }
  return std::string_view("=([<~!").find(what) != std::string_view::npos;
}

}  // namespace

Lines StatementAt(const Function& function, int line) {
  Lines found;
  for (const Given& given : function.given) {
    const bool smaller = found == Lines{} || given.lines.last - given.lines.first < found.last - found.first;
    if (given.lines.Has(line) && smaller) found = given.lines;
  }
  for (const Returned& returned : function.returned)
    if (found == Lines{} && returned.lines.Has(line)) found = returned.lines;
  return found;
}

bool IsInLoop(const Function& function, int line) {
  return std::ranges::any_of(function.loops, [&](const Lines& loop) { return loop.Has(line); });
}

// The file may have blanks and colons in its name; lines come behind the last colon.
void FunctionFacts::AddMark(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return;
  if (!told_.emplace(name.substr(0, name.find(' ', colon))).second) return;
  std::string_view text = name.substr(colon + 1);
  const std::optional<Lines> lines = TakeLines(text);
  if (!lines) return;
  Function function;
  function.lines = *lines;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (word == "args")
      function.keeps_arguments = true;
    else if (word.starts_with("args="))
      function.names = SplitAtCommas(word.substr(5));
    else if (!TakeStatement(word, function))
      return;
  }
  std::set<std::string> known(function.names.begin(), function.names.end());
  for (const Given& given : function.given)
    if (known.insert(given.name).second) function.names.push_back(given.name);
  files_[std::string(name.substr(0, colon))].push_back(std::move(function));
}

void FunctionFacts::AddCaller(uint32_t op, uint32_t text, std::string_view frame) {
  frames_.emplace(text, frame);
  callers_.emplace_back(op, text);
}

void FunctionFacts::AddModuleCaller(const std::vector<uint32_t>& open, const uint64_t* mark,
                                    std::string_view frame) {
  if (open.empty()) return;
  const auto text = static_cast<uint32_t>(mark[trace::mark::kName]);
  frames_.emplace(text, frame);
  module_callers_[open.back()].push_back({text, mark[trace::mark::kValue]});
}

void FunctionFacts::Tell(Step& step) const {
  if (callers_.empty()) return;
  FindLeft(callers_, frames_, step);
  if (files_.empty()) return;
  FunctionCalls(*this, step).Follow();
  MergeNamed(step.named);
}

}  // namespace vramscope::whatif
