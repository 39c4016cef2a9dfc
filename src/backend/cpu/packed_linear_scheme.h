// How packed_linear multiplies x by a packed weight: as a list of products, each a sum of parts of
// x times a block of the weight, added to one or two parts of y. Parts are the quadrants of a
// matrix cut in the middle of its rows and of its columns.
//
// For a weight packed for Strassen's algorithm (ops/packed_linear.h) there are two lists. The one
// for many rows has seven products of halves where the definition has eight. The one for few rows,
// which cost what the weight costs to read, cuts no rows and reads four of the seven blocks:
//   y1 = (x1 + x2) B11 + x2 (B21 - B11)        y2 = x1 (B12 - B22) + (x1 + x2) B22
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/packed_linear.h"

namespace cloze::backend::cpu {

using ops::Quadrants;

// The quadrants that are not left out; no sum here has more than two. Others have the factor 0.
struct QuadrantTerms {
  int count = 0;
  std::array<int, 2> quadrant{};
  std::array<float, 2> factor{};
};
QuadrantTerms terms_of(const Quadrants& factors);

struct SchemeProduct {
  int operand = 0;
  int block = 0;  // of the weight
  Quadrants y{};  // what the product is multiplied with before it is added there
};

struct Scheme {
  int row_parts = 1;     // of x and y
  int column_parts = 1;  // of y and of the depth
  std::span<const Quadrants> operands;
  std::span<const SchemeProduct> products;
};

inline constexpr Quadrants kWhole[] = {{1, 0, 0, 0}};
inline constexpr SchemeProduct kWholeProduct[] = {{0, 0, {1, 0, 0, 0}}};
inline constexpr Scheme kOneProduct{1, 1, kWhole, kWholeProduct};

inline constexpr Quadrants kStrassenOperands[] = {{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0},
                                                  {0, 0, 0, 1}, {1, 1, 0, 0}, {-1, 0, 1, 0},
                                                  {0, 1, 0, -1}};
inline constexpr SchemeProduct kStrassenProducts[] = {
    {0, 0, {1, 0, 0, 1}},  {1, 1, {0, 0, 1, -1}}, {2, 2, {0, 1, 0, 1}}, {3, 3, {1, 0, 1, 0}},
    {4, 4, {-1, 1, 0, 0}}, {5, 5, {0, 0, 0, 1}},  {6, 6, {1, 0, 0, 0}}};
inline constexpr Scheme kStrassen{2, 2, kStrassenOperands, kStrassenProducts};

inline constexpr Quadrants kFewRowsOperands[] = {{1, 1, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}};
inline constexpr SchemeProduct kFewRowsProducts[] = {
    {0, 1, {1, 0, 0, 0}}, {1, 3, {1, 0, 0, 0}}, {2, 2, {0, 1, 0, 0}}, {0, 4, {0, 1, 0, 0}}};
inline constexpr Scheme kFewRows{1, 2, kFewRowsOperands, kFewRowsProducts};

// A product, and what becomes of each part of y it is added to.
struct SchemeStep {
  struct Target {
    int quadrant = 0;
    float factor = 1.0f;
    bool is_first = false;  // nothing was added before
    bool is_last = false;   // nothing will be
  };

  int operand = 0;
  int block = 0;
  int num_targets = 0;
  std::array<Target, 2> targets{};
};

std::vector<SchemeStep> steps_of(const Scheme& scheme);

// Those of one quadrant have the factor 1.
std::vector<QuadrantTerms> operands_of(const Scheme& scheme);

}  // namespace cloze::backend::cpu
