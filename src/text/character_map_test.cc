#include "text/character_map.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace cloze::text {
namespace {

size_t count(Profile profile, bool lower_case, CharacterKind kind) {
  const CharacterMap& map = CharacterMap::of({profile, lower_case});
  size_t number = 0;
  for (char32_t c = 0; c < 0x110000; ++c) number += map.kind(c) == kind;
  return number;
}

// The tables by their sizes; one that moves shows here first.
TEST(CharacterMapTest, KindsHaveTheirNumbers) {
  const auto numbers = [](Profile profile) {
    return std::vector<size_t>{count(profile, false, CharacterKind::kDropped),
                               count(profile, false, CharacterKind::kSpace),
                               count(profile, false, CharacterKind::kPunctuation),
                               count(profile, false, CharacterKind::kIdeograph),
                               count(profile, true, CharacterKind::kMapped),
                               count(profile, true, CharacterKind::kGeneral)};
  };
  using Numbers = std::vector<size_t>;
  EXPECT_EQ(numbers(Profile::kGoogle), Numbers({226, 22, 828, 81520, 13224, 2015}));
  EXPECT_EQ(numbers(Profile::kHuggingFace), Numbers({137681, 22, 726, 81264, 13280, 1688}));
}

TEST(CharacterMapTest, MappingsAreLowerCaseWithoutAccents) {
  for (const Profile profile : {Profile::kGoogle, Profile::kHuggingFace}) {
    const CharacterMap& map = CharacterMap::of({profile});
    EXPECT_EQ(map.kind(U'A'), CharacterKind::kMapped);
    EXPECT_EQ(map.mapping(U'A'), "a");
    EXPECT_EQ(map.mapping(U'Ấ'), "a");
    EXPECT_EQ(map.mapping(U'각'), "\u1100\u1161\u11A8");
    EXPECT_EQ(map.mapping(U'\uF900'), "豈");
    EXPECT_EQ(map.kind(U'\u0301'), CharacterKind::kGeneral);
    EXPECT_EQ(map.kind(U'a'), CharacterKind::kWord);
    EXPECT_EQ(map.kind(U' '), CharacterKind::kSpace);
    EXPECT_EQ(map.kind(U'$'), CharacterKind::kPunctuation);
    EXPECT_EQ(map.kind(U'\u037E'), CharacterKind::kGeneral);
  }
}

TEST(CharacterMapTest, CasedMapsChangeNothingInsideWords) {
  for (const Profile profile : {Profile::kGoogle, Profile::kHuggingFace}) {
    EXPECT_EQ(count(profile, false, CharacterKind::kMapped), 0u);
    EXPECT_EQ(count(profile, false, CharacterKind::kGeneral), 0u);
  }
}

TEST(CharacterMapTest, ExpandListsSortableMarks) {
  const CharacterMap& map = CharacterMap::of({Profile::kGoogle});
  std::vector<NormalizedUnit> units;
  map.expand(U'Ế', units);
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[0].code_point, U'e');
  EXPECT_TRUE(units[0].is_first && !units[0].is_dropped);
  EXPECT_EQ(units[1].combining_class, 230);
  EXPECT_TRUE(units[2].is_dropped && !units[2].is_first);
}

TEST(CharacterMapTest, SigmaIsFinalAfterALetterAndBeforeNone) {
  const CharacterMap& map = CharacterMap::of({Profile::kGoogle});
  EXPECT_TRUE(map.is_final_sigma("ΑΣ", 2));
  EXPECT_TRUE(map.is_final_sigma("Α'Σ' Α", 3));
  EXPECT_FALSE(map.is_final_sigma("Α'Σ'Α", 3));
  EXPECT_FALSE(map.is_final_sigma("Σ", 0));
  EXPECT_FALSE(map.is_final_sigma("Α Σ", 3));
  EXPECT_FALSE(map.is_final_sigma("1Σ", 1));
}

}  // namespace
}  // namespace cloze::text
