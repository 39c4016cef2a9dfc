#include "inference/packed_model.h"

#include <gtest/gtest.h>

#include "backend/cpu/packed_linear.h"
#include "base/error.h"
#include "formats/json.h"
#include "formats/xxh3.h"
#include "inference/small_model_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::inference {
namespace {

using models::HeadKind;

class PackedModelTest : public testing::Test {
 protected:
  void SetUp() override {
    PackedModel::pack(open_pretrained_model(folder_.path()), {.precision = DType::kBF16})
        .write(file_);
  }

  std::string refusal(const std::string& bytes, const std::string& device = "cpu") const {
    platform::write_file_atomically(file_, bytes);
    try {
      PackedModel::open(file_, device);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

  // The file with `from` replaced by `to`, which is as long, and with correct checksums; empty when
  // it does not contain `from`.
  std::string changed(const std::string& from, const std::string& to) const {
    std::string bytes = platform::read_file(file_);
    const size_t at = bytes.find(from);
    if (at == std::string::npos) return {};
    bytes.replace(at, from.size(), to);
    const auto hash_into = [&bytes](size_t begin, size_t end, size_t place) {
      const uint64_t hash =
          formats::xxh3(std::as_bytes(std::span(bytes.data() + begin, end - begin)));
      std::memcpy(bytes.data() + place, &hash, sizeof hash);
    };
    uint64_t weights_offset = 0;
    std::memcpy(&weights_offset, bytes.data() + 32, sizeof weights_offset);
    hash_into(72, weights_offset, 48);
    hash_into(0, 64, 64);
    return bytes;
  }

  const SmallModelFolder folder_{HeadKind::kSequenceClassification, "packed_model_test"};
  const std::filesystem::path file_ = folder_.path() / "model.cloze";
};

TEST_F(PackedModelTest, HoldsWhatTheFolderHolds) {
  const PackedModel model = PackedModel::open(file_);
  EXPECT_EQ(model.config(), SmallModelFolder::config());
  EXPECT_EQ(model.head().labels, folder_.head().labels);
  EXPECT_EQ(model.options().precision, DType::kBF16);
  EXPECT_EQ(model.tokenizer().vocabulary().token(5), "word5");
  EXPECT_TRUE(PackedModel::is_packed(file_));
  EXPECT_FALSE(PackedModel::is_packed(folder_.path()));
  EXPECT_FALSE(PackedModel::is_packed(folder_.path() / "config.json"));
  const PackedModel packed =
      PackedModel::pack(open_pretrained_model(folder_.path()), {.precision = DType::kBF16});
  const std::filesystem::path again = file_.string() + ".again";
  packed.write(again);
  EXPECT_EQ(platform::read_file(again), platform::read_file(file_));
  std::filesystem::remove(again);
}

// Google's bert_config.json never does.
TEST_F(PackedModelTest, OpensAModelWhoseConfigurationNamesNoHead) {
  const std::filesystem::path config = folder_.path() / "config.json";
  formats::Json json = formats::read_json_file(config);
  json.erase("architectures");
  json.erase("id2label");
  platform::write_file_atomically(config, json.dump());
  const PretrainedModel model = open_pretrained_model(folder_.path());
  EXPECT_EQ(model.require_head(HeadKind::kSequenceClassification).labels,
            (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
}

TEST_F(PackedModelTest, IsTheSameBytesEachTime) {
  const std::string first = platform::read_file(file_);
  PackedModel::open(file_).write(file_);
  EXPECT_EQ(platform::read_file(file_), first);
}

// As versions of this program with that algorithm wrote it.
TEST_F(PackedModelTest, RefusesWeightsPackedForStrassensAlgorithm) {
  const std::string file = changed("\"precision\":\"bf16\"", "\"strassen\"   :true");
  ASSERT_FALSE(file.empty());
  EXPECT_EQ(refusal(file), file_.string() +
                               ": its weights are packed for Strassen's algorithm, which this "
                               "program does not have: make it again with cloze compile");
}

TEST_F(PackedModelTest, RefusesEveryFlippedByteOfTheHeaderAndSomeOfTheRest) {
  const std::string good = platform::read_file(file_);
  EXPECT_EQ(refusal(good), "");
  size_t step = 1;
  for (size_t at = 0; at < good.size(); at += step) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_NE(refusal(bad), "") << "byte " << at;
    if (at >= 80) step = 997;
  }
}

TEST_F(PackedModelTest, RefusesACutFile) {
  const std::string good = platform::read_file(file_);
  for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{79}, size_t{80}, size_t{4096},
                            good.size() / 2, good.size() - 1}) {
    EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  }
  EXPECT_NE(refusal(good + "x"), "");
}

TEST_F(PackedModelTest, MessagesSayWhatToDo) {
  const std::string good = platform::read_file(file_);
  EXPECT_EQ(refusal("something else"),
            file_.string() + " is not a packed model; make one with cloze compile");
  std::string other = good;
  other[8] = 1;
  EXPECT_EQ(refusal(other), file_.string() +
                                ": version 1 of packed models; this program reads version 6: "
                                "make it again with cloze compile");
  other = good;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_EQ(refusal(other), file_.string() +
                                ": checksum of the weights does not match; the file is damaged: "
                                "make it again with cloze compile");
}

// Complete files with correct checksums, from other machines.
TEST_F(PackedModelTest, RefusesAProcessorThatMultipliesOtherwise) {
  const std::string pairs = changed("\"pairs\":false", "\"pairs\":true ");
  if (pairs.empty()) GTEST_SKIP() << "this machine multiplies bf16 itself";
  EXPECT_EQ(refusal(pairs), file_.string() +
                                " was packed for a processor that multiplies bf16 itself, unlike "
                                "this one: make it again here with cloze compile");
}

TEST_F(PackedModelTest, RefusesAProcessorWithOtherVectors) {
  const int64_t columns = backend::cpu::panel_layout().columns;
  const std::string wide =
      changed(fmt::format("\"panel_columns\":{}", columns), "\"panel_columns\":48");
  ASSERT_FALSE(wide.empty()) << columns;
  EXPECT_EQ(
      refusal(wide),
      fmt::format("{} was packed for vectors of 24 numbers; this processor's have {}: make it "
                  "again here with cloze compile",
                  file_.string(), columns / 2));
}

TEST_F(PackedModelTest, RefusesAnotherKindOfDevice) {
  const std::string why = file_.string() +
                          " was packed for another kind of device: make it again here with cloze "
                          "compile";
  EXPECT_EQ(refusal(platform::read_file(file_), "emulated"), why);
  PackedModel::pack(open_pretrained_model(folder_.path()),
                    {.device = "emulated", .precision = DType::kBF16})
      .write(file_);
  EXPECT_EQ(refusal(platform::read_file(file_), "emulated"), "");
  EXPECT_EQ(refusal(platform::read_file(file_)), why);
}

}  // namespace
}  // namespace cloze::inference
