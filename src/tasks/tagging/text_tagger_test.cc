#include "tasks/tagging/text_tagger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "inference/small_model_test.h"
#include "tasks/logits.h"

namespace cloze::tasks {
namespace {

using inference::InferenceClient;
using inference::PackedModel;

std::shared_ptr<const PackedModel> packed(const inference::SmallModelFolder& folder) {
  return std::make_shared<const PackedModel>(
      PackedModel::pack(inference::open_pretrained_model(folder.path()), {}));
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("word{}  ", 5 + i % 90);
  return text;
}

// The model has 64 positions, and the tags no, yes and maybe.
class TextTaggerTest : public testing::Test {
 protected:
  const inference::SmallModelFolder folder_{models::HeadKind::kTokenClassification,
                                            "text_tagger_test"};
  const std::shared_ptr<const PackedModel> model_ = packed(folder_);
  TextTagger tagger_{model_, 1};
};

TEST_F(TextTaggerTest, EachWordHasTheLikeliestTagOfItsLogits) {
  const std::string text = "\u00e9 word7 word5\nword60";
  const TextTags tags = tagger_.tag(std::vector{text}, TagAggregation::kFirst)[0];
  ASSERT_EQ(tags.tags.size(), 4u);
  EXPECT_EQ(tags.unknown.unknown, 1);
  EXPECT_EQ(tags.tags[1].text, "word7");
  EXPECT_EQ(tags.tags[1].start, 2);
  EXPECT_EQ(tags.tags[3].end, 20);
  const std::vector<data::Sample> samples{
      {.input_ids = {2, 1, 7, 5, 60, 3}, .token_type_ids = {0, 0, 0, 0, 0, 0}}};
  InferenceClient client(model_, 1);
  client.run_each(samples, [&](size_t, std::span<const float> logits) {
    ASSERT_EQ(logits.size(), 6u * 3u);
    for (size_t word = 0; word < 4; ++word) {
      const std::vector<double> shares = softmax(logits.subspan(3 * (word + 1), 3));
      const auto best = std::ranges::max_element(shares) - shares.begin();
      EXPECT_EQ(tags.tags[word].tag, folder_.head().labels[static_cast<size_t>(best)]);
      EXPECT_EQ(tags.tags[word].probability, shares[static_cast<size_t>(best)]);
    }
  });
}

TEST_F(TextTaggerTest, NoWordOfALongTextIsLost) {
  for (const int count : {0, 1, 61, 62, 63, 200}) {
    const std::string text = words(count);
    const auto all = tagger_.tag(std::vector{text, words(2)}, TagAggregation::kFirst);
    ASSERT_EQ(std::ssize(all[0].tags), count);
    EXPECT_EQ(all[1].tags.size(), 2u);
    for (int i = 0; i < count; ++i) {
      const TextTag& tag = all[0].tags[static_cast<size_t>(i)];
      EXPECT_EQ(tag.text, fmt::format("word{}", 5 + i % 90));
      EXPECT_EQ(
          text.substr(static_cast<size_t>(tag.start), static_cast<size_t>(tag.end - tag.start)),
          tag.text);
    }
  }
}

TEST_F(TextTaggerTest, TheReplyIsJson) {
  const auto all = tagger_.tag(std::vector<std::string>{"word9", ""}, TagAggregation::kFirst);
  const formats::Json reply = text_tags_json(all[0]);
  ASSERT_EQ(reply.at("tags").size(), 1u);
  EXPECT_EQ(reply["tags"][0]["text"], "word9");
  EXPECT_EQ(reply["tags"][0]["start"], 0);
  EXPECT_EQ(reply["tags"][0]["end"], 5);
  EXPECT_EQ(text_tags_json(all[1]), (formats::Json{{"tags", formats::Json::array()}}));
}

TEST_F(TextTaggerTest, AModelOfAnotherHeadIsRefused) {
  const inference::SmallModelFolder classifier(models::HeadKind::kSequenceClassification,
                                               "text_tagger_test_classifier");
  EXPECT_THROW(TextTagger(packed(classifier), 1), UserError);
}

}  // namespace
}  // namespace cloze::tasks
