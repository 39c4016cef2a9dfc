#include "tasks/tagging/tag_scheme.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

using Tags = std::vector<std::string>;

TEST(TagSchemeTest, ATagIsAPlaceAndAType) {
  const auto said = [](std::string_view tag) {
    const auto parts = entity_tag(tag);
    return parts ? std::string(1, parts->place) + " " + std::string(parts->type) : "none";
  };
  EXPECT_EQ(said("O"), "O ");
  EXPECT_EQ(said("B-PER"), "B PER");
  EXPECT_EQ(said("I-creative-work"), "I creative-work");
  EXPECT_EQ(said("L-PER"), "E PER");
  EXPECT_EQ(said("U-PER"), "S PER");
  EXPECT_EQ(said("B"), "B ");
  for (const char* other : {"", "NOUN", "B-", "BPER", "b-PER", "X", "0", "O-PER", "SYM"}) {
    EXPECT_EQ(said(other), "none") << other;
  }
}

TEST(TagSchemeTest, IobesSpellsTheTagsOfBilou) {
  EXPECT_EQ(in_iobes("L-PER"), "E-PER");
  EXPECT_EQ(in_iobes("U"), "S");
  for (const char* same : {"O", "B-PER", "S-PER", "NOUN", "UPOS", ""})
    EXPECT_EQ(in_iobes(same), same);
}

TEST(TagSchemeTest, TheSchemeFollowsFromTheTags) {
  EXPECT_EQ(scheme_of(Tags{"O", "B-PER", "I-PER"}), "IOB2");
  EXPECT_EQ(scheme_of(Tags{"I-PER"}), "IOB2");
  EXPECT_EQ(scheme_of(Tags{"O", "B", "I"}), "IOB2");
  EXPECT_EQ(scheme_of(Tags{"O", "B-PER", "S-PER"}), "IOBES");
  EXPECT_EQ(scheme_of(Tags{"O", "B-PER", "L-PER", "U-PER"}), "BILOU");
  EXPECT_EQ(scheme_of(Tags{"O", "B-PER", "NOUN"}), "");
  EXPECT_EQ(scheme_of(Tags{"O"}), "");
  EXPECT_EQ(scheme_of(Tags{}), "");
}

TEST(TagSchemeTest, AnEntityBeginsWhereNoneOfItsTypeGoesOn) {
  for (const char* before : {"O", "B-LOC", "I-LOC", "E-PER", "S-PER", "NOUN", ""}) {
    EXPECT_TRUE(begins_entity("I-PER", before)) << before;
  }
  EXPECT_FALSE(begins_entity("I-PER", "B-PER"));
  EXPECT_FALSE(begins_entity("E-PER", "I-PER"));
  EXPECT_TRUE(begins_entity("B-PER", "I-PER"));
  EXPECT_TRUE(begins_entity("S-PER", "I-PER"));
  EXPECT_FALSE(begins_entity("O", "I-PER"));
}

TEST(TagSchemeTest, Iob1IsToldByItsBeginnings) {
  const auto signs = [](const Tags& tags) {
    Iob1Signs found;
    found.count(tags);
    return found;
  };
  EXPECT_TRUE(signs({"I-PER", "I-PER", "O", "I-LOC", "B-LOC"}).is_iob1());
  EXPECT_FALSE(signs({"B-PER", "I-PER", "O"}).is_iob1());
  const Iob1Signs mixed = signs({"B-PER", "O", "I-PER", "I-LOC"});
  EXPECT_FALSE(mixed.is_iob1());
  EXPECT_EQ(mixed.begins_with_inside, 2);
  Tags tags{"I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-LOC", "I-PER"};
  begin_with_b(tags);
  EXPECT_EQ(tags, (Tags{"B-PER", "I-PER", "O", "B-LOC", "B-LOC", "I-LOC", "B-PER"}));
}

}  // namespace
}  // namespace cloze::tasks
