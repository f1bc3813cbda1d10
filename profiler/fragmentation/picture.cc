// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/picture.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "profiler/classify/category.h"
#include "profiler/fragmentation/cause.h"
#include "profiler/text/format.h"

namespace vramscope::fragmentation {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 84;
constexpr double kRight = 940;
constexpr double kTop = 56;
constexpr uint32_t kUsed = 0x3d4656;  // requested memory
constexpr uint32_t kText = 0xd6dbe4;
constexpr uint32_t kDim = 0x808998;
// In the map, blocks have the colors of their categories; free memory has a neutral color.
constexpr uint32_t kMapFree = 0xf4f6fa;
constexpr uint32_t kMapFreePages = 0x98a2b3;
constexpr uint32_t kMapPending = 0xff4fa3;
constexpr size_t kMapRows = 28;

class Svg {
 public:
  explicit Svg(double height) : height_(height) {
    Print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
        "font-family=\"Inter, 'DejaVu Sans', sans-serif\" font-size=\"12\">\n",
        kWidth, height, kWidth, height);
    Box(0, 0, kWidth, height, 0x11141a);
  }

  void Box(double x, double y, double width, double height, uint32_t rgb) {
    Print("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"/>\n", x, y, width,
          height, rgb);
  }
  void Text(double x, double y, const std::string& text, uint32_t rgb = kText, const char* anchor = "start") {
    Print("<text x=\"%.1f\" y=\"%.1f\" fill=\"#%06x\" text-anchor=\"%s\">", x, y, rgb, anchor);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      text_ += c == '<' ? "&lt;" : c == '&' ? "&amp;" : byte < 0x20 ? "?" : std::string(1, c);
    }
    text_ += "</text>\n";
  }
  void Line(double x1, double y1, double x2, double y2, uint32_t rgb) {
    Print("<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#%06x\" stroke-width=\"1\"/>\n", x1,
          y1, x2, y2, rgb);
  }
  // Draws a line through the points, or a filled polygon if `fill`.
  void Path(const std::vector<std::pair<double, double>>& points, uint32_t rgb, bool fill) {
    text_ += fill ? "<polygon points=\"" : "<polyline fill=\"none\" points=\"";
    for (const auto& [x, y] : points) Print("%.1f,%.1f ", x, y);
    Print(fill ? "\" fill=\"#%06x\"/>\n" : "\" stroke=\"#%06x\" stroke-width=\"1.6\"/>\n", rgb);
  }
  std::string Finish() && { return std::move(text_) + "</svg>\n"; }
  [[nodiscard]] double height() const { return height_; }

 private:
  [[gnu::format(printf, 2, 3)]] void Print(const char* format, ...) {
    char buffer[400];
    va_list values;
    va_start(values, format);
    std::vsnprintf(buffer, sizeof(buffer), format, values);
    va_end(values);
    text_ += buffer;
  }

  double height_;
  std::string text_;
};

std::string Count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// Draws a square of the color and its text. Returns the x position of the next legend entry.
double Legend(Svg& svg, double x, double y, uint32_t rgb, const std::string& text) {
  svg.Box(x, y - 9, 10, 10, rgb);
  svg.Text(x + 15, y, text, kDim);
  return x + 30 + 6.6 * static_cast<double>(text.size());
}

std::string WhenText(const Answer& answer) {
  std::string text = answer.chosen.asked;
  if (answer.chosen.place.step != 0) text += ", step " + std::to_string(answer.chosen.place.step);
  if (!answer.chosen.place.phase.empty() && answer.chosen.place.phase != "other")
    text += ", " + answer.chosen.place.phase;
  return text;
}

// The axes of a chart. The x position is the event and not the time, so that a microsecond with many events
// is as wide as a long wait.
class Axes {
 public:
  Axes(Svg& svg, const Answer& answer, double bottom)
      : bottom_(bottom), events_(std::max<uint64_t>(answer.events, 1)) {
    for (int i = 0; i <= 4; ++i) {
      const double y = bottom - (bottom - kTop) * i / 4;
      svg.Line(kLeft, y, kRight, y, 0x232833);
    }
    svg.Text((kLeft + kRight) / 2, bottom + 20, "events of the allocator: " + Count(answer.events), kDim,
             "middle");
  }
  // Marks the chosen moment. Call last, so that the mark is on top.
  void Mark(Svg& svg, const Answer& answer) const {
    const double x = X(answer.chosen.moment);
    svg.Line(x, kTop, x, bottom_, kText);
    svg.Text(std::clamp(x, kLeft + 60, kRight - 60), kTop - 6, WhenText(answer), kText, "middle");
  }
  [[nodiscard]] double X(Moment moment) const {
    return kLeft + (kRight - kLeft) * static_cast<double>(moment) / static_cast<double>(events_);
  }
  // `share` from 0 at the bottom to 1 at the top.
  [[nodiscard]] double Y(double share) const { return bottom_ - (bottom_ - kTop) * share; }

 private:
  double bottom_;
  uint64_t events_;
};

std::string Causes(const Subject& subject, const Answer& answer) {
  Svg svg(420);
  svg.Text(kLeft, 24, "Reserved memory by cause, " + subject.device);
  const Axes axes(svg, answer, 340);
  const auto whole = static_cast<double>(std::max<uint64_t>(answer.peak_reserved, 1));
  for (int i = 0; i <= 4; i += 2) {
    svg.Text(kLeft - 8, axes.Y(i / 4.0) + 4,
             text::FormatBytes(answer.peak_reserved * static_cast<uint64_t>(i) / 4), kDim, "end");
  }
  std::vector<uint64_t> below(answer.series.size(), 0);
  const auto band = [&](uint32_t rgb, auto bytes_of) {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < answer.series.size(); ++i) {
      points.emplace_back(axes.X(answer.series[i].moment), axes.Y(static_cast<double>(below[i]) / whole));
    }
    std::reverse(points.begin(), points.end());
    for (size_t i = 0; i < answer.series.size(); ++i) {
      below[i] += bytes_of(answer.series[i]);
      points.emplace_back(axes.X(answer.series[i].moment), axes.Y(static_cast<double>(below[i]) / whole));
    }
    if (!points.empty()) svg.Path(points, rgb, true);
  };
  band(kUsed, [](const SeriesPoint& point) { return point.requested; });
  double x = Legend(svg, kLeft, 385, kUsed, subject.requests_known ? "requested" : "in blocks");
  double y = 385;
  for (const Cause& cause : kCauses) {
    const bool ever = std::any_of(answer.series.begin(), answer.series.end(),
                                  [&](const SeriesPoint& point) { return point.causes.*cause.bytes != 0; });
    if (!ever) continue;
    band(cause.rgb, [&](const SeriesPoint& point) { return point.causes.*cause.bytes; });
    if (x > 800) x = kLeft, y += 20;
    x = Legend(svg, x, y, cause.rgb, cause.name);
  }
  const double floor = axes.Y(static_cast<double>(answer.peak_requested) / whole);
  svg.Line(kLeft, floor, kRight, floor, kText);
  svg.Text(kRight - 4, floor + 14,
           "floor: most bytes requested at one time, " + text::FormatBytes(answer.peak_requested), kText,
           "end");
  axes.Mark(svg, answer);
  return std::move(svg).Finish();
}

std::string Shares(const Subject& subject, const Answer& answer) {
  Svg svg(400);
  svg.Text(kLeft, 24, "Metrics of fragmentation, " + subject.device);
  const Axes axes(svg, answer, 340);
  for (int i = 0; i <= 4; ++i)
    svg.Text(kLeft - 8, axes.Y(i / 4.0) + 4, std::to_string(i * 25) + " %", kDim, "end");
  const auto part = [](uint64_t bytes, uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(whole);
  };
  // Draws a curve and its name, unless it is 0 everywhere.
  const auto curve = [&](double x, uint32_t rgb, const char* name, auto share_of) {
    std::vector<std::pair<double, double>> points;
    bool ever = false;
    for (const SeriesPoint& point : answer.series) {
      const double share = share_of(point);
      ever |= share > 0;
      points.emplace_back(axes.X(point.moment), axes.Y(share));
    }
    if (!ever) return x;
    svg.Path(points, rgb, false);
    return Legend(svg, x, 385, rgb, name);
  };
  double x = curve(kLeft, 0xD55E00, "instantaneous", [&](const SeriesPoint& p) {
    return p.reserved == 0 ? 0 : 1 - part(p.allocated, p.reserved);
  });
  x = curve(x, 0x56B4E9, "external", [](const SeriesPoint& p) { return p.external; });
  x = curve(x, 0x009E73, "root sum square", [](const SeriesPoint& p) { return p.root_sum_square; });
  x = curve(x, 0xF0E442, "internal",
            [&](const SeriesPoint& p) { return p.allocated == 0 ? 0 : 1 - part(p.requested, p.allocated); });
  x = curve(x, 0xCC79A7, "pending",
            [&](const SeriesPoint& p) { return part(p.causes.pending_frees, p.reserved); });
  curve(x, 0xE69F00, "stranded / reserved", [&](const SeriesPoint& p) {
    const Decomposition& causes = p.causes;
    return part(causes.pinned + causes.small_pool_stranding + causes.stream_isolation, p.reserved);
  });
  axes.Mark(svg, answer);
  return std::move(svg).Finish();
}

struct Shade {
  uint32_t rgb;
  const char* name;
};

Shade ShadeOf(const Subject& subject, const Layout& layout, const Block& block, Moment moment) {
  if (block.use == allocator::BlockUse::kPendingFree) return {kMapPending, "pending free"};
  if (block.free() && layout.WholeBytes(block) == block.bytes) return {kMapFreePages, "free pages"};
  if (block.free()) return {kMapFree, "free, pinned"};
  const auto category = classify::CategoryFromKey(subject.describe(block, moment).category);
  if (!category.has_value() || *category == classify::Category::kUnattributed) return {kUsed, "in use"};
  return {classify::Info(*category).rgb, classify::Info(*category).name};
}

// Draws the map. Segments with the most held-back bytes come first, as in the table. The length of a row is
// proportional to the segment's size.
std::string Map(const Subject& subject, const Answer& answer, const Layout& layout) {
  std::vector<SegmentIndex> rows;
  for (const PinnedSegment& pinned : PinnedSegments(layout)) rows.push_back(pinned.segment);
  if (rows.size() > kMapRows) rows.resize(kMapRows);
  uint64_t widest = 1;
  for (const SegmentIndex row : rows) widest = std::max(widest, layout.segment(row).bytes);
  Svg svg(108 + 18 * static_cast<double>(rows.size()));
  svg.Text(kLeft, 24, "Segments pinned by live blocks at " + WhenText(answer) + ", " + subject.device);
  std::vector<const char*> named;
  double x = kLeft;
  double y = kTop + 16;
  for (const SegmentIndex row : rows) {
    const Segment& segment = layout.segment(row);
    svg.Text(kLeft - 8, y + 11, text::FormatBytes(segment.bytes), kDim, "end");
    for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      const double scale = (kRight - kLeft) / static_cast<double>(widest);
      const double width = static_cast<double>(block.bytes) * scale;
      const Shade shade = ShadeOf(subject, layout, block, answer.chosen.moment);
      svg.Box(kLeft + static_cast<double>(block.address - segment.address) * scale, y,
              std::max(width - 0.6, 0.4), 13, shade.rgb);
      const bool fresh =
          std::none_of(named.begin(), named.end(), [&](std::string_view name) { return name == shade.name; });
      if (!fresh) continue;
      named.push_back(shade.name);
      if (x > 800) continue;  // no room for more legend entries
      x = Legend(svg, x, 48, shade.rgb, shade.name);
    }
    y += 18;
  }
  return std::move(svg).Finish();
}

std::string Sizes(const Subject& subject, const Answer& answer) {
  const auto& classes = answer.chosen.metrics.histogram;
  Svg svg(72 + 20 * static_cast<double>(classes.size()));
  svg.Text(
      kLeft, 24,
      "Free blocks from this size up to twice this size, at " + WhenText(answer) + ", " + subject.device);
  uint64_t most = 1;
  for (const FreeRuns& runs : classes) most = std::max(most, runs.bytes);
  double y = 44;
  for (const FreeRuns& runs : classes) {
    svg.Text(kLeft - 8, y + 11, text::FormatBytes(runs.at_least), kDim, "end");
    const double width = (kRight - kLeft - 210) * static_cast<double>(runs.bytes) / static_cast<double>(most);
    svg.Box(kLeft, y, std::max(width, 1.0), 14, 0x56B4E9);
    svg.Text(
        kLeft + width + 8, y + 11,
        text::FormatBytes(runs.bytes) + " in " + Count(runs.runs) + (runs.runs == 1 ? " block" : " blocks"));
    y += 20;
  }
  return std::move(svg).Finish();
}

}  // namespace

std::optional<Picture> PictureFromName(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Picture>, 4> kNames = {
      {{"causes", Picture::kCauses},
       {"shares", Picture::kShares},
       {"map", Picture::kMap},
       {"sizes", Picture::kSizes}}};
  for (const auto& [known, picture] : kNames) {
    if (known == name) return picture;
  }
  return std::nullopt;
}

std::string DrawSvg(const Subject& subject, const Answer& answer, const Layout& layout, Picture picture) {
  switch (picture) {
    case Picture::kCauses:
      return Causes(subject, answer);
    case Picture::kShares:
      return Shares(subject, answer);
    case Picture::kMap:
      return Map(subject, answer, layout);
    case Picture::kSizes:
      return Sizes(subject, answer);
  }
  return "";
}

}  // namespace vramscope::fragmentation
