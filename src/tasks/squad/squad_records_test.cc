#include "tasks/squad/squad_records.h"

#include <gtest/gtest.h>

#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "platform/files/file.h"
#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

std::vector<int64_t> integers(const formats::TfExample& example, const char* name) {
  const auto values = example.integers(name);
  return values ? std::vector<int64_t>(values->begin(), values->end()) : std::vector<int64_t>{};
}

TEST(SquadRecordsTest, ListsArePaddedAndLabelled) {
  const std::filesystem::path path = testing::TempDir() + "squad_records_test.tfrecord";
  const text::Tokenizer tokenizer = letter_tokenizer();
  const SquadData data{.contexts = {"a b"},
                       .questions = {question_with("c", {{.text = "b", .start = 2}})}};
  const SquadFeatures features =
      make_squad_features(data, tokenizer, {.max_sequence_length = 8, .with_labels = true});
  write_squad_records(path, data, features, 8);

  const platform::MappedFile file(path);
  ASSERT_EQ(formats::index_tfrecords(file.bytes()).offsets.size(), 1u);
  const auto payload = formats::tfrecord_payload(file.bytes(), 0);
  const auto example = formats::TfExample::parse(payload.value());
  const auto id = [&](const char* token) { return *tokenizer.vocabulary().find(token); };
  EXPECT_EQ(integers(example.value(), "unique_ids"), std::vector<int64_t>{1'000'000'000});
  EXPECT_EQ(integers(example.value(), "input_ids"),
            (std::vector<int64_t>{id("[CLS]"), id("c"), id("[SEP]"), id("a"), id("b"), id("[SEP]"),
                                  0, 0}));
  EXPECT_EQ(integers(example.value(), "input_mask"),
            (std::vector<int64_t>{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(integers(example.value(), "segment_ids"),
            (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(integers(example.value(), "start_positions"), std::vector<int64_t>{4});
  EXPECT_EQ(integers(example.value(), "end_positions"), std::vector<int64_t>{4});
  EXPECT_EQ(integers(example.value(), "is_impossible"), std::vector<int64_t>{0});
}

}  // namespace
}  // namespace cloze::tasks
