// SPDX-License-Identifier: Apache-2.0
// The owners of the live blocks at the moment: by module, operator, stack or category, as a flame graph or a
// treemap. A click zooms in; the path above leads back.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

using report::OwnersBy;

struct OwnerChoice {
  OwnersBy by;
  const char* label;
  const char* name;
  const char* why_empty;
};

constexpr OwnerChoice kChoices[] = {
    {OwnersBy::kModule, "Module", "module",
     "No module and no operator was recorded: the hooks are not in place, or no step is a deep step. Record "
     "with --depth auto."},
    {OwnersBy::kOperator, "Operator", "operator",
     "No operator was recorded: no step is a deep step. Record with --depth auto."},
    {OwnersBy::kStack, "Stack", "stack", "No stack was recorded. Record with --stacks python."},
    {OwnersBy::kCategory, "Category", "category", "Nothing is live at this moment."},
};

bool OwnerSwitch(App& app, const char* label, const std::string& name, bool active) {
  ImGui::PushStyleColor(ImGuiCol_Button, active ? look().colors.selected : IM_COL32(0, 0, 0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, active ? look().colors.text : look().colors.dim);
  const bool clicked = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  app.NameLastItem(name);
  return clicked;
}

void ShowOwnerChoices(App& app) {
  OwnerView& owners = app.owners;
  for (const OwnerChoice& choice : kChoices) {
    if (choice.by != kChoices[0].by) StayOnLine(ButtonWidth(choice.label), Em(0.2f));
    if (OwnerSwitch(app, choice.label, fmt::format("owners.{}", choice.name), owners.by == choice.by)) {
      owners.by = choice.by;
      owners.chosen = true;
    }
  }
  StayOnLine(ButtonWidth("Flame graph") + Em(0.2f) + ButtonWidth("Treemap"), Em(1.5f));
  if (OwnerSwitch(app, "Flame graph", "owners.flame", !owners.treemap)) owners.treemap = false;
  ImGui::SameLine(0, Em(0.2f));
  if (OwnerSwitch(app, "Treemap", "owners.treemap", owners.treemap)) owners.treemap = true;
}

// True if the module of a live block has this name, or is inside a module with this name.
bool IsModule(const App& app, const std::string& name) {
  const auto& rows = app.live.all_live();
  return std::any_of(rows.begin(), rows.end(), [&](const LiveRow& row) {
    return row.module.starts_with(name) &&
           (row.module.size() == name.size() || row.module[name.size()] == '.');
  });
}

// The table lists the blocks of the node that the picture shows.
void FilterByOwner(App& app) {
  const OwnerView& owners = app.owners;
  std::vector<std::string> path = owners.zoom();
  std::string first;
  if (owners.by != OwnersBy::kModule && owners.by != OwnersBy::kStack && !path.empty()) {
    first = path.front();
    path.erase(path.begin());
  }
  std::string op = owners.by == OwnersBy::kOperator ? first : "";
  std::string module;
  size_t parts = 0;
  for (; owners.by != OwnersBy::kStack && parts < path.size(); ++parts) {
    const std::string longer = module.empty() ? path[parts] : module + "." + path[parts];
    if (!IsModule(app, longer)) break;
    module = longer;
  }
  const bool more = parts < path.size();
  if (more && op.empty() && owners.by != OwnersBy::kStack && path.back() != "not known") op = path.back();
  app.session.FilterBy("in", module);
  app.session.FilterBy("op", op);
  app.session.FilterBy("line", owners.by == OwnersBy::kStack && more ? path.back() : "");
  if (owners.by != OwnersBy::kCategory) return;
  for (const classify::Category category : StackOrder()) {
    if (first.empty() || app.session.document()->WordsOf(category).name == first)
      app.session.FilterBy("category", first.empty() ? "" : classify::Info(category).key);
  }
}

// "all / layers / 3": a click on a name zooms out to it.
void ShowOwnerPath(App& app) {
  OwnerView& owners = app.owners;
  const std::vector<std::string> path = owners.zoom();
  size_t to = path.size();
  ImGui::PushStyleColor(ImGuiCol_Button, IM_COL32(0, 0, 0, 0));
  for (size_t i = 0; i <= path.size(); ++i) {
    const std::string name = i == 0 ? "all" : FitText(look().fonts.text, text::OneLine(path[i - 1]), Em(12));
    if (i > 0) StayOnLine(ButtonWidth("/ " + name), Em(0.1f));
    if (i > 0) ImGui::TextDisabled("/");
    if (i > 0) ImGui::SameLine(0, Em(0.1f));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton(name.c_str())) to = i;
    ImGui::PopID();
    app.NameLastItem(fmt::format("owners.path.{}", i));
  }
  ImGui::PopStyleColor();
  if (to < path.size()) {
    owners.ZoomOut(to);
    FilterByOwner(app);
  }
  const OwnerNode& shown = owners.shown();
  const std::string about = fmt::format("{} in {}, {} of what is live", text::FormatBytes(shown.bytes),
                                        text::FormatCount(shown.blocks, "block"),
                                        text::FormatPercent(shown.bytes, owners.tree().bytes));
  StayOnLine(ImGui::CalcTextSize(about.c_str()).x, Em(0.8f));
  ShowNote(about);
}

// The bytes of a node, without those of its children.
classify::CategoryBytes OwnBytes(const OwnerNode& node) {
  classify::CategoryBytes own = node.categories;
  for (const OwnerNode& child : node.children) {
    for (size_t i = 0; i < own.size(); ++i) own[i] -= child.categories[i];
  }
  return own;
}

classify::Category LargestOf(const classify::CategoryBytes& bytes) {
  return static_cast<classify::Category>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

void DrawOwnerBox(ImDrawList& list, ImVec2 at, const OwnerBox& box, bool hovered, bool treemap, bool parent) {
  const Look& l = look();
  const ImU32 color = ColorOf(box.node->Mostly());
  const float line = box.width > Em(0.5f) && box.height > Em(0.5f) ? 1 : 0;
  const ImVec2 min = {at.x + box.x, at.y + box.y};
  const ImVec2 max = {min.x + box.width - line, min.y + box.height - line};
  // In a treemap only nodes without children have a color; a node around them is a frame.
  const bool frame = treemap && parent;
  const ImU32 fill = frame ? l.colors.raised : color;
  const classify::CategoryBytes own = OwnBytes(*box.node);
  list.AddRectFilled(min, max, fill, line * Em(0.12f));
  // The node's own bytes, which belong to no child, show between the children.
  if (frame && classify::Sum(own) != 0)
    list.AddRectFilled(min, max, WithAlpha(ColorOf(LargestOf(own)), 0.5f), line * Em(0.12f));
  if (frame) list.AddRect(min, max, l.colors.line);
  if (hovered) list.AddRect(min, max, l.colors.text, line * Em(0.12f), Em(0.1f));
  const float room = box.width - Em(0.7f);
  if (room < Em(1.8f) || box.height < Em(1.05f)) return;
  const ImU32 ink = frame ? l.colors.text : InkOn(fill);
  const float y = min.y + (treemap ? Em(0.12f) : (box.height - l.fonts.small.size) / 2);
  const ImVec2 text_at = {min.x + Em(0.4f), y};
  const std::string bytes = text::FormatBytes(box.node->bytes);
  const float bytes_width = TextSize(l.fonts.small, bytes).x;
  const bool beside = room > bytes_width + Em(5);
  DrawText(
      list, l.fonts.small, text_at, ink,
      FitText(l.fonts.small, text::OneLine(box.node->name), beside ? room - bytes_width - Em(0.5f) : room));
  if (beside)
    DrawText(list, l.fonts.small, {max.x - bytes_width - Em(0.35f), y}, WithAlpha(ink, 0.75f), bytes);
  else if (treemap && !parent && box.height > Em(2.3f) && bytes_width < room)
    DrawText(list, l.fonts.small, {text_at.x, y + Em(1)}, WithAlpha(ink, 0.75f), bytes);
}

void ShowOwnerTip(const Document& document, const OwnerView& owners, const std::vector<OwnerBox>& boxes,
                  size_t hovered) {
  const OwnerNode& node = *boxes[hovered].node;
  std::string way;
  for (size_t i = hovered; i != 0; i = boxes[i].parent)
    way = text::OneLine(boxes[i].node->name) +
          (way.empty()                     ? ""
           : owners.by == OwnersBy::kStack ? "\n  "
                                           : " / ") +
          way;
  if (way.empty()) way = text::OneLine(node.name);
  std::string text = fmt::format("{}\n{} in {}, {} of what is live", way, text::FormatBytes(node.bytes),
                                 text::FormatCount(node.blocks, "block"),
                                 text::FormatPercent(node.bytes, owners.tree().bytes));
  for (const classify::Category category : StackOrder()) {
    if (const uint64_t bytes = node.categories[static_cast<size_t>(category)]; bytes != 0)
      text += fmt::format("\n{}  {}", text::FormatBytes(bytes), document.WordsOf(category).clause);
  }
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(Em(45));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void ShowOwnerPicture(App& app, ImVec2 size) {
  OwnerView& owners = app.owners;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const OwnerNode& shown = owners.shown();
  const std::vector<OwnerBox> boxes = owners.treemap
                                          ? LayOutTreemap(shown, size.x, size.y, Em(1.25f), Em(0.2f))
                                          : LayOutFlame(shown, size.x, size.y, Em(1.45f));
  ImGui::InvisibleButton("owners", size);
  app.NameLastItem("owners");
  std::vector<bool> parent(boxes.size(), false);
  for (size_t i = 1; i < boxes.size(); ++i) parent[boxes[i].parent] = true;
  size_t hovered = boxes.size();
  if (ImGui::IsItemHovered()) {
    const ImVec2 mouse = {ImGui::GetIO().MousePos.x - at.x, ImGui::GetIO().MousePos.y - at.y};
    for (size_t i = 0; i < boxes.size(); ++i) {  // inner ones come later
      const OwnerBox& box = boxes[i];
      if (mouse.x >= box.x && mouse.x < box.x + box.width && mouse.y >= box.y && mouse.y < box.y + box.height)
        hovered = i;
    }
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
  for (size_t i = 0; i < boxes.size(); ++i)
    DrawOwnerBox(list, at, boxes[i], i == hovered, owners.treemap, parent[i]);
  list.PopClipRect();
  if (hovered >= boxes.size()) return;
  ShowOwnerTip(*app.session.document(), owners, boxes, hovered);
  if (!ImGui::IsMouseReleased(ImGuiMouseButton_Left)) return;
  if (hovered != 0)
    owners.ZoomTo(boxes, hovered);
  else if (!owners.zoom().empty())
    owners.ZoomOut(owners.zoom().size() - 1);
  FilterByOwner(app);
}

}  // namespace

void ShowOwners(App& app, ImVec2 size) {
  ImGui::BeginChild("owners_view", size);
  ShowOwnerChoices(app);
  app.owners.Update(*app.session.document(), *app.session.device(), app.session.place.moment);
  if (app.owners.tree().bytes == 0) {
    ShowWhyEmpty(ImGui::GetContentRegionAvail(), "Nothing is live at this moment.");
  } else if (!app.owners.known()) {
    const auto choice = std::find_if(std::begin(kChoices), std::end(kChoices),
                                     [&](const OwnerChoice& each) { return each.by == app.owners.by; });
    ShowWhyEmpty(ImGui::GetContentRegionAvail(), choice->why_empty);
  } else {
    ShowOwnerPath(app);
    ShowOwnerPicture(app, ImGui::GetContentRegionAvail());
  }
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
