// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/gpu_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string_view>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {
namespace {

using Models = std::vector<collector::GpuModel>;

// Whole numbers, in the order of the simulated device's parameters after the compute capability.
struct NumberField {
  const char* name;
  uint64_t least, most;
};
constexpr NumberField kNumbers[] = {
    {"multiprocessors", 1, 1024},
    {"memory_mib", 256, 16ull << 20},
    {"l2_cache_mib", 0, 4096},
    {"shared_memory_kib", 48, 4096},
    {"threads_per_multiprocessor", 1024, 8192},
    {"blocks_per_multiprocessor", 1, 256},
    {"clock_mhz", 1, 100'000},
    {"memory_clock_mhz", 1, 1'000'000},
    {"bus_bits", 32, 65'536},
    {"context_mib", 0, 16ull << 10},
};
constexpr size_t kLargestFile = 1 << 20;  // 2,500 GPUs

constexpr std::string_view kMemory = "memory_mib";
constexpr std::string_view kContext = "context_mib";

std::vector<std::string> FieldNames() {
  std::vector<std::string> names = {"name", "product", "compute_capability"};
  for (const NumberField& field : kNumbers) names.emplace_back(field.name);
  return names;
}

// Reads one GPU; `error` is the first problem found.
class Reader {
 public:
  Reader(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  std::string Text(const char* name, const std::regex& shape, const char* wanted) {
    const nlohmann::json* const value = Find(name);
    if (value == nullptr) return "";
    if (!value->is_string() || !std::regex_match(value->get<std::string>(), shape)) {
      Complain(fmt::format("\"{}\" must be {}.", name, wanted));
      return "";
    }
    return value->get<std::string>();
  }

  uint64_t Number(const NumberField& field) {
    const nlohmann::json* const value = Find(field.name);
    if (value == nullptr) return 0;
    const bool number = value->is_number_unsigned();
    if (!number || value->get<uint64_t>() < field.least || value->get<uint64_t>() > field.most) {
      Complain(
          fmt::format("\"{}\" must be a whole number from {} to {}.", field.name, field.least, field.most));
      return 0;
    }
    return value->get<uint64_t>();
  }

  void RefuseUnknown() {
    const std::vector<std::string> names = FieldNames();
    for (const auto& item : object_.items()) {
      if (std::ranges::find(names, item.key()) != names.end()) continue;
      const auto near = Nearest(item.key(), names);
      Complain(near ? fmt::format("\"{}\" is not a field of a GPU; did you mean \"{}\"?",
                                  Printable(item.key()), *near)
                    : fmt::format("\"{}\" is not a field of a GPU; the fields are {}.", Printable(item.key()),
                                  fmt::join(names, ", ")));
    }
  }

  void Complain(const std::string& sentence) {
    if (!error_) error_ = Error{fmt::format("{}: {}", where_, sentence)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const nlohmann::json* Find(const char* name) {
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    Complain(fmt::format("\"{}\" is missing; docs/dryrun.md explains the fields.", name));
    return nullptr;
  }

  const nlohmann::json& object_;
  std::string where_;
  std::optional<Error> error_;
};

std::string NameOfGpu(const nlohmann::json& gpu) {
  const auto found = gpu.find("name");
  return found != gpu.end() && found->is_string() ? Printable(found->get<std::string>()) : "";
}

Result<collector::GpuModel> ReadGpu(const nlohmann::json& gpu, const std::string& path, const Models& known) {
  static const std::regex name_shape("[a-z0-9][a-z0-9._-]{0,39}"), product_shape("[A-Za-z0-9 ()/+._-]{1,80}"),
      capability_shape(R"([1-9][0-9]?\.[0-9])");
  const std::string name = NameOfGpu(gpu);
  Reader reader(gpu, name.empty() ? path : fmt::format("{}: {}", path, name));
  reader.RefuseUnknown();
  collector::GpuModel model;
  model.name =
      reader.Text("name", name_shape, "made of lowercase letters, digits and dashes, like \"rtx-a4000\"");
  model.product =
      reader.Text("product", product_shape, "the GPU's name in plain letters, like \"NVIDIA RTX A4000\"");
  std::string capability =
      reader.Text("compute_capability", capability_shape, "a string of two numbers, like \"8.6\"");
  model.compute_capability =
      std::atoi(capability.c_str()) * 10 + (capability.empty() ? 0 : capability.back() - '0');
  std::ranges::replace(capability, '.', ';');
  model.description = fmt::format("{};{};{}", model.name, model.product, capability);
  uint64_t memory = 0, context = 0;
  for (const NumberField& field : kNumbers) {
    const uint64_t number = reader.Number(field);
    model.description += fmt::format(";{}", number);
    if (field.name == kMemory) memory = number;
    if (field.name == kContext) context = number;
  }
  model.capacity_bytes = memory << 20;
  model.context_bytes = context << 20;
  if (context >= memory) reader.Complain("\"context_mib\" must be less than \"memory_mib\".");
  if (model.name == "all" || model.name == "list" ||
      std::ranges::find(known, model.name, &collector::GpuModel::name) != known.end())
    reader.Complain("the name already has another meaning; choose another one.");
  if (reader.error()) return *reader.error();
  return model;
}

}  // namespace

Result<Models> ParseGpuFile(const std::string& text, const std::string& path, const Models& known) {
  // Moved, never copied: a copy recurses as deep as the text nests.
  nlohmann::json gpus = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (gpus.is_object()) {
    nlohmann::json only = std::move(gpus);
    gpus = nlohmann::json::array();
    gpus.push_back(std::move(only));
  }
  if (!gpus.is_array() || gpus.empty() || !std::ranges::all_of(gpus, &nlohmann::json::is_object))
    return Error{fmt::format(
        "{}: must be a JSON object that describes a GPU, or a list of these; docs/dryrun.md has an example.",
        path)};
  Models taken = known;
  Models models;
  for (const nlohmann::json& gpu : gpus) {
    const collector::GpuModel model = VRAMSCOPE_TRY(ReadGpu(gpu, path, taken));
    taken.push_back(model);
    models.push_back(model);
  }
  return models;
}

Result<Models> ReadGpuFile(const std::string& path, const Models& known) {
  const std::string name = "--gpu-file " + Printable(path);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{fmt::format("{}: cannot be read: {}.", name, std::strerror(errno))};
  std::string text(kLargestFile + 1, '\0');
  size_t length = 0;
  ssize_t got = 0;
  while (length < text.size() && (got = read(descriptor, text.data() + length, text.size() - length)) > 0)
    length += static_cast<size_t>(got);
  const int failed = got < 0 ? errno : 0;
  close(descriptor);
  if (failed != 0) return Error{fmt::format("{}: cannot be read: {}.", name, std::strerror(failed))};
  if (length > kLargestFile)
    return Error{fmt::format(
        "{}: has more than {}, so it is not a description of GPUs; docs/dryrun.md has an example.", name,
        FormatBytes(kLargestFile))};
  text.resize(length);
  return ParseGpuFile(text, Printable(path), known);
}

}  // namespace vramscope::cli
