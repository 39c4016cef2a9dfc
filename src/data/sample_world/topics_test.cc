#include "data/sample_world/topics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "data/sample_world/facts.h"
#include "data/sample_world/scene.h"

namespace cloze::data {
namespace {

constexpr ClozeKind kKinds[] = {ClozeKind::kFact,     ClozeKind::kCollocation, ClozeKind::kCalendar,
                                ClozeKind::kOpposite, ClozeKind::kGrammar,     ClozeKind::kStory};

std::set<const Topic*> topics_of_documents() {
  std::set<const Topic*> topics;
  for (const DocumentPlan& plan : document_plans()) {
    for (const auto part : {plan.opening, plan.body, plan.ending}) {
      topics.insert(part.begin(), part.end());
    }
  }
  return topics;
}

// Unknown slots throw; a sentence ends in a mark and holds no remains of a template.
TEST(Topics, EveryTemplateExpandsToSentences) {
  const SampleFacts facts = draw_sample_facts(1);
  for (const Topic* topic : topics_of_documents()) {
    for (const std::string_view source : topic->templates) {
      PhiloxStream stream(1, 0);
      const Scene scene(facts, stream);
      for (const Sentence& sentence : expand_template(source, scene.slots(), stream)) {
        EXPECT_EQ(sentence.text.find_first_of("{}<>()|*"), std::string::npos) << sentence.text;
        EXPECT_EQ(sentence.text.find("  "), std::string::npos) << sentence.text;
        EXPECT_NE(std::string(".?!").find(sentence.text.back()), std::string::npos)
            << sentence.text;
      }
    }
  }
}

// What a cloze item asks must have been told: its topic stands in some kind of document.
TEST(Topics, ClozeTopicsAreTold) {
  const auto told = topics_of_documents();
  for (const ClozeKind kind : kKinds) {
    for (const Topic* topic : cloze_topics(kind))
      EXPECT_TRUE(told.contains(topic)) << name_of(kind);
  }
}

// Held-out sentences can be said otherwise only when a topic knows several ways.
TEST(Topics, ClozeTopicsKnowSeveralWays) {
  for (const ClozeKind kind : kKinds) {
    for (const Topic* topic : cloze_topics(kind)) EXPECT_GE(topic->templates.size(), 4u);
  }
}

}  // namespace
}  // namespace cloze::data
