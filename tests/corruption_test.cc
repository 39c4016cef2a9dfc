// Damaged input of every form: 2,000 files of nearly each, cut short or with some bits flipped.
// Each is refused with an error that names the file, read as it was written, or read as something
// else. Every test says how many may end in which way: a form with checksums refuses all damage but
// a cut between two records, a form without refuses what breaks its structure. Run with sanitizers,
// nothing else may appear. CLOZE_CAMPAIGN multiplies the number of files, and another value damages
// other files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>

#include "base/error.h"
#include "base/philox.h"
#include "checkpoints/sentence_files.h"
#include "checkpoints/sentence_folder.h"
#include "data/corpus/array_corpus.h"
#include "data/corpus/corpus_reader.h"
#include "data/records/record_dataset.h"
#include "data/token_store/build_token_store.h"
#include "data/wikipedia/dump_reader.h"
#include "formats/bzip2_compressed_test.h"
#include "formats/hdf5_absent_test.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "record_formats.h"
#include "train/saving/checkpoint.h"

namespace cloze {
namespace {

namespace fs = std::filesystem;
using data::Sample;

constexpr int kRounds = 2000;

// 1, or the factor that the environment asks for.
int campaign() {
  const char* factor = std::getenv("CLOZE_CAMPAIGN");
  return factor == nullptr ? 1 : std::max(std::atoi(factor), 1);
}
constexpr data::RecordShape kShape{
    .sequence_length = 32, .max_predictions = 6, .vocabulary_size = 300};

std::string damaged(const std::string& good, PhiloxStream& random) {
  const auto size = static_cast<uint32_t>(good.size());
  if (random.below(2) == 0) return good.substr(0, random.below(size));
  std::string bytes = good;
  for (uint32_t flips = 1 + random.below(3); flips > 0; --flips) {
    bytes[random.below(size)] ^= static_cast<char>(1 << random.below(8));
  }
  return bytes;
}

// How damaged files ended.
struct Outcomes {
  int refused = 0;
  int same = 0;           // read as it was written
  int other = 0;          // read as something else
  int cuts = 0;           // were cut short, the rest has flipped bits
  int accepted_cuts = 0;  // of these, those that were read

  double refused_share() const { return static_cast<double>(refused) / (refused + same + other); }
  double accepted_cut_share() const { return static_cast<double>(accepted_cuts) / cuts; }
};
std::ostream& operator<<(std::ostream& out, const Outcomes& o) {
  return out << o.refused << " refused, " << o.same << " read the same, " << o.other
             << " read as something else; " << o.accepted_cuts << " of " << o.cuts << " cuts read";
}

class CorruptionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_corruption_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Not synced, and not written over, which some file systems sync: there are thousands.
  fs::path write(const std::string& name, const std::string& bytes) const {
    fs::remove(folder_ / name);
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  // Writes a folder of just these files.
  void write_anew(const std::vector<checkpoints::TextFile>& files) const {
    fs::remove_all(folder_);
    for (const checkpoints::TextFile& file : files) {
      fs::create_directories((folder_ / file.name).parent_path());
      write(file.name, file.text);
    }
  }

  // Calls `read` on damaged copies of the file. It says whether it read what was written; it may
  // throw errors of users' data that name the file.
  Outcomes damage(const std::string& name, const std::string& good,
                  const std::function<bool(const fs::path&)>& read, int rounds = kRounds) const {
    const int factor = campaign();
    PhiloxStream random(6 + static_cast<uint64_t>(factor), 0);
    Outcomes outcomes;
    for (int round = 0; round < rounds * factor; ++round) {
      const std::string bytes = damaged(good, random);
      if (bytes == good) continue;  // one bit flipped twice
      const bool is_cut = bytes.size() < good.size();
      outcomes.cuts += is_cut;
      const fs::path path = write(name, bytes);
      try {
        ++(read(path) ? outcomes.same : outcomes.other);
        outcomes.accepted_cuts += is_cut;
      } catch (const UserError& error) {  // a DataError is one
        ++outcomes.refused;
        EXPECT_NE(std::string(error.what()).find(folder_.string()), std::string::npos)
            << error.what();
      }
    }
    return outcomes;
  }

  fs::path folder_;
};

std::vector<Sample> some_samples() {
  PhiloxStream random(1, 0);
  std::vector<Sample> samples;
  for (int i = 0; i < 12; ++i) {
    Sample sample{.next_sentence_label = i % 2};
    const uint32_t length = 6 + random.below(4);
    for (uint32_t t = 0; t < length; ++t) {
      sample.input_ids.push_back(static_cast<int32_t>(1 + random.below(299)));
      sample.token_type_ids.push_back(t > 3 ? 1 : 0);
    }
    sample.masked_positions = {1, 3};
    sample.masked_labels = {i + 1, 7};
    samples.push_back(std::move(sample));
  }
  return samples;
}

void expect_fitting(const Sample& sample) {
  ASSERT_FALSE(sample.input_ids.empty());
  ASSERT_LE(sample.input_ids.size(), 32u);
  ASSERT_EQ(sample.token_type_ids.size(), sample.input_ids.size());
  ASSERT_EQ(sample.masked_positions.size(), sample.masked_labels.size());
  for (const int32_t id : sample.input_ids) ASSERT_TRUE(id >= 0 && id < 300);
  for (const int32_t id : sample.masked_labels) ASSERT_TRUE(id >= 0 && id < 300);
  for (const int32_t place : sample.masked_positions) {
    ASSERT_TRUE(place >= 0 && place < std::ssize(sample.input_ids));
  }
}

bool is_one_of(const Sample& sample, const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [&](const Sample& good) {
    return good.input_ids == sample.input_ids && good.token_type_ids == sample.token_type_ids &&
           good.masked_positions == sample.masked_positions &&
           good.masked_labels == sample.masked_labels &&
           good.next_sentence_label == sample.next_sentence_label;
  });
}

// Checks that every remaining sample is as it was written; returns whether none is missing.
bool read_checked(const fs::path& path, const std::vector<Sample>& samples) {
  const data::RecordDataset good(std::vector{path}, {.shape = kShape, .skip_bad = true});
  EXPECT_LE(good.size(), std::ssize(samples));
  for (int64_t i = 0; i < good.size(); ++i) {
    EXPECT_TRUE(is_one_of(good.sample(i, 0), samples));
  }
  const data::RecordDataset all(std::vector{path}, {.shape = kShape});
  for (int64_t i = 0; i < all.size(); ++i) EXPECT_TRUE(is_one_of(all.sample(i, 0), samples));
  return all.size() == std::ssize(samples);
}

std::string file_of(const fs::path& path, const std::vector<Sample>& samples,
                    tests::RecordFormat format) {
  tests::write_records(path, samples, format, {32, 6});
  return platform::read_file(path);
}

TEST_F(CorruptionTest, RecordsWithChecksums) {
  using enum tests::RecordFormat;
  const std::vector<Sample> samples = some_samples();
  for (const auto format : {kPlain, kRemasked, kPackedTfRecord}) {
    const Outcomes outcomes =
        damage("records", file_of(folder_ / "good", samples, format),
               [&](const fs::path& path) { return read_checked(path, samples); });
    // What is accepted was cut between two records.
    EXPECT_EQ(outcomes.same + outcomes.other, outcomes.accepted_cuts) << outcomes;
    EXPECT_GT(outcomes.refused_share(), 0.99) << outcomes;
  }
}

TEST_F(CorruptionTest, PackedBinary) {
  const std::vector<Sample> samples = some_samples();
  const std::string good = file_of(folder_ / "good", samples, tests::RecordFormat::kPackedBinary);
  const Outcomes outcomes = damage("binary", good, [&](const fs::path& path) {
    const data::RecordDataset dataset(std::vector{path}, {.shape = kShape, .skip_bad = true});
    bool is_as_written = dataset.size() == std::ssize(samples);
    for (int64_t i = 0; i < dataset.size(); ++i) {
      const Sample sample = dataset.sample(i, 0);
      expect_fitting(sample);
      is_as_written = is_as_written && is_one_of(sample, samples);
    }
    return is_as_written;
  });
  EXPECT_LT(outcomes.accepted_cut_share(), 0.01) << outcomes;  // those between two records
}

// Each file costs two processes. Damage that the format has no checksum for may go unseen.
TEST_F(CorruptionTest, Hdf5Shards) {
  constexpr int kHdf5Rounds = 150;
  const fs::path shard = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/records/shard.hdf5";
  const auto samples_of = [](const fs::path& path) {
    const auto file = data::open_record_file(path, {.vocabulary_size = 1000});
    std::vector<Sample> samples;
    for (int64_t r = 0; r < std::min<int64_t>(file->records(), 8); ++r) {
      const auto read = file->read(r);
      if (!read) continue;
      EXPECT_EQ(read->size(), 1u);
      samples.push_back(read->front());
    }
    return samples;
  };
  std::vector<Sample> expected;
  try {
    expected = samples_of(shard);
  } catch (const UserError& error) {
    if (!formats::says_hdf5_is_absent(error)) throw;
    GTEST_SKIP() << error.what();
  }
  const Outcomes outcomes = damage(
      "shard.hdf5", platform::read_file(shard),
      [&](const fs::path& path) {
        const std::vector<Sample> samples = samples_of(path);
        return samples.size() == expected.size() &&
               std::ranges::all_of(samples,
                                   [&](const Sample& s) { return is_one_of(s, expected); });
      },
      kHdf5Rounds);
  EXPECT_EQ(outcomes.accepted_cuts, 0) << outcomes;
  EXPECT_GT(outcomes.refused, outcomes.cuts) << outcomes;
}

// Each of its files, the manifest too. All damage is found, as every file has a checksum.
TEST_F(CorruptionTest, Checkpoints) {
  constexpr int kDamages = 10000;
  const std::vector<float> weights(300, 0.25f);
  const formats::TensorView tensor{"weight", DType::kF32, Shape{300},
                                   std::as_bytes(std::span(weights))};
  const fs::path path = train::CheckpointStore(folder_ / "run", 0)
                            .save({.model = {formats::source_of(tensor)},
                                   .optimizer = {formats::source_of(tensor)},
                                   .state = {.step = 7, .total_steps = 9},
                                   .files = [] {
                                     return std::vector<train::TextFile>{{"config.json", "{}"}};
                                   }});
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 6u);
  for (const fs::path& file : files) {
    const fs::path name = file.lexically_relative(folder_);
    const std::string good = platform::read_file(file);
    const auto read = [&](const fs::path&) {
      return train::find_checkpoint(folder_ / "run").step == 7;
    };
    const Outcomes outcomes = damage(name, good, read, kDamages / std::ssize(files) + 1);
    EXPECT_EQ(outcomes.same + outcomes.other, 0) << name << ": " << outcomes;
    EXPECT_TRUE(read(write(name, good)));
  }
}

// --- Folders of sentence-transformers ----------------------------------------------------------

const models::BertConfig kEncoder{
    .hidden_size = 8, .num_attention_heads = 2, .max_position_embeddings = 64};

// The files of a folder with all that such a folder may have, in the older form or the newer one.
std::vector<checkpoints::TextFile> sentence_folder(bool is_newer) {
  std::vector<checkpoints::TextFile> files = checkpoints::sentence_files(
      {.pooling = {ops::PoolingMode::kFirst, ops::PoolingMode::kMean},
       .dense = {{.name = "2_Dense", .in_features = 16, .out_features = 4}},
       .is_normalized = true},
      {.max_length = 40,
       .prompts = {{"query", "q: "}, {"document", ""}},
       .default_prompt = "query"},
      kEncoder);
  if (!is_newer) return files;
  for (checkpoints::TextFile& file : files) {
    if (file.name == "1_Pooling/config.json") {
      file.text = R"({"embedding_dimension": 8, "pooling_mode": ["cls", "mean"]})";
    } else if (file.name == "sentence_bert_config.json") {
      file.name = "tokenizer_config.json";
      file.text = R"({"model_max_length": 40, "do_lower_case": true})";
    }
  }
  return files;
}

// All that is read of such a folder, as a text.
std::string sentences_in(const fs::path& folder) {
  for (const std::string& dense : checkpoints::dense_folders(folder)) {
    EXPECT_FALSE(fs::path(dense).is_absolute());
    EXPECT_EQ(dense.find(".."), std::string::npos);
  }
  const auto layers = checkpoints::read_embedding_layers(folder, kEncoder);
  EXPECT_GE(layers.dimensions(kEncoder.hidden_size), 1);
  const auto settings = checkpoints::read_sentence_settings(folder, kEncoder);
  EXPECT_LE(*settings.max_length, kEncoder.max_position_embeddings);
  settings.default_text();
  return formats::json_line(checkpoints::sentence_json(layers, settings));
}

TEST_F(CorruptionTest, FoldersOfSentenceTransformers) {
  for (const bool is_newer : {false, true}) {
    const std::vector<checkpoints::TextFile> files = sentence_folder(is_newer);
    write_anew(files);
    const std::string whole = sentences_in(folder_);
    for (const checkpoints::TextFile& file : files) {
      const Outcomes outcomes = damage(
          file.name, file.text, [&](const fs::path&) { return sentences_in(folder_) == whole; },
          kRounds / 4);
      // Normalize has no configuration that counts.
      if (file.text.size() > 4)
        EXPECT_GT(outcomes.refused, outcomes.cuts * 9 / 10) << file.name << outcomes;
      write(file.name, file.text);
    }
  }
}

// Copies of a value, each with another value in the place of one of its parts.
std::vector<formats::Json> with_other_parts(const formats::Json& whole) {
  using formats::Json;
  static const std::vector<Json> others{nullptr,
                                        true,
                                        -1,
                                        0,
                                        3,
                                        int64_t{1} << 62,
                                        ~uint64_t{0},
                                        1e300,
                                        0.5,
                                        "",
                                        "../x",
                                        "/",
                                        std::string(5000, 'x'),
                                        Json::array(),
                                        Json::array({1, "mean"}),
                                        Json::object()};
  std::vector<Json> copies = others;
  if (whole.is_object()) {
    for (const formats::JsonMember& member : whole.items()) {
      for (Json& part : with_other_parts(member.value)) {
        copies.push_back(whole);
        copies.back()[member.name] = std::move(part);
      }
    }
  } else if (whole.is_array()) {
    for (size_t place = 0; place < whole.size(); ++place) {
      for (Json& part : with_other_parts(whole[place])) {
        Json::Array items;
        for (size_t i = 0; i < whole.size(); ++i) items.push_back(i == place ? part : whole[i]);
        copies.emplace_back(std::move(items));
      }
    }
  }
  return copies;
}

// What no flipped bit makes: files that are JSON, with values of every kind in every place.
TEST_F(CorruptionTest, FoldersOfSentenceTransformersThatSaySomethingElse) {
  int read = 0, refused = 0;
  for (const bool is_newer : {false, true}) {
    const std::vector<checkpoints::TextFile> files = sentence_folder(is_newer);
    write_anew(files);
    for (const checkpoints::TextFile& file : files) {
      for (const formats::Json& other : with_other_parts(formats::Json::parse(file.text))) {
        write(file.name, formats::json_line(other));
        try {
          sentences_in(folder_);
          ++read;
        } catch (const UserError& error) {
          ++refused;
          EXPECT_NE(std::string(error.what()).find(folder_.string()), std::string::npos)
              << error.what();
        }
      }
      write(file.name, file.text);
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 900);
}

const text::Tokenizer& small_tokenizer() {
  static const text::Tokenizer tokenizer(
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat",
                                     "sat", "##s", "on", "mat", "."}),
      {});
  return tokenizer;
}

std::string small_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "The cat sat on the mat. The mats sat.\n";
    if (i % 5 == 4) text += "\n";
  }
  return text;
}

TEST_F(CorruptionTest, TokenStores) {
  const fs::path text = write("text", small_text());
  const fs::path folder = folder_ / "store";
  data::CreationProgress progress;
  build_token_store({.files = {text}, .folder = folder}, small_tokenizer(), progress);
  const auto all_ids = [&] {
    const data::TokenStore store(folder);
    std::vector<int32_t> ids;
    for (int64_t d = 0; d < store.documents(); ++d) {
      store.append_ids(d, 0, store.sentences_in(d), ids);
    }
    return ids;
  };
  const std::vector<int32_t> expected = all_ids();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  for (const fs::path& file : files) {
    const std::string good = platform::read_file(file);
    const Outcomes outcomes = damage("store/" + file.filename().string(), good,
                                     [&](const fs::path&) { return all_ids() == expected; });
    EXPECT_EQ(outcomes.other, 0) << file << outcomes;
    EXPECT_GT(outcomes.refused_share(), 0.98) << file << outcomes;  // a lost newline is harmless
    write("store/" + file.filename().string(), good);
  }
}

TEST_F(CorruptionTest, Text) {
  using data::TextFormat;
  const std::string sentences = small_text();
  std::string jsonl, extract;
  for (int i = 0; i < 20; ++i) {
    jsonl += "{\"text\": \"The cat. It sat \\u00e9.\\nOn.\", \"id\": [1, {\"a\": null}]}\n";
    extract += "<doc id=\"1\" url=\"u\" title=\"T\">\nT\n\nThe cat sat. It \xC3\xA9.\n\n</doc>\n";
  }
  for (const auto& [format, text] : {std::pair{TextFormat::kSentences, sentences},
                                     {TextFormat::kParagraphs, sentences},
                                     {TextFormat::kWrapped, sentences},
                                     {TextFormat::kAuto, sentences},
                                     {TextFormat::kJsonLines, jsonl},
                                     {TextFormat::kWikiExtractor, extract}}) {
    const auto size_of = [&](const fs::path& path) {
      data::CreationProgress progress;
      const text::Tokenizer& tokenizer = small_tokenizer();
      data::CorpusReader reader({.files = {path}, .form = {.format = format}}, tokenizer, progress);
      data::MemoryCorpus corpus(tokenizer.vocabulary().size());
      while (reader.read_round(corpus)) continue;
      EXPECT_EQ(corpus.tokens() > 0, corpus.documents() > 0);
      return std::pair(corpus.tokens(), corpus.documents());
    };
    const auto expected = size_of(write("good", text));
    const Outcomes outcomes =
        damage("text", text, [&](const fs::path& path) { return size_of(path) == expected; });
    // Any bytes are text: a file is refused only if it holds no sentence. JSON has a structure that
    // damage breaks.
    if (format == TextFormat::kJsonLines) {
      EXPECT_GT(outcomes.refused_share(), 0.8) << outcomes;
      EXPECT_LT(outcomes.accepted_cut_share(), 0.1) << outcomes;  // those between two lines
    } else {
      EXPECT_GT(outcomes.refused, 0) << outcomes;
      EXPECT_LT(outcomes.refused_share(), 0.1) << outcomes;
    }
  }
}

std::string small_dump() {
  std::string dump = "<mediawiki xml:lang=\"en\">";
  for (int i = 0; i < 30; ++i) {
    dump += "<page><title>T" + std::to_string(i) + "</title><ns>0</ns><revision><text>Text &amp; " +
            std::to_string(i) + " [[link]] {{template}}.</text></revision></page>\n";
  }
  return dump + "</mediawiki>";
}

std::vector<std::string> texts_of(const fs::path& path) {
  std::vector<std::string> texts;
  data::DumpReader reader(path, {.threads = 2});
  while (true) {
    const auto pages = reader.read();
    if (pages.empty()) return texts;
    for (const auto& page : pages) texts.push_back(page.text);
  }
}

TEST_F(CorruptionTest, Dumps) {
  const std::vector<std::string> expected = texts_of(write("good.xml", small_dump()));
  const Outcomes outcomes = damage(
      "dump.xml", small_dump(), [&](const fs::path& path) { return texts_of(path) == expected; });
  EXPECT_EQ(outcomes.accepted_cuts, 0) << outcomes;
  EXPECT_GT(outcomes.refused, outcomes.cuts) << outcomes;
}

TEST_F(CorruptionTest, CompressedDumps) {
  const std::string good = formats::bzip2_compressed(small_dump());
  const std::vector<std::string> expected = texts_of(write("good.xml.bz2", good));
  ASSERT_EQ(expected.size(), 30u);
  const Outcomes outcomes = damage(
      "dump.xml.bz2", good, [&](const fs::path& path) { return texts_of(path) == expected; });
  EXPECT_EQ(outcomes.other, 0) << outcomes;
  EXPECT_EQ(outcomes.accepted_cuts, 0) << outcomes;
  EXPECT_GT(outcomes.refused_share(), 0.99) << outcomes;
}

}  // namespace
}  // namespace cloze
