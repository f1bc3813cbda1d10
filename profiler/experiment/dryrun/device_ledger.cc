// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/device_ledger.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "trace_format/device_use.h"

namespace vramscope::experiment {
namespace {

uint64_t Number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

uint64_t NumberOr(const nlohmann::json& object, const char* key, uint64_t absent) {
  return object.contains(key) ? Number(object, key) : absent;
}

std::string Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The elements of an array; empty if the key is not an array.
nlohmann::json List(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? *found : nlohmann::json::array();
}

void AddEntry(const nlohmann::json& row, std::vector<LedgerEntry>& entries) {
  const std::string library = Text(row, "library"), call = Text(row, "call");
  const auto found = std::ranges::find_if(
      entries, [&](const LedgerEntry& entry) { return entry.library == library && entry.call == call; });
  LedgerEntry& entry = found != entries.end() ? *found : entries.emplace_back(LedgerEntry{library, call});
  const uint64_t bytes = Number(row, "peak_bytes");
  entry.peak_bytes += bytes;
  entry.low_bytes += bytes * NumberOr(row, "low_percent", 100) / 100;
  entry.high_bytes += bytes * NumberOr(row, "high_percent", 100) / 100;
  if (const std::string basis = Text(row, "basis"); !basis.empty()) entry.basis = basis;
}

// Adds one process's view of one device.
void AddProcess(const nlohmann::json& device, DeviceLedger& ledger) {
  ledger.capacity_bytes = std::max(ledger.capacity_bytes, Number(device, "capacity_bytes"));
  ledger.peak_bytes = std::max(ledger.peak_bytes, Number(device, "peak_bytes"));
  ledger.missing_bytes = std::max(ledger.missing_bytes, Number(device, "missing_bytes"));
  ledger.refusals += Number(device, "refusals");
  if (Number(device, "missing_bytes") != 0 && Text(device, "refused_basis") != "exact")
    ledger.refused_beside = Text(device, "refused_call");
  for (const nlohmann::json& row : List(device, "rows"))
    if (row.is_object()) AddEntry(row, ledger.entries);
}

// Adds the simultaneous use of all processes, from their table.
void AddTable(const std::string& file, uint64_t capacity_bytes, std::map<int, DeviceLedger>& ledgers) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(offsetof(trace::DeviceUseTable, devices));
  const auto use = std::make_unique<trace::DeviceUse>();
  for (int number = 0; number < trace::kMostSharedDevices; ++number) {
    if (!stream.read(reinterpret_cast<char*>(use.get()), sizeof(*use))) return;
    if (use->peak_bytes == 0) continue;
    DeviceLedger& ledger = ledgers[number];
    ledger.device = number;
    if (ledger.capacity_bytes == 0) ledger.capacity_bytes = capacity_bytes;
    ledger.peak_bytes = std::max(ledger.peak_bytes, use->peak_bytes);
    for (uint32_t i = 0; i < std::min(use->share_count, trace::kMostSharingProcesses); ++i)
      ledger.processes.push_back({use->shares[i].process.pid, use->shares[i].bytes});
  }
}

}  // namespace

std::vector<DeviceLedger> ReadDeviceLedgers(const std::string& folder, const std::string& shared_file,
                                            uint64_t capacity_bytes) {
  std::map<int, DeviceLedger> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const nlohmann::json document = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    for (const nlohmann::json& device : List(document, "devices")) {
      if (!device.is_object()) continue;
      const int number = static_cast<int>(Number(device, "device"));
      found[number].device = number;
      AddProcess(device, found[number]);
    }
  }
  AddTable(shared_file, capacity_bytes, found);
  std::vector<DeviceLedger> ledgers;
  for (auto& [number, ledger] : found) ledgers.push_back(std::move(ledger));
  return ledgers;
}

DeviceLedger Fullest(const std::vector<DeviceLedger>& ledgers) {
  const auto fullest = std::ranges::max_element(ledgers, {}, &DeviceLedger::peak_bytes);
  return fullest != ledgers.end() ? *fullest : DeviceLedger{};
}

}  // namespace vramscope::experiment
