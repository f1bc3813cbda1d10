// SPDX-License-Identifier: Apache-2.0
// A table with one column of names and several columns of figures. In a narrow panel, each name has its own
// line above the figures of its row.
//
//   in a wide panel                              in a narrow panel
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
    float width;         // in text heights; the minimum width for the column of names
    float stretch = 0;   // share of the remaining width; the column of names has share 1
    bool right = false;  // true: the title is right-aligned
    bool spare = false;  // true: the column is left out if it does not fit; only for the last column
  };

  // Begins the table and shows its titles. False if the table is not visible. `names`: index of the column of
  // names.
  [[nodiscard]] bool Begin(const char* id, const std::vector<Column>& columns, size_t names,
                           ImGuiTableFlags flags, ImVec2 size = {0, 0});
  // Begins a row. The caller then shows the name; the available width is that of the name.
  void NextName(ImGuiTableRowFlags flags = ImGuiTableRowFlags_None);
  // Moves to the next figure of the row.
  void NextFigure();
  // False if the spare column does not fit.
  [[nodiscard]] bool shows_spare() const { return shows_spare_; }
  // Shows the next figure, right-aligned.
  void Figure(const std::string& text);
  void End();
  // Returns the name with line breaks if names have their own line, otherwise shortened to the column.
  [[nodiscard]] std::string Fit(const std::string& name) const;
  // Flags for a Selectable on the name: it spans the figures if they are on the same line.
  [[nodiscard]] ImGuiSelectableFlags Span() const {
    return above_ ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_SpanAllColumns;
  }

 private:
  void Title(const Column& column);
  void BeginLine();
  void EndName();

  int names_ = 0;
  bool above_ = false;  // true if names are above the figures
  bool shows_spare_ = true;
  bool in_name_ = false;  // the cursor is on a name's own line
  int figure_ = 0;        // the column of the next figure
  bool striped_ = false;
  size_t rows_ = 0;
  ImGuiTableRowFlags row_flags_ = ImGuiTableRowFlags_None;
  float cell_right_ = 0;  // right edge of the cell, saved while the cursor is on the name's own line
  float widest_ = 0;
};

}  // namespace vramscope::viewer
