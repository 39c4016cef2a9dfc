#include "forecast/memory_forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/memory.h"

namespace cloze::forecast {
namespace {

TEST(MemoryForecast, AddsUpWhatThereIsAndWhatComes) {
  const int64_t resident = platform::resident_bytes();
  MemoryForecast memory;
  const int64_t before = memory.peak_bytes();
  EXPECT_GE(before, resident);
  memory.add("weights", int64_t{3} << 30);
  memory.add("a batch", int64_t{1} << 30);
  const int64_t more = memory.peak_bytes() - (int64_t{4} << 30);
  EXPECT_LE(more, before);
  EXPECT_NE(memory.text().find(", 3072.0 for weights, 1024.0 for a batch"), std::string::npos);
  EXPECT_EQ(memory.text().find("memory: about "), 0u) << memory.text();
}

TEST(MemoryForecast, IsNeverLessThanWhatWasThere) {
  {
    const platform::MemoryBlock block(64 << 20);
    std::fill_n(block.data(), block.size(), std::byte{1});
  }
  const int64_t peak = platform::peak_resident_bytes();
  EXPECT_GE(MemoryForecast().peak_bytes(), peak);
}

TEST(MemoryForecast, SaysWhatOfTheOutcomeAreFiles) {
  const std::filesystem::path path = testing::TempDir() + "memory_forecast";
  platform::write_file_atomically(path, std::string(8 << 20, 'x'));
  const MemoryForecast memory;
  // More than what was there before, however much of that is free again.
  const int64_t freed = platform::peak_resident_bytes() - platform::resident_bytes();
  const platform::MemoryBlock block(static_cast<size_t>(freed + (64 << 20)));
  std::fill_n(block.data(), block.size(), std::byte{1});
  EXPECT_EQ(memory.outcome().find("of files"), std::string::npos) << memory.outcome();
  const platform::MappedFile file(path);
  EXPECT_EQ(std::ranges::count(file.bytes(), std::byte{'x'}), 8 << 20);
  EXPECT_NE(memory.outcome().find(" planned, 8."), std::string::npos) << memory.outcome();
  std::filesystem::remove(path);
}

TEST(MemoryForecast, OfInferenceHoldsTheLargerOfLoadingAndRunning) {
  MemoryForecast memory;
  memory.add_inference({.weights_bytes = int64_t{2} << 30,
                        .loading_bytes = int64_t{7} << 30,
                        .batch_bytes = int64_t{5} << 30});
  EXPECT_NE(memory.text().find("2048.0 for weights, 7168.0 for a batch"), std::string::npos);
}

TEST(MemoryForecast, ACardHasAColumnOfItsOwn) {
  MemoryForecast memory;
  memory.use_card(int64_t{80} << 30);
  memory.add("more than was ever taken", int64_t{64} << 30);
  const int64_t before = memory.peak_bytes();
  memory.add("batches made ahead", int64_t{4} << 30);
  memory.add_to_device("a step", int64_t{40} << 30, int64_t{2} << 30);
  EXPECT_EQ(memory.card_bytes(), int64_t{40} << 30);
  EXPECT_EQ(memory.device_bytes(), memory.card_bytes());
  EXPECT_EQ(memory.peak_bytes() - before, int64_t{6} << 30);
  const std::string text = memory.text();
  for (const char* row :
       {"memory, MiB                                  card         host\n",
        "batches made ahead                            0.0       4096.0\n",
        "a step                                    40960.0       2048.0\n",
        "\nall, about                                40960.0", "\nthe card has 81920.0 MiB"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << " in\n" << text;
  }
}

TEST(MemoryForecast, WithoutACardTheDeviceIsTheHost) {
  MemoryForecast memory;
  memory.add("more than was ever taken", int64_t{64} << 30);
  const int64_t before = memory.peak_bytes();
  memory.add_to_device("a step", int64_t{40} << 30, int64_t{2} << 30);
  EXPECT_EQ(memory.card_bytes(), 0);
  EXPECT_EQ(memory.device_bytes(), memory.peak_bytes());
  EXPECT_EQ(memory.peak_bytes() - before, int64_t{42} << 30);
  EXPECT_NE(memory.text().find("43008.0 for a step"), std::string::npos) << memory.text();
}

}  // namespace
}  // namespace cloze::forecast
