#include "data/sample_world/grammar.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace cloze::data {
namespace {

std::vector<Sentence> expand(std::string_view source, uint64_t seed = 1) {
  const Slots slots = {{"river", "Orelle"}, {"animal", "owl"}, {"tool", "hammer"}};
  PhiloxStream stream(seed, 0);
  return expand_template(source, slots, stream);
}

TEST(Grammar, PutsSlotsAndCapitalLetters) {
  const auto sentences = expand("the {river} is wide.\nnobody swims in the {river}.");
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].text, "The Orelle is wide.");
  EXPECT_EQ(sentences[1].text, "Nobody swims in the Orelle.");
}

TEST(Grammar, ChoosesTheArticle) {
  EXPECT_EQ(expand("{a animal} and {a tool}.")[0].text, "An owl and a hammer.");
}

TEST(Grammar, RemembersWhereTheBlanksAre) {
  const Sentence sentence = expand("They <were> near {a *animal} by the {*river}.")[0];
  ASSERT_EQ(sentence.text, "They were near an owl by the Orelle.");
  std::vector<std::string> blanked;
  for (const Blank& blank : sentence.blanks) {
    blanked.push_back(sentence.text.substr(blank.begin, blank.size));
  }
  EXPECT_EQ(blanked, (std::vector<std::string>{"were", "owl", "Orelle"}));
}

TEST(Grammar, DrawsEveryAlternative) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 40; ++seed)
    seen.insert(expand("A (big|{tool}|) x.", seed)[0].text);
  EXPECT_EQ(seen, (std::set<std::string>{"A big x.", "A hammer x.", "A  x."}));
}

TEST(Grammar, RefusesBrokenTemplates) {
  EXPECT_THROW(expand("The {sea}."), InternalError);
  EXPECT_THROW(expand("The {river."), InternalError);
  EXPECT_THROW(expand("The (a|b."), InternalError);
}

}  // namespace
}  // namespace cloze::data
