// SPDX-License-Identifier: Apache-2.0
// Values of changes, checked without a program. Oracle: what docs/whatif.md and --help list for each change.
#include "profiler/experiment/try/try_change.h"

#include <gtest/gtest.h>

#include <map>

#include "profiler/whatif/scene/lever_table.h"

namespace vramscope::experiment {
namespace {

struct Values {
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

// By change; "" is wrong for each, except for the allocator's settings.
const std::map<std::string, Values>& ValuesOfChanges() {
  static const std::map<std::string, Values> values = {
      {"sequence", {{"4096", "2x", "0.5x"}, {"0", "x", "-1", "2y", "0x", "infx"}}},
      {"lora", {{"8", "8:layers.*.mlp"}, {"0", "a", "8:", "-8"}}},
      {"freeze", {{"layers.*", "a,b"}, {","}}},
      {"amp", {{"bf16", "fp16"}, {"bf17", "fp99", "BF16", "bf16,fp16"}}},
      {"precision", {{"bf16", "fp16"}, {"bf17", "fp32"}}},
      {"attention", {{"flash", "efficient", "math"}, {"fast"}}},
      {"cross-entropy", {{"fused", "chunked:8"}, {"chunked", "chunked:1", "chunked:x"}}},
      {"quantize", {{"int8", "nf4", "nf4:layers.*"}, {"int4", "nf4:", "nf4:,"}}},
      {"shard",
       {{"ddp:8", "ddp:8:view", "zero1:8", "zero2:8", "zero3:8", "fsdp:8", "fsdp:8:layers.*", "tp:8", "pp:4",
         "pp:4:8"},
        {"fsdp", "fsdp:1", "fsdp:x", "ddp:8:layers.*", "tp:", "tp:x", "tp:1", "pp:4:0", "pp:x", "ep:8"}}},
      {"checkpoint",
       {{"all", "every:2", "layers.*,head", "all,ops:matmul", "ops:matmul+attention"},
        {"every:0", "every:x", "every:", "ops:", ","}}},
      {"free-early", {{"all"}, {"some"}}},
      {"offload",
       {{"optimizer", "activations", "optimizer,activations", "optimizer:25GB/s"},
        {"disk", "optimizer:25", "optimizer:-1GB/s", "activations,disk"}}},
      {"batch", {{"16", "0.5x", "2x"}, {"0", "-1", "x", "1e99x", "16y"}}},
      {"accumulate", {{"4", "4:whole"}, {"1", "0", "x", "4:half", "x:whole"}}},
      {"optimizer",
       {{"sgd", "momentum", "adam:foreach", "adamw:for-loop", "adamw:loop", "adamw:fused", "adafactor",
         "adamw8bit"},
        {"lion", "adamw:quick", "adafactor:fused", "adam8bit:fused", "sgd:"}}},
      {"zero-grad", {{"keep"}, {"drop"}}},
      {"alloc-conf",
       {{"expandable_segments:True", ""},
        {"expandable_segments:Perhaps", "max_split_size_mb:x", "no_such_key:1"}}},
      {"empty-cache", {{"before-backward", "before-optimizer", "after-step"}, {"never", "after"}}},
  };
  return values;
}

TEST(ChangeValuesTest, EachChangeTakesWhatItsHelpListsAndRefusesTheRest) {
  for (const whatif::LeverInfo& lever : whatif::LeverTable()) {
    const auto found = ValuesOfChanges().find(lever.name);
    ASSERT_NE(found, ValuesOfChanges().end()) << lever.name << ": write down good and bad values of it here";
    std::vector<std::string> bad = found->second.bad;
    if (found->first != "alloc-conf") bad.emplace_back();
    for (const std::string& value : found->second.good) {
      const Status checked = CheckValue({lever.name, value});
      EXPECT_TRUE(checked.ok()) << lever.name << " " << value << ": " << checked.error().sentence;
    }
    for (const std::string& value : bad) {
      const Status checked = CheckValue({lever.name, value});
      ASSERT_FALSE(checked.ok()) << lever.name << " " << value;
      EXPECT_EQ(checked.error().sentence.find('\n'), std::string::npos);
      EXPECT_TRUE(checked.error().sentence.ends_with('.')) << checked.error().sentence;
    }
  }
}

TEST(ChangeValuesTest, AChangeThatIsNotThereIsRefused) {
  EXPECT_FALSE(CheckValue({"flop", "8"}).ok());
  Change change;
  EXPECT_FALSE(Ask("flop", "8", change).ok());
}

}  // namespace
}  // namespace vramscope::experiment
