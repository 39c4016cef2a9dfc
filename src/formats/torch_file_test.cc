#include "formats/torch_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/philox.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

// Made by scripts/make_torch_fixtures.
const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/torch";

TEST(TorchFileTest, BothFormsHoldTheTensors) {
  const SafetensorsFile expected(kFixtures / "model.safetensors");
  for (const char* name : {"zip.bin", "legacy.bin"}) {
    const TorchFile file(kFixtures / name);
    ASSERT_EQ(file.tensors().size(), expected.tensors().size()) << name;
    EXPECT_TRUE(file.other_entries().empty());
    for (const TensorView& tensor : file.tensors()) {
      const TensorView* other = expected.find(tensor.name);
      ASSERT_NE(other, nullptr) << tensor.name;
      EXPECT_EQ(tensor.dtype, other->dtype) << tensor.name;
      EXPECT_EQ(tensor.shape, other->shape) << tensor.name;
      EXPECT_TRUE(std::ranges::equal(tensor.bytes, other->bytes)) << name << " " << tensor.name;
    }
  }
}

// The model's tensors are taken, and the other entries named.
void expect_model_beside(const char* name, const std::vector<std::string>& others) {
  const SafetensorsFile expected(kFixtures / "model.safetensors");
  const TorchFile file(kFixtures / name);
  ASSERT_EQ(file.tensors().size(), expected.tensors().size());
  for (const TensorView& tensor : file.tensors()) {
    EXPECT_TRUE(std::ranges::equal(tensor.bytes, expected.find(tensor.name)->bytes)) << tensor.name;
  }
  EXPECT_EQ(file.other_entries(), others);
}

// Its storages are interleaved with those of the optimiser.
TEST(TorchFileTest, OfATrainingCheckpointOfTheOldFormTheModelIsTaken) {
  expect_model_beside("legacy_training.bin", {"optimizer", "step"});
}

// Beside the trainer's own objects, with the names of DataParallel.
TEST(TorchFileTest, OfATrainersFileTheModelIsTaken) {
  expect_model_beside("trainer.bin", {"args", "loss", "history", "shape", "seen", "random"});
}

fs::path stored(const std::string& bytes) {
  const fs::path path = testing::TempDir() + "torch_file_test.bin";
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string refusal(const std::string& bytes) {
  const fs::path path = stored(bytes);
  try {
    TorchFile file(path);
  } catch (const DataError& error) {
    return std::string(error.what()).substr(path.string().size());
  }
  return "taken";
}

TEST(TorchFileTest, OtherFilesAreRefused) {
  EXPECT_EQ(refusal(""), ": is not a file of torch.save");
  EXPECT_EQ(refusal("{}"), ": is not a file of torch.save");
  EXPECT_EQ(refusal("\x80\x04}."), ": is not a file of torch.save");
  EXPECT_NE(refusal(std::string("PK\x05\x06") + std::string(18, '\0')), "taken");
  EXPECT_NE(refusal("PK\x03\x04rest"), "taken");
}

TEST(TorchFileTest, TensorsOutsideTheirStorageAreRefused) {
  std::string legacy = platform::read_file(kFixtures / "legacy.bin");
  // The sizes of the first tensor: K\x06K\x04\x86 is the tuple (6, 4).
  const size_t sizes = legacy.find("K\x06K\x04\x86");
  ASSERT_NE(sizes, std::string::npos);
  legacy[sizes + 1] = 7;
  EXPECT_EQ(refusal(legacy),
            ": bert.embeddings.word_embeddings.weight: more elements than its storage of 24 holds");
  legacy[sizes + 1] = 6;
  EXPECT_EQ(refusal(legacy), "taken");
}

// Cut short, or with flipped bits: an error that names the file, or tensors inside their storage.
TEST(TorchFileTest, DamagedFilesNeverCrash) {
  for (const char* name : {"zip.bin", "legacy.bin", "legacy_training.bin"}) {
    const std::string good = platform::read_file(kFixtures / name);
    const auto size = static_cast<uint32_t>(good.size());
    PhiloxStream random(1, 0);
    for (int round = 0; round < 2000; ++round) {
      std::string bytes = good.substr(0, round % 4 == 0 ? random.below(size) : size);
      for (int flips = round % 4; flips > 0; --flips) {
        bytes[random.below(size)] ^= static_cast<char>(1 << random.below(8));
      }
      const fs::path path = stored(bytes);
      try {
        const TorchFile file(path);
        for (const TensorView& tensor : file.tensors()) {
          EXPECT_EQ(std::ssize(tensor.bytes), tensor.shape.elements() * bytes_of(tensor.dtype));
        }
      } catch (const DataError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with(path.string())) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace cloze::formats
