#include "data/creation/create_records.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "data/id_count.h"
#include "data/records/record_dataset.h"
#include "data/records/record_features.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "formats/xxh3.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

void ignore_notice(const std::string&) {}

class CreateRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_create_records_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string text;
    for (int line = 0; line < 600; ++line) {
      for (int word = 0; word < 3 + line % 9; ++word) {
        text += kWords[static_cast<size_t>(line * 7 + word * word) % kWords.size()] + " ";
      }
      text += line % 13 == 12 ? "\n\n" : "\n";
    }
    platform::write_file_atomically(folder_ / "text", text);
  }
  void TearDown() override { fs::remove_all(folder_); }

  RecordOptions options(const std::string& outputs = "out") const {
    RecordOptions options;
    options.input = {.files = {folder_ / "text"}, .threads = 2};
    for (char suffix : outputs) options.output_files.push_back(folder_ / std::string(1, suffix));
    options.layout = {.sequence_length = 32, .max_predictions = 6};
    return options;
  }
  RecordCounts create(const RecordOptions& options) const {
    CreationProgress progress;
    return create_records(options, tokenizer_, progress, ignore_notice);
  }
  std::string digest_of_records(const RecordOptions& options,
                                const text::Tokenizer& tokenizer) const {
    CreationProgress progress;
    create_records(options, tokenizer, progress, ignore_notice);
    formats::Xxh3Digest digest;
    for (const fs::path& file : options.output_files) digest.update(platform::read_file(file));
    return digest.hex();
  }
  std::string refusal(const RecordOptions& options) const {
    try {
      create(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  static inline const std::vector<std::string> kWords{"rain", "sun", "wind", "snow", "a", "the"};
  fs::path folder_;
  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "rain", "sun",
                                     "wind", "snow", "a", "the"}),
      {}};
};

TEST_F(CreateRecordsTest, SameBytesForAnyNumberOfThreads) {
  for (bool remask : {false, true}) {
    std::string expected;
    for (int threads : {1, 2, 5}) {
      RecordOptions with_threads = options("o");
      with_threads.input.threads = threads;
      with_threads.layout.remask = remask;
      create(with_threads);
      const std::string bytes = platform::read_file(folder_ / "o");
      if (threads == 1) expected = bytes;
      EXPECT_EQ(bytes, expected) << threads << " threads";
    }
  }
}

// Making records from the same text again gives the same records.
TEST_F(CreateRecordsTest, TheRecordsOfATextStayTheSame) {
  std::string lines;
  for (int word = 0; word < 9000; ++word) {
    lines += kWords[static_cast<size_t>(word * word + word / 7) % kWords.size()];
    lines += word % 1500 == 1499 ? "\n\n" : word % 500 == 499 ? "\n" : " ";
  }
  platform::write_file_atomically(folder_ / "lines", lines);
  const auto expect_digest = [&](const char* mode, const char* expected,
                                 const std::function<void(RecordOptions&)>& set) {
    RecordOptions asked = options("ab");
    asked.input.files = {folder_ / "text", folder_ / "lines"};
    set(asked);
    EXPECT_EQ(digest_of_records(asked, tokenizer_), expected) << mode;
  };
  expect_digest("plain", "58008b708c98188c5268d394a46575d5", [](RecordOptions&) {});
  expect_digest("remask", "912548283d4c91c90b545db05706cee3",
                [](RecordOptions& asked) { asked.layout.remask = true; });
  expect_digest("limited", "0f3a17c7333ae5077cb4a2c07b74c159",
                [](RecordOptions& asked) { asked.max_samples = 1234; });
  expect_digest("google", "5428be27bd8654b8294539ef03090980",
                [](RecordOptions& asked) { asked.google_compatible = true; });
  expect_digest("google, files joined and limited", "fa813bd3441b66e9c9679510ca786124",
                [](RecordOptions& asked) {
                  asked.google_compatible = asked.input.documents_cross_files = true;
                  asked.max_samples = 777;
                });

  // Ids of more than two bytes.
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (int filler = 0; filler < 70'000; ++filler) tokens.push_back(fmt::format("w{}", filler));
  tokens.insert(tokens.end(), kWords.begin(), kWords.end());
  RecordOptions asked = options("o");
  asked.input.files = {folder_ / "lines"};
  EXPECT_EQ(digest_of_records(asked, {text::Vocabulary::from_tokens(tokens), {}}),
            "1c4a8b2958687f2f94b1af93298ca141");
}

// Re-masked, 6 slots leave room for sequences of 31 tokens, 5 of them masked.
TEST_F(CreateRecordsTest, BothLayoutsHoldTheSameSamplesAndFitTheirShape) {
  RecordOptions plain = options("p"), remasked = options("r");
  plain.layout.sequence_length = 31;
  remasked.layout.remask = true;
  const RecordCounts counts = create(plain);
  create(remasked);
  const RecordShape shape{.sequence_length = 32, .max_predictions = 6, .vocabulary_size = 11};
  RecordShape plain_shape = shape;
  plain_shape.sequence_length = 31;
  const RecordDataset a(plain.output_files, {.shape = plain_shape}),
      b(remasked.output_files, {.shape = shape});
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.size(), counts.instances);
  EXPECT_EQ(counts.documents, 47);
  EXPECT_EQ(counts.sentences, 600);
  int64_t tokens = 0, predictions = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const Sample sample = a.sample(i, 0), other = b.sample(i, 0);
    ASSERT_EQ(sample.input_ids, other.input_ids);
    ASSERT_EQ(sample.token_type_ids, other.token_type_ids);
    ASSERT_EQ(sample.masked_positions, other.masked_positions);
    ASSERT_EQ(sample.masked_labels, other.masked_labels);
    ASSERT_EQ(sample.next_sentence_label, other.next_sentence_label);
    tokens += static_cast<int64_t>(sample.input_ids.size());
    predictions += static_cast<int64_t>(sample.masked_positions.size());
  }
  EXPECT_EQ(counts.tokens, tokens);
  EXPECT_EQ(counts.predictions, predictions);
}

// Nothing but the rate, the length and the slots decides how many tokens are predicted.
TEST_F(CreateRecordsTest, TheMaskedShareIsTheOneAskedFor) {
  for (const bool remask : {false, true}) {
    for (const double rate : {0.05, 0.15, 0.4}) {
      for (const int64_t slots : {6, 20, 60}) {
        SCOPED_TRACE(fmt::format("rate {}, {} slots, remask {}", rate, slots, remask));
        RecordOptions asked = options("o");
        asked.layout = {.sequence_length = 128, .max_predictions = slots, .remask = remask};
        asked.masking_probability = rate;
        create(asked);
        const RecordDataset made(asked.output_files, {});
        ASSERT_GT(made.size(), 100);
        for (int64_t i = 0; i < made.size(); ++i) {
          const Sample sample = made.sample(i, 0);
          const double share = rate * static_cast<double>(sample.input_ids.size());
          EXPECT_EQ(std::ssize(sample.masked_positions),
                    std::clamp<int64_t>(std::lrint(share), 1, slots))
              << sample.input_ids.size() << " tokens";
        }
      }
    }
  }
}

// 20 documents of one sentence of 500 tokens, of which no token comes twice.
TEST_F(CreateRecordsTest, AllOfALongLineIsMetInPairsOfBothLabels) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::string text;
  for (int word = 0; word < 10'000; ++word) {
    tokens.push_back(fmt::format("w{}", word));
    text += tokens.back() + (word % 500 == 499 ? "\n\n" : " ");
  }
  platform::write_file_atomically(folder_ / "text", text);
  RecordOptions asked = options("o");
  asked.duplication_factor = 8;
  CreationProgress progress;
  const RecordCounts counts =
      create_records(asked, {text::Vocabulary::from_tokens(tokens), {}}, progress, ignore_notice);
  EXPECT_EQ(counts.documents_of_one_sentence, 0) << "it is kept in parts";
  const RecordDataset made(asked.output_files, {});
  std::vector<int> met(tokens.size());
  int64_t random_next = 0;
  for (int64_t i = 0; i < made.size(); ++i) {
    const Sample sample = made.sample(i, 0);
    for (const int32_t id : unmasked_ids(sample)) ++met[static_cast<size_t>(id)];
    random_next += sample.next_sentence_label;
  }
  EXPECT_EQ(std::count(met.begin() + 5, met.end(), 0), 0) << "tokens that no record holds";
  // A chunk of one part, of a short sequence or at the end of a document, has a random pair.
  EXPECT_NEAR(static_cast<double>(random_next) / static_cast<double>(made.size()), 0.55, 0.1);
}

TEST_F(CreateRecordsTest, DocumentsOfOneSentenceAreCounted) {
  platform::write_file_atomically(folder_ / "text", "rain\n\nsun\nwind\n\nsnow\n");
  EXPECT_EQ(create(options("o")).documents_of_one_sentence, 2);
}

TEST_F(CreateRecordsTest, OutputFilesAreFilledInTurnAndSamplesAreLimited) {
  create(options("o"));
  RecordOptions limited = options("ab");
  limited.max_samples = 101;
  EXPECT_EQ(create(limited).instances, 101);
  const RecordDataset whole(options("o").output_files, {});
  const RecordDataset even(std::vector<fs::path>{folder_ / "a"}, {});
  const RecordDataset odd(std::vector<fs::path>{folder_ / "b"}, {});
  ASSERT_EQ(even.size(), 51);
  ASSERT_EQ(odd.size(), 50);
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(even.sample(i, 0).input_ids, whole.sample(2 * i, 0).input_ids);
    EXPECT_EQ(odd.sample(i, 0).input_ids, whole.sample(2 * i + 1, 0).input_ids);
  }
}

TEST_F(CreateRecordsTest, SeedAndDuplicatesChangeTheRecords) {
  RecordOptions one = options("o");
  one.duplication_factor = 1;
  const int64_t instances = create(one).instances;
  const std::string first = platform::read_file(folder_ / "o");
  one.seed = 7;
  create(one);
  EXPECT_NE(platform::read_file(folder_ / "o"), first);
  const RecordCounts six = create(options("o"));
  EXPECT_NEAR(static_cast<double>(six.instances), 6.0 * static_cast<double>(instances),
              0.6 * static_cast<double>(instances));
  const RecordDataset dataset(options("o").output_files, {});
  std::set<std::vector<int32_t>> different;
  for (int64_t i = 0; i < dataset.size(); ++i) different.insert(dataset.sample(i, 0).input_ids);
  EXPECT_GT(static_cast<double>(different.size()), 0.9 * static_cast<double>(dataset.size()));
}

TEST_F(CreateRecordsTest, NonsenseIsRefusedWithItsValue) {
  RecordOptions bad = options();
  bad.layout.sequence_length = 4;
  EXPECT_EQ(refusal(bad), "--sequence-length 4 must be in [5, 2^20]");
  bad.layout.sequence_length = INT64_MAX;
  EXPECT_EQ(refusal(bad), "--sequence-length 9223372036854775807 must be in [5, 2^20]");
  bad = options();
  bad.layout.max_predictions = 30;
  EXPECT_EQ(refusal(bad), "--mask-tokens 30 must be in [1, 29], for sequences of 32");
  bad = options();
  bad.max_samples = 0;
  EXPECT_EQ(refusal(bad), "--max-samples 0 makes no record; give 1 or more, or -1 for all");
  bad = options();
  bad.masking_probability = 1.5;
  EXPECT_EQ(refusal(bad), "--mlm-prob 1.5 must be in [0, 1]");
  bad = options();
  bad.layout.remask = true;
  bad.layout.pad_position_value = 20;
  EXPECT_EQ(refusal(bad),
            "--pad-position-value 20 is a position of a sequence of 32; choose at least 32");
  bad = options();
  bad.layout = {.sequence_length = 32, .max_predictions = 29, .remask = true};
  EXPECT_EQ(refusal(bad),
            "--mask-tokens 29 leaves room for 4 tokens in re-masked sequences of 32; they need 5: "
            "lower --mask-tokens");
  bad = options();
  bad.duplication_factor = 0;
  EXPECT_EQ(refusal(bad), "--duplication-factor 0 must be in [1, 2^20]");
  EXPECT_EQ(refusal(options("")), "--output-file names no file");
  RecordOptions twice = options("ab");
  twice.output_files.push_back(folder_ / "." / "a");
  EXPECT_EQ(refusal(twice), fmt::format("--output-file names {} twice; name each file once",
                                        (folder_ / "./a").string()));
  twice.output_files = {"not_there.tfrecord", "./not_there.tfrecord"};
  EXPECT_EQ(refusal(twice), "--output-file names ./not_there.tfrecord twice; name each file once");
}

TEST_F(CreateRecordsTest, AFailureLeavesNoOutputBehind) {
  RecordOptions empty = options("o");
  platform::write_file_atomically(folder_ / "text", "\n\n");
  EXPECT_NE(refusal(empty).find("the corpus is empty"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "o"));
  empty.output_files = {folder_ / "text" / "inside_a_file"};
  EXPECT_ANY_THROW(create(empty));
}

// Feature by feature, so that a difference says where it is.
void expect_same_features(std::span<const std::byte> ours, std::span<const std::byte> golden) {
  const auto a = formats::TfExample::parse(ours), b = formats::TfExample::parse(golden);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->names().size(), b->names().size());
  for (const std::string& name : b->names()) {
    const auto integers = a->integers(name), golden_integers = b->integers(name);
    const auto floats = a->floats(name), golden_floats = b->floats(name);
    ASSERT_EQ(integers.has_value(), golden_integers.has_value()) << name;
    ASSERT_EQ(floats.has_value(), golden_floats.has_value()) << name;
    if (integers) {
      ASSERT_TRUE(std::ranges::equal(*integers, *golden_integers)) << name;
    }
    if (floats) {
      ASSERT_TRUE(std::ranges::equal(*floats, *golden_floats)) << name;
    }
  }
}

TEST(GoogleCompatibleTest, ReproducesTheGoldenRecords) {
  const DataFolder data({"golden/tfrecord", "vocab/bert-base-uncased-vocab.txt"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path golden_folder = data / "golden/tfrecord";
  const fs::path output = fs::path(testing::TempDir()) / "cloze_google_compatible";
  const text::Tokenizer tokenizer(
      text::Vocabulary::load(data / "vocab/bert-base-uncased-vocab.txt"),
      {.profile = text::profile_from_name("google")});
  RecordOptions options;
  options.input = {.files = {golden_folder / "sample_text.txt"}, .documents_cross_files = true};
  options.output_files = {output};
  options.seed = 12345;
  options.duplication_factor = 5;
  options.google_compatible = true;
  CreationProgress progress;
  EXPECT_EQ(create_records(options, tokenizer, progress, ignore_notice).instances, 60);

  const platform::MappedFile ours(output);
  const platform::MappedFile golden(golden_folder / "vincentcheny_tf_examples.tfrecord");
  const auto our_index = formats::index_tfrecords(ours.bytes()).offsets;
  const auto golden_index = formats::index_tfrecords(golden.bytes()).offsets;
  ASSERT_EQ(our_index.size(), golden_index.size());
  for (size_t i = 0; i < our_index.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same_features(*formats::tfrecord_payload(ours.bytes(), our_index[i]),
                         *formats::tfrecord_payload(golden.bytes(), golden_index[i]));
  }
  fs::remove(output);
}

TEST(GoldenRecordsTest, RecordsOfOtherProgramsAreRead) {
  const DataFolder data({"golden/tfrecord"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path folder = data / "golden/tfrecord";
  const RecordShape shape{.sequence_length = 128, .max_predictions = 20, .vocabulary_size = 30522};
  for (const char* name : {"graphcore_sample_text.tfrecord", "vincentcheny_tf_examples.tfrecord"}) {
    const RecordDataset dataset(std::vector<fs::path>{folder / name}, {.shape = shape});
    for (int64_t i = 0; i < dataset.size(); ++i) {
      const Sample sample = dataset.sample(i, 0);
      EXPECT_EQ(sample.input_ids.front(), 101);
      EXPECT_EQ(sample.input_ids.back(), 102);
    }
  }
}

}  // namespace
}  // namespace cloze::data
