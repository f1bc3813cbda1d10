// SPDX-License-Identifier: Apache-2.0
// Turns blocks into rectangles and cells.
#include <algorithm>
#include <cmath>

#include "viewer/model/address_time.h"

namespace vramscope::viewer {
namespace {

using model::BlockId;

// In pixels. With smaller cells, ten million events gave 100,000 rectangles, too many for one frame.
constexpr double kCellColumns = 4;
constexpr double kCellRows = 5;
constexpr int kShades = 4;  // cells that differ less in how full they are become one

struct Cell {
  uint32_t blocks = 0;
  BlockId block = model::kNone;  // the last one counted
  uint64_t bytes = 0;
  float area = 0;    // covered area of the cell, summed over its blocks
  float weight = 0;  // lead of the class `entry` over all others
  uint8_t entry = 0;
};

// The category of a block for the longest part of its life.
classify::Category LongestOf(const model::Run& run, const classify::Life& life, const model::Block& block) {
  const model::EventIndex last = std::min(block.free_event, run.event_count() - 1);
  size_t longest = 0;
  uint64_t longest_ns = 0;
  for (size_t i = 0; i < life.size() && life.size() > 1; ++i) {
    const uint64_t begin = run.times.TimeOf(std::min(life[i].begin, last));
    const uint64_t end = run.times.TimeOf(i + 1 < life.size() ? std::min(life[i + 1].begin, last) : last);
    if (end - begin < longest_ns) continue;
    longest_ns = end - begin;
    longest = i;
  }
  return life[longest].category;
}

// Sums up blocks that are too small to be drawn by themselves.
class Cells {
 public:
  Cells(const AddressTimeWindow& window, double pixel_place)
      : window_(window),
        cells_per_width_(static_cast<double>(window.columns) / kCellColumns),
        cell_place_(pixel_place * kCellRows),
        columns_(static_cast<size_t>(std::ceil(static_cast<double>(window.columns) / kCellColumns))),
        rows_(static_cast<size_t>(std::ceil(static_cast<double>(window.rows) / kCellRows))),
        cells_(columns_ * rows_) {}

  // `begin` and `end` are places in the window: 0 at its left edge, 1 at its right one.
  void Add(BlockId block, uint64_t bytes, double begin, double end, double low, double high, uint8_t entry) {
    const double x0 = begin * cells_per_width_;
    const double x1 = end * cells_per_width_;
    const double y0 = (low - window_.low) / cell_place_;
    const double y1 = (high - window_.low) / cell_place_;
    for (size_t row = Clamp(y0, rows_); row <= Clamp(y1, rows_); ++row) {
      const double tall = std::min(y1, static_cast<double>(row + 1)) - std::max(y0, static_cast<double>(row));
      for (size_t column = Clamp(x0, columns_); column <= Clamp(x1, columns_); ++column) {
        const double wide =
            std::min(x1, static_cast<double>(column + 1)) - std::max(x0, static_cast<double>(column));
        Count(cells_[row * columns_ + column], block, bytes, static_cast<float>(std::max(tall * wide, 1e-4)),
              entry);
      }
    }
  }

  void MoveTo(std::vector<AddressTimePiece>& pieces) const {
    for (size_t row = 0; row < rows_; ++row) {
      size_t first = 0;
      for (size_t column = 0; column <= columns_; ++column) {
        if (column < columns_ && column > first && Alike(row, first, column)) continue;
        if (cells_[row * columns_ + first].blocks != 0) pieces.push_back(PieceOf(row, first, column));
        first = column;
      }
    }
  }

 private:
  static size_t Clamp(double cell, size_t count) {
    return static_cast<size_t>(std::clamp(std::floor(cell), 0.0, static_cast<double>(count - 1)));
  }
  static int Shade(const Cell& cell) { return std::min(static_cast<int>(cell.area * kShades), kShades - 1); }

  // The class with the most area wins (Boyer and Moore's vote, weighed).
  static void Count(Cell& cell, BlockId block, uint64_t bytes, float area, uint8_t entry) {
    ++cell.blocks;
    cell.block = block;
    cell.bytes += bytes;
    cell.area += area;
    if (cell.entry == entry || cell.weight < area) {
      cell.weight = cell.entry == entry ? cell.weight + area : area - cell.weight;
      cell.entry = entry;
    } else {
      cell.weight -= area;
    }
  }
  // Neighbors become one rectangle if they look the same and stand for the same number.
  [[nodiscard]] bool Alike(size_t row, size_t a, size_t b) const {
    const Cell& left = cells_[row * columns_ + a];
    const Cell& right = cells_[row * columns_ + b];
    if (left.blocks == 0 || right.blocks == 0) return left.blocks == right.blocks;
    return left.entry == right.entry && Shade(left) == Shade(right) && left.blocks == right.blocks &&
           (left.blocks > 1 || left.block == right.block);
  }
  [[nodiscard]] AddressTimePiece PieceOf(size_t row, size_t first, size_t last) const {
    const Cell& cell = cells_[row * columns_ + first];
    AddressTimePiece piece;
    piece.block = cell.blocks == 1 ? cell.block : model::kNone;
    piece.blocks = cell.blocks;
    piece.bytes = cell.bytes;
    piece.begin_ns = window_.time.TimeAt(static_cast<double>(first) / cells_per_width_);
    piece.end_ns = window_.time.TimeAt(static_cast<double>(last) / cells_per_width_);
    piece.low = window_.low + static_cast<double>(row) * cell_place_;
    piece.high = piece.low + cell_place_;
    piece.cover = static_cast<float>(Shade(cell) + 1) / kShades;
    piece.entry = cell.entry;
    return piece;
  }

  const AddressTimeWindow& window_;
  const double cells_per_width_;
  const double cell_place_;
  const size_t columns_;
  const size_t rows_;
  std::vector<Cell> cells_;
};

}  // namespace

AddressTimePicture DrawAddressTime(const Document& document, const DeviceView& device,
                                   const AddressTimeIndex& index, const AddressTimeWindow& window,
                                   BlockColors& colors) {
  AddressTimePicture picture;
  if (window.columns == 0 || window.rows == 0) return picture;
  const model::Run& run = *document.run;
  std::vector<ColoredBlock> blocks;
  index.ForEachIn(window.time.begin(), window.time.end(), [&](BlockId id) {
    const model::Block& block = run.blocks[id];
    const double low = index.axis().PlaceOf(block.address);
    const double high = low + static_cast<double>(block.size) * index.axis().places_per_byte();
    if (high < window.low || low > window.high) return;
    blocks.push_back({id, block.size, LongestOf(run, document.analysis->categories().Of(id), block)});
  });
  classify::Origins origins(run, document.analysis->training());
  const std::vector<uint8_t> entries =
      colors.Paint(document, document.training(device), origins, window.by, std::nullopt, blocks);
  const double pixel = 1 / static_cast<double>(window.columns);
  const double pixel_place = (window.high - window.low) / static_cast<double>(window.rows);
  Cells cells(window, pixel_place);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BlockId id = blocks[i].block;
    const double begin = window.time.PlaceOf(index.BeginOf(id));
    const double end = window.time.PlaceOf(index.EndOf(id));
    const double low = index.axis().PlaceOf(run.blocks[id].address);
    const double high = low + static_cast<double>(blocks[i].bytes) * index.axis().places_per_byte();
    if (end - begin >= pixel && high - low >= pixel_place) {
      picture.blocks.push_back(
          {id, 1, blocks[i].bytes, index.BeginOf(id), index.EndOf(id), low, high, 1, entries[i]});
    } else {
      ++picture.merged_blocks;
      cells.Add(id, blocks[i].bytes, begin, end, low, high, entries[i]);
    }
  }
  cells.MoveTo(picture.merged);
  picture.legend = colors.legend();
  return picture;
}

}  // namespace vramscope::viewer
