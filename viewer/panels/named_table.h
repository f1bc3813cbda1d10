// SPDX-License-Identifier: Apache-2.0
// A table with figures and one column of names. In a view too narrow for both, each name has a line of its
// own, as wide as the table, and the figures of its row are below it.
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
    float width;         // in text heights; the least width of the names, whose column takes what is left
    float stretch = 0;   // the share of that which this column takes
    bool right = false;  // the title is at the right
    bool spare = false;  // left out where it does not fit; only the last column
  };

  // Begins the table with its line of titles, and returns false if it is not visible. `names`: which of the
  // columns has the names.
  [[nodiscard]] bool Begin(const char* id, const std::vector<Column>& columns, size_t names,
                           ImGuiTableFlags flags, ImVec2 size = {0, 0});
  // Begins a row. The cursor is then where the name goes; the content region is as wide as it may be.
  void NextName(ImGuiTableRowFlags flags = ImGuiTableRowFlags_None);
  // Goes to the next figure of the row.
  void NextFigure();
  // False if the table has no room for its spare column.
  [[nodiscard]] bool shows_spare() const { return shows_spare_; }
  // Shows the next figure, at the right of its column.
  void Figure(const std::string& text);
  void End();
  // A name as it fits: on several lines if it has a line of its own, otherwise shortened.
  [[nodiscard]] std::string Fit(const std::string& name) const;
  // For a Selectable on the name: it also takes the figures if they are on the same line.
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
  bool in_name_ = false;  // the cursor is on such a line
  int figure_ = 0;        // the next one's column
  bool striped_ = false;
  size_t rows_ = 0;
  ImGuiTableRowFlags row_flags_ = ImGuiTableRowFlags_None;
  float cell_right_ = 0;  // as ImGui had it before the line of the name
  float widest_ = 0;
};

}  // namespace vramscope::viewer
