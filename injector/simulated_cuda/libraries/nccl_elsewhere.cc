// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_elsewhere.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>

#include "injector/simulated_cuda/device/gpu.h"
#include "injector/simulated_cuda/elsewhere.h"

namespace vramscope::simulated {
namespace {

constexpr Gpu kGpus[] = {
#define GPU(...) {__VA_ARGS__},
#include "injector/simulated_cuda/gpus.def"
#undef GPU
};

struct Total {
  uint64_t now = 0, peak = 0;
};
std::mutex adding;
Total totals[std::size(kGpus)];
bool code_counted = false;

int CapabilityOf(const Gpu& gpu) { return 10 * gpu.major + gpu.minor; }

void Grow(Total& total, uint64_t bytes) {
  total.now += bytes;
  total.peak = std::max(total.peak, total.now);
}

bool Asked() { return std::getenv("VRAMSCOPE_SIMULATED_ELSEWHERE") != nullptr; }

__attribute__((destructor)) void TellTotals() {
  std::string lines;
  const std::lock_guard<std::mutex> lock(adding);
  for (size_t i = 0; i < std::size(kGpus); ++i) {
    if (totals[i].peak != 0)
      lines += "nccl\t" + std::string(kGpus[i].name) + "\t" + std::to_string(totals[i].peak) + "\n";
  }
  TellElsewhere(lines);
}

}  // namespace

void NcclElsewhere::CountCode() {
  const std::lock_guard<std::mutex> lock(adding);
  if (code_counted || !Asked()) return;
  code_counted = true;
  for (size_t i = 0; i < std::size(kGpus); ++i) Grow(totals[i], NcclCodeBytes(CapabilityOf(kGpus[i])));
}

void NcclElsewhere::Plan(const NcclSettings& settings, int release, int ranks, int rank, int sharing_parent) {
  if (!Asked()) return;
  for (const Gpu& gpu : kGpus) {
    Model& model = models_.emplace_back();
    model.plan = NcclMemoryFor(NcclGpuOf(CapabilityOf(gpu), gpu.bus_bits, gpu.product), settings, release,
                               ranks, rank);
    if (sharing_parent != 0) ShareWithParent(sharing_parent, ranks, &model.plan);
    model.receive_pool = model.plan.pool;
  }
}

NcclElsewhere::~NcclElsewhere() {
  const std::lock_guard<std::mutex> lock(adding);
  for (size_t i = 0; i < models_.size(); ++i) totals[i].now -= models_[i].taken;
}

void NcclElsewhere::Add(size_t model, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(adding);
  models_[model].taken += bytes;
  Grow(totals[model], bytes);
}

void NcclElsewhere::Take(Part part) {
  for (size_t i = 0; i < models_.size(); ++i) Add(i, models_[i].plan.*part);
}

void NcclElsewhere::TakeOnce(Part part) {
  Take(part);
  for (Model& model : models_) model.plan.*part = 0;
}

void NcclElsewhere::TakeReceivePool() {
  for (size_t i = 0; i < models_.size(); ++i) {
    Add(i, models_[i].receive_pool);
    models_[i].receive_pool = 0;
  }
}

}  // namespace vramscope::simulated
