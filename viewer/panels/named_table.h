// SPDX-License-Identifier: Apache-2.0
// A table with figures and one column of names. In a narrow view, each name has its own line, with the row's
// figures below.
//
//   Name            Before     After             Name
//   Activations     12 MiB    16 MiB               Before    After
//   Gradients        4 MiB     2 MiB             Activations
//                                                  12 MiB   16 MiB
#pragma once

#include <string>
#include <vector>

#include "viewer/panels/app.h"

namespace vramscope::viewer {

class NamedTable {
 public:
  struct Column {
    const char* title;
    float width;         // in text heights; minimum for names, whose column takes the rest
    float stretch = 0;   // this column's share of that rest
    bool right = false;  // the title is at the right
    bool spare = false;  // left out if it does not fit; only the last column
  };

  // Begins the table with its titles; false if not visible. `names`: the column of names.
  [[nodiscard]] bool Begin(const char* id, const std::vector<Column>& columns, size_t names,
                           ImGuiTableFlags flags, ImVec2 size = {0, 0});
  // Begins a row, at its name. The content region is the name's width.
  void NextName(ImGuiTableRowFlags flags = ImGuiTableRowFlags_None);
  // Goes to the next figure of the row.
  void NextFigure();
  // False if there is no room for the spare column.
  [[nodiscard]] bool shows_spare() const { return shows_spare_; }
  // Shows the next figure, right-aligned.
  void Figure(const std::string& text);
  void End();
  // A name on several lines if it has its own line, otherwise shortened.
  [[nodiscard]] std::string Fit(const std::string& name) const;
  // For a Selectable on the name: includes figures on the same line.
  [[nodiscard]] ImGuiSelectableFlags Span() const {
    return above_ ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_SpanAllColumns;
  }

 private:
  void Title(const Column& column);
  void BeginLine();
  void EndName();

  int names_ = 0;
  bool above_ = false;  // names are above the figures
  bool shows_spare_ = true;
  bool in_name_ = false;  // the cursor is on a name's own line
  int figure_ = 0;        // the column of the next figure
  bool striped_ = false;
  size_t rows_ = 0;
  ImGuiTableRowFlags row_flags_ = ImGuiTableRowFlags_None;
  float cell_right_ = 0;  // as before the name's line
  float widest_ = 0;
};

}  // namespace vramscope::viewer
