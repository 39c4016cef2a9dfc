#include "tasks/tagging/entity_report.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

TEST(EntityReportTest, TheSentenceWithTheMostWrongEntitiesIsFirst) {
  using Words = std::vector<std::string_view>;
  const std::vector<Words> words{{"Rome", "is", "old"}, {"Ann", "<Lee>", "ran"}, {"no", "name"}};
  const std::vector<TaggedSentence> tags{{{"B-LOC", "O", "O"}, {"O", "O", "O"}},
                                         {{"B-PER", "I-PER", "O"}, {"B-PER", "O", "O"}},
                                         {{"O", "O"}, {"O", "O"}}};
  const auto reading = EntityReading::kLenient;
  const EntityScores scores = score_entities(tags, reading);
  const std::string html =
      entity_report({.words = words, .tags = tags, .reading = reading, .scores = scores});
  const size_t two =
      html.find("<td>Ann &lt;Lee> (PER)</td><td>Ann (PER)</td><td>Ann &lt;Lee> ran</td>");
  const size_t one = html.find("<td>Rome (LOC)</td><td></td><td>Rome is old</td>");
  EXPECT_LT(two, one) << html;
  EXPECT_NE(one, std::string::npos);
  EXPECT_EQ(html.find("no name"), std::string::npos);
  EXPECT_NE(html.find("2 of 3 sentences have a wrong entity."), std::string::npos);
  EXPECT_NE(html.find("<dt>F1 of entities</dt><dd>0.0000</dd>"), std::string::npos);
}

}  // namespace
}  // namespace cloze::tasks
