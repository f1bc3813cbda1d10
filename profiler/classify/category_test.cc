// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/category.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "profiler/classify/proof.h"

namespace vramscope::classify {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Linear RGB as people without red (protanopia) or green (deuteranopia) cones see it: Machado, Oliveira,
// Fernandes 2009, severity 1.0.
constexpr Matrix kNormal = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtanopia = {
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia = {
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};

Vector Times(const Matrix& matrix, const Vector& v) {
  Vector result;
  for (size_t i = 0; i < 3; ++i) {
    const double value = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
    result[i] = std::min(1.0, std::max(0.0, value));
  }
  return result;
}

Vector Linear(uint32_t rgb) {
  Vector linear;
  for (size_t i = 0; i < 3; ++i) {
    const double c = (rgb >> (16 - 8 * i) & 0xff) / 255.0;
    linear[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return linear;
}

Vector Lab(const Vector& rgb) {
  constexpr Matrix kToXyz = {{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  constexpr Vector kWhite = {0.95047, 1.0, 1.08883};
  Vector f;
  for (size_t i = 0; i < 3; ++i) {
    const double t = (kToXyz[i][0] * rgb[0] + kToXyz[i][1] * rgb[1] + kToXyz[i][2] * rgb[2]) / kWhite[i];
    f[i] = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

TEST(CategoryTest, AnyTwoColorsAreToldApartAlsoByColorBlindReaders) {
  for (const Matrix& eyes : {kNormal, kProtanopia, kDeuteranopia}) {
    for (size_t a = 0; a < kCategoryCount; ++a) {
      for (size_t b = 0; b < a; ++b) {
        const auto& first = Info(static_cast<Category>(a));
        const auto& second = Info(static_cast<Category>(b));
        const Vector x = Lab(Times(eyes, Linear(first.rgb)));
        const Vector y = Lab(Times(eyes, Linear(second.rgb)));
        EXPECT_GT(std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]), 25)
            << first.key << " and " << second.key;
      }
    }
  }
}

TEST(CategoryTest, EachColorOfTheSmallPaletteIsTheNearestToItsTrueColor) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};  // xterm's color cube, then its grays
  const auto distance = [](uint32_t rgb, int r, int g, int b) {
    const int dr = static_cast<int>(rgb >> 16 & 0xff) - r;
    const int dg = static_cast<int>(rgb >> 8 & 0xff) - g;
    const int db = static_cast<int>(rgb & 0xff) - b;
    return dr * dr + dg * dg + db * db;
  };
  const auto distance_to = [&](uint32_t rgb, int color) {
    if (color >= 232)
      return distance(rgb, 8 + (color - 232) * 10, 8 + (color - 232) * 10, 8 + (color - 232) * 10);
    const int c = color - 16;
    return distance(rgb, kLevels[c / 36], kLevels[c / 6 % 6], kLevels[c % 6]);
  };
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const CategoryInfo& info = Info(static_cast<Category>(i));
    int nearest = 16;
    for (int color = 17; color < 256; ++color) {
      if (distance_to(info.rgb, color) < distance_to(info.rgb, nearest)) nearest = color;
    }
    EXPECT_EQ(static_cast<int>(info.color_256), nearest) << info.key;
  }
}

TEST(CategoryTest, KeysAreUniqueAndFindTheirWayBack) {
  for (size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    EXPECT_EQ(CategoryFromKey(Info(category).key), category);
  }
  EXPECT_EQ(CategoryFromKey("temporaries"), std::nullopt);
}

TEST(ProofTest, EveryProofHasAKeyOfItsOwnAndASentence) {
  std::set<std::string> keys;
  for (size_t i = 0; i < kProofCount; ++i) {
    const auto proof = static_cast<Proof>(i);
    ASSERT_NE(ProofKey(proof), nullptr);
    keys.insert(ProofKey(proof));
    EXPECT_EQ(std::string(ProofSentence(proof)).back(), '.');
  }
  EXPECT_EQ(keys.size(), kProofCount);
}

}  // namespace
}  // namespace vramscope::classify
