// SPDX-License-Identifier: Apache-2.0
// The comparison of all ranks of a job: the answer of `vramscope fleet`.
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

// Ranks that should use the same amount of memory. If the trace records stages, peers have the same pipeline
// and expert stage. Otherwise, they have the same parameters.
struct PeerGroup {
  std::string stage;            // "pp 2, ep 0"; "" = not grouped by stage
  std::vector<size_t> members;  // into Job::ranks
  Spread allocated;
  Spread reserved;  // of the members with a known value
  Spread used;
  size_t typical = 0;  // the member whose peak is closest to the median
};

struct Finding {
  enum class Kind : uint8_t {
    kOutOfMemory,
    kDead,           // killed, failed, or its recording was cut off
    kMemory,         // its peak stands out among its peers
    kImbalance,      // the ranks of one stage, or of one group of experts, use more than those of another
    kFragmentation,  // its reserved memory stands out, its allocated memory does not
    kOutside,        // its memory outside PyTorch stands out
    kElsewhere,      // it holds memory on the device of another rank
    kGrowth,         // it leaks more than its peers; if all peers leak, also the typical rank
    kLate,
    kMissing,  // no file has this rank
  } kind{};
  std::vector<size_t> ranks;  // into Job::ranks; empty for kMissing
  std::string text;           // one sentence or two
  int64_t bytes = 0;          // above (negative: below) its peers; per step for kGrowth; 0 = not about bytes
  uint32_t since_step = 0;    // the first step that differs; 0 = from the start, or unknown
  std::string category;       // key of the category that differs most; "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // diff::Cause::what: "Input of a step 1.80 times as large"
};
[[nodiscard]] const char* FindingKey(Finding::Kind kind);

// The rank that will run out of memory first if it continues to grow at this rate.
struct FirstOut {
  size_t rank = 0;
  uint64_t steps_left = 0;
  std::optional<uint64_t> time_left_ns;  // if steps have times
};

struct Job {
  std::vector<RankSummary> ranks;  // in order of rank numbers
  std::vector<PeerGroup> groups;   // most members first
  std::vector<size_t> group_of;    // by index into ranks: the index into groups
  Clocks clocks;
  std::vector<Finding> findings;  // most urgent first
  std::optional<FirstOut> first_out;
  std::vector<uint32_t> missing;  // rank numbers below the world size that no file has
  std::vector<std::string> notes;
  bool several_hosts = false;

  [[nodiscard]] std::string NameOf(size_t rank) const { return ranks[rank].Name(several_hosts); }
};

// Explains why a rank uses more, or less, memory than its typical peer.
struct Explanation {
  std::string category;  // key; here and below, "" = unknown
  std::string module;
  std::string line;
  std::string cause;  // diff::Cause::what
  std::string text;   // "activations +204.8 MiB in layers.*.attn, forward (model.py:88)"
};

struct Question {
  const RankSummary* typical = nullptr;
  const RankSummary* outlier = nullptr;
  bool more = false;  // true if the outlier uses more memory
};

// Returns the explanations in the order of the questions; nullopt if a run cannot be read. It gets all
// questions at once, so that several processes can share the work (`fleet --mpi`).
using Explainer = std::function<std::vector<std::optional<Explanation>>(const std::vector<Question>&)>;

// Opens the run of a summary, for its device and process. Needed to explain differences: the figures of a
// summary are not enough for that.
using OpenSide = std::function<Result<diff::Side>(const RankSummary&)>;

// Answers one question after the other in this process. Defined in explain.cc, like Explain().
[[nodiscard]] Explainer ExplainHere(OpenSide open);
[[nodiscard]] Explanation Explain(const diff::Side& typical, const diff::Side& outlier, bool more);

// Compares the ranks. `explain` may be empty: then findings have no causes. At most `explained` findings are
// explained, those with the largest difference.
[[nodiscard]] Job Compare(std::vector<RankSummary> ranks, const Explainer& explain = {},
                          size_t explained = 8);

// One JSON document; docs/json.md describes it.
[[nodiscard]] std::string ToJson(const Job& job);
// The JSON for an HTML page: with the heat map, and without the steps of each rank.
[[nodiscard]] std::string PageJson(const Job& job);

}  // namespace vramscope::fleet
