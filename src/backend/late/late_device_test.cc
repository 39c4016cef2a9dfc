#include "backend/late/late_device.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace cloze::backend::late {
namespace {

constexpr uint64_t kSeeds = 20;

// x = x * factor + addend, for four numbers. Its letter goes into a log.
class Step final : public Kernel {
 public:
  Step(float factor, float addend, char letter, std::string& log)
      : factor_(factor), addend_(addend), letter_(letter), log_(log) {}
  void run(const KernelArguments& arguments, Stream&) override {
    for (int i = 0; i < 4; ++i) {
      float& x = arguments.output<float>(0)[i];
      x = x * factor_ + addend_;
    }
    log_ += letter_;
  }

 private:
  float factor_, addend_;
  char letter_;
  std::string& log_;
};

std::vector<float> read(Stream& stream, const DeviceMemory& memory) {
  std::vector<float> values(4);
  stream.copy_out(memory.start(), std::as_writable_bytes(std::span(values)));
  return values;
}

// Four zeros on a device, a kernel that adds 1 and one that doubles.
struct LateDeviceTest : testing::Test {
  struct Fixture {
    explicit Fixture(uint64_t seed) : device(late::device(seed)) {}

    Device& device;
    std::string log;
    std::unique_ptr<DeviceMemory> memory = device.allocate(4 * sizeof(float));
    Step add{1, 1, 'a', log}, twice{2, 0, 't', log};
    BoundLaunch adding{.kernel = &add, .outputs = {memory->start()}};
    BoundLaunch doubling{.kernel = &twice, .outputs = {memory->start()}};
    std::unique_ptr<Stream> first = device.make_stream();
    std::unique_ptr<Stream> second = device.make_stream();
  };
};

TEST_F(LateDeviceTest, AStreamKeepsItsOrder) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Fixture late(seed);
    const std::vector<float> values = {1, 2, 3, 4};
    late.first->copy_in(late.memory->start(), std::as_bytes(std::span(values)));
    const std::vector<BoundLaunch> launches = {late.adding, late.doubling};
    late.first->launch(launches, "both");
    late.first->fill_with_zeros(late.memory->start() + 4, 4);
    late.first->copy(late.memory->start() + 8, late.memory->start() + 12, 4);
    EXPECT_EQ(read(*late.first, *late.memory), (std::vector<float>{4, 0, 10, 10})) << seed;
  }
}

TEST_F(LateDeviceTest, NothingRunsBeforeItIsNeeded) {
  Fixture late(0);
  late.first->launch({&late.adding, 1}, "add");
  EXPECT_EQ(late.log, "");
  late.first->finish();
  EXPECT_EQ(late.log, "a");
  late.first->launch({&late.adding, 1}, "add");
  const auto begin = late.first->record();
  late.first->launch({&late.doubling, 1}, "double");
  const auto end = late.first->record();
  begin->finish();
  EXPECT_EQ(late.log, "aa");
  EXPECT_GE(late.device.seconds_between(*begin, *end), 0.0);
  EXPECT_EQ(late.log, "aat");
}

// A sum is added to on one stream and read on another.
TEST_F(LateDeviceTest, StreamsAreInOrderOnlyWhereOneWaits) {
  int seeds_that_show = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool waits : {true, false}) {
      Fixture late(seed);
      late.first->launch({&late.adding, 1}, "add");
      if (waits) late.second->wait(*late.first->record());
      late.second->launch({&late.doubling, 1}, "double");
      late.second->finish();
      late.first->finish();
      const std::vector<float> result = read(*late.second, *late.memory);
      if (waits) {
        EXPECT_EQ(late.log, "at") << seed;
      }
      const bool is_right = result == std::vector<float>(4, 2.0f);
      EXPECT_EQ(is_right, late.log == "at") << seed;
      seeds_that_show += is_right ? 0 : 1;
    }
  }
  EXPECT_GE(seeds_that_show, 5);
}

TEST_F(LateDeviceTest, ASourceThatChangesTooEarlyShowsInEverySeed) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool waits : {true, false}) {
      Fixture late(seed);
      const auto block = late.device.allocate_host(4 * sizeof(float));
      const std::span<std::byte> bytes = block->bytes();
      auto* const numbers = reinterpret_cast<float*>(bytes.data());
      std::fill_n(numbers, 4, 1.0f);
      late.first->begin_copy_in(late.memory->start(), bytes);
      if (waits) late.first->record()->finish();
      std::fill_n(numbers, 4, 2.0f);
      EXPECT_EQ(read(*late.first, *late.memory), std::vector<float>(4, waits ? 1.0f : 2.0f));
    }
  }
}

TEST_F(LateDeviceTest, ATargetThatIsReadTooEarlyShowsInEverySeed) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Fixture late(seed);
    const auto block = late.device.allocate_host(4 * sizeof(float));
    const auto* const numbers = reinterpret_cast<const float*>(block->bytes().data());
    late.first->launch({&late.adding, 1}, "add");
    late.first->begin_copy_out(late.memory->start(), block->bytes());
    const auto copied = late.first->record();
    EXPECT_EQ(numbers[3], 0.0f) << seed;
    copied->finish();
    EXPECT_EQ(numbers[3], 1.0f) << seed;
  }
}

TEST_F(LateDeviceTest, ASourceOfCopyInMayChangeAtOnce) {
  Fixture late(1);
  std::vector<float> values(4, 1.0f);
  late.first->copy_in(late.memory->start(), std::as_bytes(std::span(values)));
  values.assign(4, 2.0f);
  EXPECT_EQ(read(*late.first, *late.memory), std::vector<float>(4, 1.0f));
}

TEST_F(LateDeviceTest, WorkOutlivesItsStream) {
  int seeds_that_show = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const bool finishes : {true, false}) {
      Fixture late(seed);
      late.first->launch({&late.adding, 1}, "add");
      if (finishes) late.first->finish();
      late.first.reset();
      const bool is_right = read(*late.second, *late.memory) == std::vector<float>(4, 1.0f);
      if (finishes) {
        EXPECT_TRUE(is_right) << seed;
      }
      seeds_that_show += is_right ? 0 : 1;
      late.memory.reset();
      EXPECT_EQ(late.log, "a") << "memory is freed when nothing uses it";
    }
  }
  EXPECT_GE(seeds_that_show, 5);
}

TEST_F(LateDeviceTest, AnErrorComesWhenItIsWaitedForAndNamesTheLaunches) {
  class Broken final : public Kernel {
   public:
    explicit Broken(bool is_ours) : is_ours_(is_ours) {}
    void run(const KernelArguments&, Stream&) override {
      CLOZE_CHECK(!is_ours_, "9 rows of 8");
      throw std::runtime_error("no answer");
    }
    bool is_ours_;
  };
  for (const bool is_ours : {true, false}) {
    Fixture late(0);
    Broken broken(is_ours);
    const BoundLaunch launch{.kernel = &broken};
    late.first->launch({&launch, 1}, "update");
    late.first->launch({&late.adding, 1}, "micro_step");
    std::string message;
    try {
      late.first->finish();
    } catch (const InternalError& error) {
      EXPECT_TRUE(is_ours);
      message = error.what();
    } catch (const EnvironmentError& error) {
      EXPECT_FALSE(is_ours);
      message = error.what();
    }
    EXPECT_TRUE(message.starts_with("update: ")) << message;
    EXPECT_NE(message.find(is_ours ? "9 rows of 8" : "no answer"), std::string::npos) << message;
    EXPECT_EQ(late.log, "") << "what follows is left out";
    late.second->launch({&late.adding, 1}, "another stream");
    late.second->finish();
    EXPECT_EQ(late.log, "a");
  }
}

}  // namespace
}  // namespace cloze::backend::late
