// SPDX-License-Identifier: Apache-2.0
#include "profiler/serve/site.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/collector/output/whole_file.h"
#include "profiler/text/harmless.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/number.h"

namespace vramscope::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 2000;  // of a folder
constexpr int kDeepest = 4;          // folders in a folder

// The parts of the viewer, and nothing else of its folder.
constexpr std::array<std::pair<std::string_view, const char*>, 10> kParts = {
    {{"index.html", "text/html; charset=utf-8"},
     {"page.css", "text/css; charset=utf-8"},
     {"page.js", "text/javascript; charset=utf-8"},
     {"worker.js", "text/javascript; charset=utf-8"},
     {"files.js", "text/javascript; charset=utf-8"},
     {"drawing.js", "text/javascript; charset=utf-8"},
     {"viewer.wasm", "application/wasm"},
     {"text.otf", "font/otf"},
     {"strong.otf", "font/otf"},
     {"mono.ttf", "font/ttf"}}};

Answer Refusal(unsigned status, std::string sentence) {
  Answer answer;
  answer.status = status;
  answer.body = std::move(sentence) + "\n";
  return answer;
}

// Takes the same time for every wrong token of the right length, so that the time reveals nothing.
bool Equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

bool IsTraceName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".vms" || extension == ".pickle" || extension == ".pkl";
}

std::optional<uint64_t> SizeOf(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(facts.st_size);
}

}  // namespace

std::string NewToken() {
  std::array<unsigned char, 16> bytes{};
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got > 0) filled += static_cast<size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::optional<ByteRange>> ParseRange(std::string_view header, uint64_t whole) {
  constexpr std::string_view kUnit = "bytes=";
  const size_t dash = header.find('-');
  if (!header.starts_with(kUnit) || dash == std::string_view::npos ||
      header.find(',') != std::string_view::npos)
    return std::optional<ByteRange>();
  const std::string_view from = header.substr(kUnit.size(), dash - kUnit.size());
  const std::string_view to = header.substr(dash + 1);
  const auto first = text::ParseNumber<uint64_t>(from);
  const auto last = text::ParseNumber<uint64_t>(to);
  if ((!from.empty() && !first) || (!to.empty() && !last) || (from.empty() && to.empty()))
    return std::optional<ByteRange>();
  if (from.empty()) {  // the last bytes
    const uint64_t bytes = std::min(*last, whole);
    if (bytes == 0) return Error{"There are no such bytes."};
    return std::optional(ByteRange{whole - bytes, bytes});
  }
  if (*first >= whole || (last && *last < *first)) return Error{"There are no such bytes."};
  const uint64_t end = last ? std::min(*last, whole - 1) : whole - 1;
  return std::optional(ByteRange{*first, end - *first + 1});
}

std::optional<std::string> DecodePath(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char letter = text[i];
    if (letter == '%') {
      unsigned code = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* const begin = text.data() + i + 1;
      const auto [end, error] = std::from_chars(begin, begin + 2, code, 16);
      if (error != std::errc() || end != begin + 2) return std::nullopt;
      letter = static_cast<char>(code);
      i += 2;
    }
    if (letter == '\0') return std::nullopt;
    decoded += letter;
  }
  return decoded;
}

Site::Site(std::string token, std::string web_folder, std::vector<std::string> paths)
    : token_(std::move(token)), web_folder_(std::move(web_folder)), paths_(std::move(paths)) {}

std::map<std::string, Site::Offered> Site::Files() const {
  std::map<std::string, Offered> files;
  const auto add = [&](std::string name, const fs::path& path, bool opened) {
    const std::string first = name;
    for (int number = 2; files.contains(name) && files[name].path != path; ++number)
      name = fmt::format("{}-{}", number, first);
    files[name] = {path.string(), opened};
  };
  for (const std::string& path : paths_) {
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      add(fs::path(path).filename().string(), path, true);
      continue;
    }
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator each(path, options, failed), end;
         !failed && each != end && files.size() < kMostFiles; each.increment(failed)) {
      if (each.depth() >= kDeepest) each.disable_recursion_pending();
      if (std::error_code no; IsTraceName(each->path()) && each->is_regular_file(no))
        add(each->path().lexically_relative(path).generic_string(), each->path(), false);
    }
  }
  return files;
}

std::string Site::FilesJson() const {
  nlohmann::ordered_json json = {{"open", nlohmann::json::array()}, {"files", nlohmann::json::array()}};
  for (const auto& [name, file] : Files()) {
    const auto bytes = SizeOf(file.path);
    if (!bytes) continue;
    if (file.opened) json["open"].push_back(name);
    json["files"].push_back({{"name", name}, {"bytes", *bytes}});
  }
  return text::Dump(json);
}

Answer Site::OfViewer(std::string_view name) const {
  const auto* part = std::ranges::find(kParts, name, &std::pair<std::string_view, const char*>::first);
  if (part == kParts.end()) return Refusal(404, "There is no such page.");
  Answer answer;
  answer.type = part->second;
  const std::string path = web_folder_ + "/" + std::string(name);
  if (name == "index.html") {
    answer.body = collector::ReadWhole(path, 1 << 20);
    constexpr std::string_view kHead = "<head>";
    if (const size_t head = answer.body.find(kHead); head != std::string::npos)
      answer.body.insert(head + kHead.size(), "<meta name=\"vramscope-files\" content=\"files.json\">");
    return answer;
  }
  const auto bytes = SizeOf(path);
  if (!bytes) return Refusal(404, "This part of the viewer is not installed.");
  answer.file = path;
  answer.bytes = *bytes;
  return answer;
}

Answer Site::OfFile(const std::string& name, std::string_view range) const {
  const auto files = Files();
  const auto found = files.find(name);
  const auto bytes = found == files.end() ? std::nullopt : SizeOf(found->second.path);
  if (!bytes) return Refusal(404, "There is no such file.");
  Answer answer;
  answer.type = "application/octet-stream";
  answer.file = found->second.path;
  answer.bytes = *bytes;
  if (range.empty()) return answer;
  const auto part = ParseRange(range, *bytes);
  if (!part.ok()) {
    Answer refusal = Refusal(416, part.error().sentence);
    refusal.whole = *bytes;
    return refusal;
  }
  if (!part->has_value()) return answer;
  answer.status = 206;
  answer.offset = (*part)->offset;
  answer.bytes = (*part)->bytes;
  answer.whole = *bytes;
  return answer;
}

Answer Site::AnswerTo(const Request& request) const {
  const std::string_view target = request.target.substr(0, request.target.find_first_of("?#"));
  if (target.size() < 2 || target[0] != '/')
    return Refusal(403, "The link is not complete: its token is missing.");
  const size_t slash = std::min(target.find('/', 1), target.size());
  if (!Equal(target.substr(1, slash - 1), token_))
    return Refusal(403, "The link has no valid token. vramscope serve prints the whole link when it starts.");
  if (request.method != "GET" && request.method != "HEAD") return Refusal(405, "Files can only be read.");
  const auto rest = DecodePath(target.substr(std::min(slash + 1, target.size())));
  if (!rest) return Refusal(400, "The path is malformed.");
  if (slash == target.size()) return Refusal(404, "The link ends with a slash.");
  if (rest->empty()) return OfViewer("index.html");
  if (*rest == "files.json") {
    Answer answer;
    answer.type = "application/json";
    answer.body = FilesJson();
    return answer;
  }
  constexpr std::string_view kFiles = "files/";
  if (rest->starts_with(kFiles)) return OfFile(rest->substr(kFiles.size()), request.range);
  return OfViewer(*rest);
}

}  // namespace vramscope::serve
