// SPDX-License-Identifier: Apache-2.0
// Switches and sliders for the levers of profiler/whatif: one row each, the modules as a tree below them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "profiler/fragmentation/trial.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/whatif_panel.h"

namespace vramscope::viewer {
namespace {

using fragmentation::SettingIn;
using fragmentation::WithoutSetting;
using fragmentation::WithSetting;

constexpr size_t kMostTyped = 500;
constexpr int kLeastSplit = 21;  // MiB; most releases of PyTorch refuse less
constexpr int kMostSplit = 2048;

struct LeverOption {
  const char* label;
  const char* value;
};

constexpr float kControls = 6.2f;  // where they begin, in Em

// The name of a control, drawn next to it, with a tooltip that explains its effect.
void ControlName(const char* title, const std::string& tip) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(title);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip.c_str());
  ImGui::SameLine(Em(kControls));
  ImGui::SetNextItemWidth(-1);
}

void LeverName(const char* title, const char* lever) {
  const whatif::LeverInfo& info = *whatif::FindLeverInfo(lever);
  ControlName(title, fmt::format("{}\nvramscope whatif --{} {}\nneeds {}", info.summary, info.name,
                                 info.values, info.facts));
}

// "whatif.LEVER" opens it, "whatif.LEVER.VALUE" chooses.
void LeverCombo(App& app, const char* lever, std::initializer_list<LeverOption> options, std::string& value) {
  const char* shown = value.c_str();
  for (const LeverOption& option : options) {
    if (value == option.value) shown = option.label;
  }
  const std::string name = fmt::format("whatif.{}", lever);
  if (ImGui::BeginCombo(("##" + name).c_str(), shown)) {
    for (const LeverOption& option : options) {
      if (ImGui::Selectable(option.label, value == option.value)) value = option.value;
      app.NameLastItem(fmt::format("{}.{}", name, *option.value == 0 ? "recorded" : option.value));
    }
    ImGui::EndCombo();
  }
  app.NameLastItem(name);
}

// Re-runs as buttons, precision first, as many as fit on a line. A click chooses one; a second click undoes
// it.
void ShowFirstReruns(App& app, std::vector<RerunChoice> choices, const std::string& now) {
  std::string& chosen = app.whatif.question.rerun;
  std::stable_partition(choices.begin(), choices.end(), [](const RerunChoice& choice) {
    return choice.name.starts_with("amp=") || choice.name.starts_with("precision=");
  });
  ImGui::Dummy({0, 0});
  ImGui::SameLine(Em(kControls));
  for (const RerunChoice& choice : choices) {
    const std::string label = text::OneLine(choice.name);
    const float width = TextSize(look().fonts.text, label).x + 2 * ImGui::GetStyle().FramePadding.x;
    if (width > ImGui::GetContentRegionAvail().x) continue;
    const bool shown = choice.key == now;
    ImGui::PushStyleColor(ImGuiCol_Button, shown ? look().colors.selected : look().colors.raised);
    ImGui::PushStyleColor(ImGuiCol_Text, choice.kept ? look().colors.text : look().colors.dim);
    if (ImGui::SmallButton(label.c_str())) chosen = shown ? "" : choice.key;
    ImGui::PopStyleColor(2);
    app.NameLastItem("whatif.first." + choice.name);
    if (ImGui::IsItemHovered() && !choice.kept) ImGui::SetTooltip("not run yet");
    ImGui::SameLine(0, Em(0.3f));
  }
  ImGui::NewLine();
}

// The program that all other changes apply to: as it was recorded, or as PyTorch re-ran it.
void ShowProgram(App& app) {
  std::string& chosen = app.whatif.question.rerun;
  ControlName("Program",
              "Changes of batch size, precision, kernels and the like need a re-run: PyTorch runs the\n"
              "recorded program again, and the re-run is kept in the file.");
  const KeptReruns& reruns = *app.whatif.reruns();
  const std::vector<RerunChoice> choices = reruns.Choices();
  const experiment::KeptVariant* const kept = reruns.Find(chosen);
  const auto now = std::ranges::find(choices, kept == nullptr ? chosen : kept->key, &RerunChoice::key);
  const std::string shown = now == choices.end() ? "as recorded" : text::OneLine(now->title);
  if (ImGui::BeginCombo("##whatif.rerun", shown.c_str(), ImGuiComboFlags_HeightLarge)) {
    if (ImGui::Selectable("as recorded", chosen.empty())) chosen.clear();
    app.NameLastItem("whatif.rerun.recorded");
    for (const RerunChoice& choice : choices) {
      const ImU32 ink = choice.kept ? look().colors.text : look().colors.dim;
      ImGui::PushStyleColor(ImGuiCol_Text, ink);
      const std::string title = text::OneLine(choice.title) + (choice.kept ? "" : "  (not run yet)");
      if (ImGui::Selectable(title.c_str(), now != choices.end() && now->key == choice.key))
        chosen = choice.key;
      ImGui::PopStyleColor();
      app.NameLastItem("whatif.rerun." + choice.name);
    }
    ImGui::EndCombo();
  }
  app.NameLastItem("whatif.rerun");
  ShowFirstReruns(app, choices, now == choices.end() ? "" : now->key);
}

void ShowOptimizer(App& app, const WhatIfSubject& subject) {
  WhatIfQuestion& question = app.whatif.question;
  LeverName("Optimizer", "optimizer");
  const bool chosen = !question.optimizer.empty();
  if (chosen) ImGui::SetNextItemWidth(-Em(5.7f));
  const std::string recorded =
      subject.step.optimizer_class.empty()
          ? "as recorded"
          : fmt::format("as recorded, {}", text::OneLine(subject.step.optimizer_class));
  LeverCombo(app, "optimizer",
             {{recorded.c_str(), ""},
              {"SGD", "sgd"},
              {"SGD, momentum", "momentum"},
              {"Adam", "adam"},
              {"AdamW", "adamw"}},
             question.optimizer);
  if (chosen) {
    ImGui::SameLine(0, Em(0.3f));
    ImGui::SetNextItemWidth(-1);
    LeverCombo(app, "way", {{"foreach", "foreach"}, {"for-loop", "for-loop"}, {"fused", "fused"}},
               question.optimizer_way);
  }
  LeverName("Gradients", "zero-grad");
  ImGui::Checkbox("keep in zero_grad", &question.keep_gradients);
  app.NameLastItem("whatif.zero-grad");
  LeverName("State", "offload");
  ImGui::Checkbox("on the host", &question.offload_optimizer);
  app.NameLastItem("whatif.offload");
}

void ShowSharding(App& app) {
  constexpr int kMostRanks = 1024;
  WhatIfQuestion& question = app.whatif.question;
  LeverName("Sharding", "shard");
  const bool chosen = !question.shard.empty();
  if (chosen) ImGui::SetNextItemWidth(-Em(5.7f));
  LeverCombo(app, "shard",
             {{"as recorded", ""},
              {"DDP", "ddp"},
              {"ZeRO-1", "zero1"},
              {"ZeRO-2", "zero2"},
              {"ZeRO-3", "zero3"},
              {"FSDP", "fsdp"}},
             question.shard);
  if (!chosen) return;
  ImGui::SameLine(0, Em(0.3f));
  ImGui::SetNextItemWidth(-1);
  int ranks = static_cast<int>(question.ranks);
  if (ImGui::SliderInt("##ranks", &ranks, 2, kMostRanks, "%d ranks",
                       ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
    question.ranks = ranks;
  app.NameLastItem("whatif.ranks");
}

// A box with a dash in it if some of the nodes below are ticked.
bool TickBox(const char* name, Tick tick) {
  bool on = tick == Tick::kOn;
  const bool pressed = ImGui::Checkbox(name, &on);
  if (tick == Tick::kSome) {
    const ImVec2 min = ImGui::GetItemRectMin();
    const float side = ImGui::GetFrameHeight();
    ImGui::GetWindowDrawList()->AddRectFilled({min.x + side * 0.25f, min.y + side * 0.43f},
                                              {min.x + side * 0.75f, min.y + side * 0.57f},
                                              look().colors.accent);
  }
  return pressed;
}

// Returns true if the nodes below are shown.
bool ShowModule(App& app, const std::vector<whatif::ModuleNode>& tree, size_t node) {
  WhatIfQuestion& question = app.whatif.question;
  const whatif::ModuleNode& module = tree[node];
  const bool leaf = node + 1 >= tree.size() || tree[node + 1].depth <= module.depth;
  ImGui::PushID(static_cast<int>(node));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(0.9f) * static_cast<float>(module.depth));
  bool open = false;
  if (leaf) {
    ImGui::Dummy({ImGui::GetFrameHeight(), 1});
  } else {
    ImGuiStorage* storage = ImGui::GetStateStorage();
    const ImGuiID id = ImGui::GetID("open");
    open = storage->GetBool(id, module.calls == 0 || module.depth == 0);
    ImGui::PushStyleColor(ImGuiCol_Button, IM_COL32(0, 0, 0, 0));
    if (ImGui::ArrowButton("fold", open ? ImGuiDir_Down : ImGuiDir_Right)) storage->SetBool(id, open = !open);
    ImGui::PopStyleColor();
    app.NameLastItem("whatif.fold." + module.path);
  }
  ImGui::SameLine(0, 0);
  const bool above = TickedAbove(tree, node, question.checkpoints);
  const Tick tick = TickOf(tree, node, question.checkpoints);
  ImGui::BeginDisabled(above);
  if (TickBox("##tick", tick)) SetTick(tree, node, tick != Tick::kOn, question.checkpoints);
  app.NameLastItem("whatif.module." + module.path);
  ImGui::EndDisabled();
  ImGui::SameLine(0, Em(0.4f));
  const std::string kept = module.kept == 0 ? "" : text::FormatBytes(module.kept);
  const float room = ImGui::GetContentRegionAvail().x - Em(5.2f);
  const std::string name = module.path.empty() ? "the model" : module.path.substr(module.path.rfind('.') + 1);
  ImGui::TextUnformatted(FitText(look().fonts.text, text::OneLine(name), room).c_str());
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("%s", fmt::format("{}\nautograd saves {} of its tensors; {}",
                                        text::OneLine(module.path), text::FormatBytes(module.kept),
                                        module.calls == 0 ? "this module is never called itself"
                                                          : text::FormatCount(module.calls, "call"))
                                .c_str());
  ImGui::SameLine(RightEdge() - TextSize(look().fonts.mono, kept).x);
  PushFont(look().fonts.mono);
  ImGui::TextDisabled("%s", kept.c_str());
  ImGui::PopFont();
  ImGui::PopID();
  return open;
}

void ShowCheckpoints(App& app, float height) {
  WhatIfQuestion& question = app.whatif.question;
  const ModuleChoices& modules = app.whatif.modules();
  LeverName("Checkpoint", "checkpoint");
  if (modules.tree.empty()) return ImGui::TextDisabled("no module call was recorded");
  const auto preset = [&](const char* label, const char* name, const std::set<std::string>& paths,
                          bool there) {
    if (!there) return;
    if (ImGui::SmallButton(label)) question.checkpoints = paths;
    app.NameLastItem(fmt::format("whatif.checkpoint.{}", name));
    ImGui::SameLine(0, Em(0.4f));
  };
  preset("all", "all", modules.blocks, !modules.blocks.empty());
  preset("every 2nd", "every:2", modules.every_other, modules.blocks.size() > 1);
  preset("none", "none", {}, true);
  ImGui::NewLine();
  ImGui::BeginChild("modules", {0, height});
  ImGui::PushStyleColor(ImGuiCol_FrameBg, look().colors.line);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {Em(0.3f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {Em(0.1f), Em(0.02f)});
  uint32_t shown_to = 0;  // nodes deeper than this are folded away
  for (size_t i = 0; i < modules.tree.size(); ++i) {
    const uint32_t depth = modules.tree[i].depth;
    if (depth > shown_to) continue;
    shown_to = ShowModule(app, modules.tree, i) ? depth + 1 : depth;
  }
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  ImGui::EndChild();
}

void ShowSettings(App& app, const WhatIfSubject& subject) {
  WhatIfQuestion& question = app.whatif.question;
  const std::string& recorded = subject.step.settings;
  std::string settings = question.settings.value_or(recorded);
  const auto set = [&](const std::string& changed) {
    settings = changed;
    question.settings = changed == recorded ? std::nullopt : std::optional(changed);
  };
  LeverName("Allocator", "alloc-conf");
  char text[kMostTyped];
  *fmt::format_to_n(text, sizeof text - 1, "{}", settings).out = '\0';
  const float hint_room = ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().FramePadding.x;
  const std::string hint = FitText(look().fonts.text, "PYTORCH_CUDA_ALLOC_CONF", hint_room);
  if (ImGui::InputTextWithHint("##settings", hint.c_str(), text, sizeof text)) set(text);
  app.NameLastItem("whatif.settings");
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    ImGui::SetTooltip("PYTORCH_CUDA_ALLOC_CONF; %s",
                      recorded.empty() ? "recorded with all defaults" : ("recorded: " + recorded).c_str());
  LeverName("", "alloc-conf");
  bool expandable = SettingIn(settings, "expandable_segments") == "True";
  if (ImGui::Checkbox("expandable segments", &expandable))
    set(expandable ? WithSetting(settings, "expandable_segments:True")
                   : WithoutSetting(settings, "expandable_segments"));
  app.NameLastItem("whatif.expandable");
  LeverName("", "alloc-conf");
  const auto limit = SettingIn(settings, "max_split_size_mb");
  int split = limit ? std::atoi(limit->c_str()) : 0;
  if (ImGui::SliderInt("##split", &split, 0, kMostSplit,
                       split == 0 ? "all blocks are split" : "split to %d MiB",
                       ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
    set(split == 0
            ? WithoutSetting(settings, "max_split_size_mb")
            : WithSetting(settings, fmt::format("max_split_size_mb:{}", std::max(split, kLeastSplit))));
  app.NameLastItem("whatif.max_split");
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    ImGui::SetTooltip("max_split_size_mb: larger blocks are not divided");
  LeverName("empty_cache", "empty-cache");
  LeverCombo(app, "empty-cache",
             {{"as recorded", ""},
              {"before backward", "before-backward"},
              {"before the optimizer", "before-optimizer"},
              {"after each step", "after-step"}},
             question.empty_cache);
}

}  // namespace

void ShowWhatIfControls(App& app, const WhatIfSubject& subject) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {Em(0.45f), Em(0.13f)});
  ImGui::BeginDisabled(app.whatif.question == WhatIfQuestion{});
  if (ImGui::Button("As recorded")) app.whatif.question = {};
  app.NameLastItem("whatif.reset");
  ImGui::EndDisabled();
  ImGui::SameLine(Em(kControls));
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("step %u of the run", subject.step.number);
  ShowProgram(app);
  ShowOptimizer(app, subject);
  ShowSharding(app);
  ShowSettings(app, subject);
  ShowCheckpoints(app, std::max(ImGui::GetContentRegionAvail().y - Em(2), Em(6)));
  ImGui::PopStyleVar();
}

}  // namespace vramscope::viewer
