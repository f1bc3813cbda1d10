// SPDX-License-Identifier: Apache-2.0
// All ranks of a job compared: the answer of `vramscope fleet`.
//
//   files ──Summarize──► RankSummary, one each ──Compare──► Job: peers, outliers, clocks, who runs out first
//                                                            └──Explainer──► causes, from the traces of the
//                                                                            outliers and of one typical rank
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/diff/compare.h"
#include "profiler/fleet/clocks.h"
#include "profiler/fleet/rank_summary.h"
#include "profiler/fleet/spread.h"
#include "trace_format/result.h"

namespace vramscope::fleet {

// Ranks that should take the same memory: at the same place of the pipeline and of the experts if the trace
// knows it, else those whose parameters are alike.
struct PeerGroup {
  std::string stage;            // "pp 2, ep 0"; "" = grouped by names
  std::vector<size_t> members;  // into Job::ranks
  Spread allocated;
  Spread reserved;  // of those that know it
  Spread used;
  size_t typical = 0;  // the member whose peak is the median's
};

struct Finding {
  enum class Kind : uint8_t {
    kOutOfMemory,
    kDead,           // killed, failed, or its recording was cut off
    kMemory,         // its peak stands out among its peers
    kImbalance,      // the ranks of one stage, or of one group of experts, take more than those of another
    kFragmentation,  // what it reserves stands out, what it allocates does not
    kOutside,        // what it takes outside PyTorch stands out
    kElsewhere,      // it holds memory on the device of another rank
    kGrowth,         // it leaks and its peers do not
    kLate,
    kMissing,  // no file has it
  } kind{};
  std::vector<size_t> ranks;  // into Job::ranks; empty for kMissing
  std::string text;           // one sentence or two
  int64_t bytes = 0;          // above (below) its peers; per step for kGrowth; 0 = it is not about bytes
  uint32_t since_step = 0;    // the first step that differs; 0 = from the start, or unknown
  std::string category;       // key of the one that differs most; "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // as diff says it: "Input of a step 1.80 times as large"
};
[[nodiscard]] const char* FindingKey(Finding::Kind kind);

// The first rank that will run out of memory if it goes on like this.
struct FirstOut {
  size_t rank = 0;
  uint64_t steps_left = 0;
  std::optional<uint64_t> time_left_ns;  // if steps have times
};

struct Job {
  std::vector<RankSummary> ranks;  // by rank
  std::vector<PeerGroup> groups;   // most members first
  std::vector<size_t> group_of;    // by rank
  Clocks clocks;
  std::vector<Finding> findings;  // most urgent first
  std::optional<FirstOut> first_out;
  std::vector<uint32_t> missing;  // ranks below the world size that no file has
  std::vector<std::string> notes;
  bool several_hosts = false;

  [[nodiscard]] std::string NameOf(size_t rank) const { return ranks[rank].Name(several_hosts); }
};

// Why a rank takes more, or less, than one that is typical of its peers.
struct Explanation {
  std::string category;  // key; "" = unknown, as for those below
  std::string module;
  std::string line;
  std::string cause;  // as diff says it
  std::string text;   // "activations +204.8 MiB in layers.*.attn, forward (model.py:88)"
};

struct Question {
  const RankSummary* typical = nullptr;
  const RankSummary* outlier = nullptr;
  bool more = false;  // of memory
};

// Answers in the order of the questions; nothing where a run cannot be read. Many at once, so that several
// processes can share the work (`fleet --mpi`).
using Explainer = std::function<std::vector<std::optional<Explanation>>(const std::vector<Question>&)>;

// Opens the run that a summary is of, with its device and process; for what figures cannot say.
using OpenSide = std::function<Result<diff::Side>(const RankSummary&)>;

// Answers one question after the other in this process. In explain.cc, as the next one.
[[nodiscard]] Explainer ExplainHere(OpenSide open);
[[nodiscard]] Explanation Explain(const diff::Side& typical, const diff::Side& outlier, bool more);

// `explain` may be empty: then findings have no causes. At most `explained` findings are explained, those
// with the largest difference.
[[nodiscard]] Job Compare(std::vector<RankSummary> ranks, const Explainer& explain = {},
                          size_t explained = 8);

// One JSON document; docs/json.md describes it.
[[nodiscard]] std::string ToJson(const Job& job);
// The same without the steps of each rank, and with the heat map: for a page.
[[nodiscard]] std::string PageJson(const Job& job);

}  // namespace vramscope::fleet
