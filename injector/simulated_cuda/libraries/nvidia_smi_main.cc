// SPDX-License-Identifier: Apache-2.0
// nvidia-smi of the simulated device. It is first on the PATH of a dry run, for programs that run the command
// instead of using NVML. It answers from the simulated NVML. The note that it is simulated goes to stderr:
// requested CSV must stay as it is.
//
//   nvidia-smi                                             the table
//   nvidia-smi -L                                          GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)
//   nvidia-smi --query-gpu=FIELD,... --format=csv[,noheader][,nounits] [-i N|UUID]
//   nvidia-smi --query-compute-apps=FIELD,... --format=...
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr unsigned kMib = 1 << 20;
constexpr int kBadUsage = 2, kNoDriver = 9;
constexpr char kSimulated[] = "nvidia-smi: simulated by vramscope; no GPU is asked.\n";
constexpr char kNotAvailable[] = "[N/A]";

// ---- NVML

struct Memory {
  unsigned long long total, free, used;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

void* Library() {
  static void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  return library;
}

// Calls the function of NVML with that name; false if there is none or it fails.
template <typename... Arguments>
bool Ask(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(Library(), name));
  return function != nullptr && function(arguments...) == 0;
}

std::string Text(const std::function<bool(char*, unsigned)>& ask) {
  char text[96] = "";
  return ask(text, sizeof(text)) ? text : kNotAvailable;
}

struct Gpu {
  unsigned index = 0;
  void* handle = nullptr;
  Memory memory = {};

  [[nodiscard]] std::string Name() const {
    return Text([&](char* text, unsigned size) { return Ask("nvmlDeviceGetName", handle, text, size); });
  }
  [[nodiscard]] std::string Uuid() const {
    return Text([&](char* text, unsigned size) { return Ask("nvmlDeviceGetUUID", handle, text, size); });
  }
  [[nodiscard]] std::string BusId() const {
    char text[32];
    std::snprintf(text, sizeof(text), "%08X:%02X:00.0", 0, index + 1);
    return text;
  }
  [[nodiscard]] std::vector<ProcessInfo> Processes() const {
    constexpr unsigned kMost = 128;
    unsigned count = kMost;
    std::vector<ProcessInfo> processes(kMost);
    if (!Ask("nvmlDeviceGetComputeRunningProcesses_v3", handle, &count, processes.data())) count = 0;
    processes.resize(count);
    return processes;
  }
};

std::string DriverVersion() {
  return Text([](char* text, unsigned size) { return Ask("nvmlSystemGetDriverVersion", text, size); });
}

std::string ProcessName(unsigned pid) {
  return Text([&](char* text, unsigned size) { return Ask("nvmlSystemGetProcessName", pid, text, size); });
}

std::vector<Gpu> AllGpus() {
  unsigned count = 0;
  std::vector<Gpu> gpus;
  Ask("nvmlDeviceGetCount_v2", &count);
  for (unsigned index = 0; index < count; ++index) {
    Gpu gpu;
    gpu.index = index;
    if (!Ask("nvmlDeviceGetHandleByIndex_v2", index, &gpu.handle)) continue;
    Ask("nvmlDeviceGetMemoryInfo", gpu.handle, &gpu.memory);
    gpus.push_back(gpu);
  }
  return gpus;
}

// ---- fields

struct Value {
  std::string text;
  const char* unit = "";  // left out with nounits
};

Value Mib(unsigned long long bytes) { return {std::to_string(bytes / kMib), " MiB"}; }

std::string Now() {
  const time_t now = time(nullptr);
  tm local = {};
  char text[40];
  localtime_r(&now, &local);
  std::strftime(text, sizeof(text), "%Y/%m/%d %H:%M:%S.000", &local);
  return text;
}

std::string ComputeCapability(const Gpu& gpu) {
  int major = 0, minor = 0;
  if (!Ask("nvmlDeviceGetCudaComputeCapability", gpu.handle, &major, &minor)) return kNotAvailable;
  return std::to_string(major) + "." + std::to_string(minor);
}

// Nullopt: as far as we know, nvidia-smi has no such field.
std::optional<Value> FieldOf(const Gpu& gpu, std::string_view field, size_t count) {
  const auto is = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
      if (field == name) return true;
    return false;
  };
  if (is({"index"})) return Value{std::to_string(gpu.index)};
  if (is({"name", "gpu_name"})) return Value{gpu.Name()};
  if (is({"uuid", "gpu_uuid"})) return Value{gpu.Uuid()};
  if (is({"pci.bus_id", "gpu_bus_id"})) return Value{gpu.BusId()};
  if (is({"count"})) return Value{std::to_string(count)};
  if (is({"timestamp"})) return Value{Now()};
  if (is({"driver_version"})) return Value{DriverVersion()};
  if (is({"compute_cap"})) return Value{ComputeCapability(gpu)};
  if (is({"memory.total"})) return Mib(gpu.memory.total);
  if (is({"memory.used"})) return Mib(gpu.memory.used);
  if (is({"memory.free"})) return Mib(gpu.memory.free);
  if (is({"memory.reserved"})) return Mib(0);
  if (is({"utilization.gpu", "utilization.memory"})) return Value{"0", " %"};
  if (is({"temperature.gpu"})) return Value{"30"};
  if (is({"power.draw", "power.draw.instant", "power.draw.average"})) return Value{"0.00", " W"};
  if (is({"pstate"})) return Value{"P0"};
  if (is({"compute_mode"})) return Value{"Default"};
  if (is({"persistence_mode", "display_mode", "display_active"})) return Value{"Disabled"};
  // Properties of a GPU that a simulated one lacks.
  for (const std::string_view family :
       {"power.", "clocks", "fan.", "ecc.", "mig.", "pcie.", "pci.", "serial", "vbios_version",
        "temperature.", "enforced.", "encoder.", "retired_pages.", "accounting.", "inforom.", "driver_model.",
        "board_", "minor_number"})
    if (field.substr(0, family.size()) == family) return Value{kNotAvailable};
  return std::nullopt;
}

std::optional<Value> FieldOf(const Gpu& gpu, const ProcessInfo& process, std::string_view field) {
  if (field == "pid") return Value{std::to_string(process.pid)};
  if (field == "process_name" || field == "name") return Value{ProcessName(process.pid)};
  if (field == "used_memory" || field == "used_gpu_memory") return Mib(process.used);
  if (field == "gpu_uuid" || field == "gpu_name" || field == "gpu_bus_id" || field == "timestamp")
    return FieldOf(gpu, field, 0);
  return std::nullopt;
}

// ---- output

struct Format {
  bool header = true, units = true;
};

struct Request {
  bool list = false;
  std::string gpu_fields, process_fields, only;
  Format format;
};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : text.size());
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

using ValueOfField = std::function<std::optional<Value>(std::string_view)>;

// "memory.used [MiB], name" or their values, as `text_of` makes them; nullopt: nvidia-smi has no such field.
std::optional<std::string> Line(const std::vector<std::string>& fields, const ValueOfField& value_of,
                                const std::function<std::string(const std::string&, const Value&)>& text_of) {
  std::string line;
  for (const std::string& field : fields) {
    const std::optional<Value> value = value_of(field);
    if (!value) {
      std::printf("Field \"%s\" is not a valid field to query.\n\n", field.c_str());
      return std::nullopt;
    }
    line += (line.empty() ? "" : ", ") + text_of(field, *value);
  }
  return line;
}

// The names of the fields, then a line for each row; the header has the units of `example`.
int PrintCsv(const std::string& names, Format format, const ValueOfField& example,
             const std::vector<ValueOfField>& rows) {
  const std::vector<std::string> fields = Split(names);
  const auto header = Line(fields, example, [](const std::string& field, const Value& value) {
    const std::string unit = value.unit;
    return unit.empty() ? field : field + " [" + unit.substr(1) + "]";
  });
  if (!header) return kBadUsage;
  if (format.header) std::printf("%s\n", header->c_str());
  for (const ValueOfField& row : rows) {
    const auto line = Line(fields, row, [&](const std::string&, const Value& value) {
      return value.text + (format.units ? value.unit : "");
    });
    std::printf("%s\n", line->c_str());
  }
  return 0;
}

int Query(const std::vector<Gpu>& gpus, const Request& request) {
  std::vector<ValueOfField> rows;
  for (const Gpu& gpu : gpus)
    rows.push_back([&](std::string_view field) { return FieldOf(gpu, field, gpus.size()); });
  return PrintCsv(request.gpu_fields, request.format, rows.front(), rows);
}

int QueryProcesses(const std::vector<Gpu>& gpus, const Request& request) {
  std::vector<ValueOfField> rows;
  for (const Gpu& gpu : gpus)
    for (const ProcessInfo& process : gpu.Processes())
      rows.push_back([&gpu, process](std::string_view field) { return FieldOf(gpu, process, field); });
  const auto example = [&](std::string_view field) { return FieldOf(gpus.front(), ProcessInfo{}, field); };
  return PrintCsv(request.process_fields, request.format, example, rows);
}

void List(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus)
    std::printf("GPU %u: %s (UUID: %s)\n", gpu.index, gpu.Name().c_str(), gpu.Uuid().c_str());
}

std::string CudaVersion() {
  int version = 0;
  if (!Ask("nvmlSystemGetCudaDriverVersion_v2", &version)) return "N/A";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// A line of the table, filled up to its width.
void Row(const char* text) { std::printf("| %-87.87s |\n", text); }
void Rule() { std::printf("+%s+\n", std::string(89, '-').c_str()); }

void Table(const std::vector<Gpu>& gpus) {
  char text[160];
  Rule();
  std::snprintf(text, sizeof(text),
                "NVIDIA-SMI simulated by vramscope  Driver Version: %-16s  CUDA Version: %s",
                DriverVersion().c_str(), CudaVersion().c_str());
  Row(text);
  Rule();
  Row("GPU  Name                          Bus-Id                   Memory-Usage  GPU-Util");
  for (const Gpu& gpu : gpus) {
    std::snprintf(text, sizeof(text), "%3u  %-28.28s  %-16s %7lluMiB / %7lluMiB        0%%", gpu.index,
                  gpu.Name().c_str(), gpu.BusId().c_str(), gpu.memory.used / kMib, gpu.memory.total / kMib);
    Row(text);
  }
  Rule();
  Row("GPU       PID  Process name                                              GPU Memory");
  for (const Gpu& gpu : gpus)
    for (const ProcessInfo& process : gpu.Processes()) {
      std::snprintf(text, sizeof(text), "%3u  %8u  %-54.54s %10lluMiB", gpu.index, process.pid,
                    ProcessName(process.pid).c_str(), process.used / kMib);
      Row(text);
    }
  Rule();
}

// ---- arguments

// The value of "--name=value" or "--name value"; nullopt: the argument is another one.
std::optional<std::string> ValueOf(const char* name, char** arguments, int count, int& at) {
  const std::string_view argument = arguments[at];
  const size_t length = std::strlen(name);
  if (argument.substr(0, length) != name) return std::nullopt;
  if (argument.size() > length && argument[length] == '=') return std::string(argument.substr(length + 1));
  if (argument.size() != length || at + 1 >= count) return std::nullopt;
  return arguments[++at];
}

std::optional<Request> Read(int count, char** arguments) {
  Request request;
  for (int at = 1; at < count; ++at) {
    if (const auto fields = ValueOf("--query-gpu", arguments, count, at)) {
      request.gpu_fields = *fields;
    } else if (const auto apps = ValueOf("--query-compute-apps", arguments, count, at)) {
      request.process_fields = *apps;
    } else if (const auto format = ValueOf("--format", arguments, count, at)) {
      for (const std::string& word : Split(*format)) {
        if (word == "noheader") request.format.header = false;
        if (word == "nounits") request.format.units = false;
      }
    } else if (const auto id = ValueOf("--id", arguments, count, at)) {
      request.only = *id;
    } else if (const auto short_id = ValueOf("-i", arguments, count, at)) {
      request.only = *short_id;
    } else if (std::strcmp(arguments[at], "-L") == 0 || std::strcmp(arguments[at], "--list-gpus") == 0) {
      request.list = true;
    } else {
      std::fprintf(
          stderr,
          "%snvidia-smi: %s is not simulated. There are -L, -i, --query-gpu and --query-compute-apps.\n",
          kSimulated, arguments[at]);
      return std::nullopt;
    }
  }
  return request;
}

std::vector<Gpu> Only(const std::string& wanted, std::vector<Gpu> gpus) {
  if (wanted.empty()) return gpus;
  std::vector<Gpu> chosen;
  for (const std::string& id : Split(wanted))
    for (const Gpu& gpu : gpus)
      if (id == std::to_string(gpu.index) || id == gpu.Uuid() || id == gpu.BusId()) chosen.push_back(gpu);
  return chosen;
}

}  // namespace

int main(int count, char** arguments) {
  const std::optional<Request> request = Read(count, arguments);
  if (!request) return kBadUsage;
  if (Library() == nullptr) {
    std::fprintf(stderr, "%sIt runs inside of `vramscope dryrun`.\n", kSimulated);
    return kNoDriver;
  }
  std::fputs(kSimulated, stderr);
  const std::vector<Gpu> gpus = Only(request->only, AllGpus());
  if (gpus.empty()) {
    std::printf("No devices were found\n");
    return 6;
  }
  if (!request->gpu_fields.empty()) return Query(gpus, *request);
  if (!request->process_fields.empty()) return QueryProcesses(gpus, *request);
  if (request->list)
    List(gpus);
  else
    Table(gpus);
  return 0;
}
