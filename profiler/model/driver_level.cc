// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/driver_level.h"

#include <algorithm>
#include <array>

namespace vramscope::model {
namespace {

struct LibraryRule {
  std::string_view prefix;  // of the file name
  DriverOwner owner;
};

// The first match applies. libcublas* includes libcublasLt, which cuBLAS and PyTorch both call.
constexpr std::array kLibraryRules = {
    LibraryRule{"libc10_cuda", DriverOwner::kPyTorch},
    LibraryRule{"libtensorflow_framework", DriverOwner::kPyTorch},  // regions of its BFC allocator
    LibraryRule{"xla_cuda_plugin", DriverOwner::kPyTorch},          // the same of JAX
    LibraryRule{"libtorch", DriverOwner::kPyTorchBeside},
    LibraryRule{"libc10", DriverOwner::kPyTorchBeside},
    LibraryRule{"libnccl", DriverOwner::kNccl},
    LibraryRule{"libcublas", DriverOwner::kCublas},
    LibraryRule{"libcudnn", DriverOwner::kCudnn},
    LibraryRule{"libcufft", DriverOwner::kCudaLibraries},
    LibraryRule{"libcusolver", DriverOwner::kCudaLibraries},
    LibraryRule{"libcusparse", DriverOwner::kCudaLibraries},
    LibraryRule{"libcurand", DriverOwner::kCudaLibraries},
    LibraryRule{"libcutensor", DriverOwner::kCudaLibraries},
    LibraryRule{"libcudss", DriverOwner::kCudaLibraries},
    LibraryRule{"libnvshmem", DriverOwner::kCudaLibraries},
    LibraryRule{"libnpp", DriverOwner::kCudaLibraries},
    LibraryRule{"libnvjpeg", DriverOwner::kCudaLibraries},
    LibraryRule{"libnvinfer", DriverOwner::kCudaLibraries},
    LibraryRule{"libcufile", DriverOwner::kCudaLibraries},
};

}  // namespace

DriverOwner OwnerOfLibrary(std::string_view library) {
  const std::string_view name = library.substr(library.rfind('/') + 1);  // npos + 1 = 0
  const auto rule = std::find_if(kLibraryRules.begin(), kLibraryRules.end(),
                                 [&](const LibraryRule& r) { return name.starts_with(r.prefix); });
  return rule == kLibraryRules.end() ? DriverOwner::kUser : rule->owner;
}

uint32_t DriverDevice::FindRow(const Row& wanted) {
  const auto [row, fresh] =
      row_of_.try_emplace(std::tuple(wanted.process, wanted.owner, wanted.library), rows.size());
  if (fresh) {
    rows.push_back(wanted);
    now_.push_back(0);
  }
  return row->second;
}

void DriverDevice::AddChange(const DriverChange& change) {
  // Keeps at most as many totals as changes, however many rows a file has.
  if (totals_.empty() || changes.size() - totals_.back().changes >= std::max(kStride, now_.size()))
    totals_.push_back({changes.size(), now_});
  changes.push_back(change);
  now_[change.row] += change.bytes;
  sum_ += change.bytes;
  if (!samples.empty()) NotePeak(change.event, sum_ + samples.back().unattributed);
}

void DriverDevice::AddSample(DriverSample sample) {
  sample.unattributed = static_cast<int64_t>(sample.used) - sum_;
  if (!samples.empty() && samples.back().unattributed != sample.unattributed) ++mismatches_;
  if (sample.unattributed < 0) ++below_rows_;
  samples.push_back(sample);
  NotePeak(sample.event, static_cast<int64_t>(sample.used));
}

void DriverDevice::NotePeak(EventIndex event, int64_t used) {
  if (used <= static_cast<int64_t>(peak_used_)) return;
  peak_used_ = static_cast<uint64_t>(used);
  peak_event_ = event;
}

// The number of changes with event <= at.
size_t DriverDevice::ChangesUntil(EventIndex at) const {
  size_t low = 0;
  size_t high = changes.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (changes[middle].event <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const DriverSample* DriverDevice::SampleBefore(EventIndex at) const {
  const auto after =
      std::upper_bound(samples.begin(), samples.end(), at,
                       [](EventIndex event, const DriverSample& sample) { return event < sample.event; });
  return after == samples.begin() ? nullptr : &*(after - 1);
}

std::vector<DriverDevice::RowBytes> DriverDevice::RowsAfter(EventIndex at) const {
  const size_t until = ChangesUntil(at);
  std::vector<int64_t> bytes(rows.size());
  if (until > 0) {
    const auto after =
        std::upper_bound(totals_.begin(), totals_.end(), until - 1,
                         [](size_t change, const Totals& totals) { return change < totals.changes; });
    const Totals& before = *(after - 1);
    std::copy(before.of_rows.begin(), before.of_rows.end(), bytes.begin());
    for (size_t i = before.changes; i < until; ++i) bytes[changes[i].row] += changes[i].bytes;
  }
  std::vector<RowBytes> answer;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (bytes[i] != 0) answer.push_back({rows[i], bytes[i]});
  }
  return answer;
}

DriverUse DriverDevice::UseAfter(EventIndex at, ProcessIndex process) const {
  DriverUse use;
  int64_t sum = 0;
  for (const RowBytes& row : RowsAfter(at)) {
    int64_t& place =
        row.row.process == process ? use.owners[static_cast<size_t>(row.row.owner)] : use.other_processes;
    place += row.bytes;
    sum += row.bytes;
  }
  const DriverSample* sample = SampleBefore(at);
  if (sample == nullptr) return use;
  use.unattributed = sample->unattributed;
  use.used = static_cast<uint64_t>(std::max<int64_t>(sum + sample->unattributed, 0));
  use.capacity = sample->capacity;
  return use;
}

std::optional<uint64_t> DriverDevice::UsedAfter(EventIndex at) const {
  const DriverSample* sample = SampleBefore(at);
  if (sample == nullptr) return std::nullopt;
  int64_t sum = sample->unattributed;
  for (const RowBytes& row : RowsAfter(at)) sum += row.bytes;
  return static_cast<uint64_t>(std::max<int64_t>(sum, 0));
}

const DriverDevice* DriverLevel::Find(ProcessIndex process, uint16_t code) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DriverDevice& device) {
    return device.code == code &&
           std::binary_search(device.processes.begin(), device.processes.end(), process);
  });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace vramscope::model
