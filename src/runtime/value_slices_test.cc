#include "runtime/value_slices.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/session.h"
#include "ops/elementwise.h"

namespace cloze::runtime {
namespace {

constexpr int64_t kFloatsOfSlice = kSliceBytes / int64_t{sizeof(float)};

// "x" is a parameter of so many numbers.
engine::Session session_with(int64_t count, const std::string& device) {
  graph::Graph graph;
  const graph::TensorType type{DType::kF32, {count}};
  const auto x =
      graph.add_variable({.name = "x", .type = type, .role = graph::VariableRole::kParameter});
  graph.mark_output(graph.add_one(ops::kAdd, {x, x}), "twice");
  return {std::move(graph), {.device = device, .target = {.threads = 1}}};
}

std::vector<float> ascending(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

class Slices : public testing::TestWithParam<std::string> {};

TEST_P(Slices, GoThroughTheWholeValueInOrder) {
  for (const int64_t count : {int64_t{1}, kFloatsOfSlice - 1, kFloatsOfSlice, kFloatsOfSlice + 1,
                              3 * kFloatsOfSlice, 3 * kFloatsOfSlice + 7}) {
    engine::Session session = session_with(count, GetParam());
    session.write<float>("x", ascending(count));
    std::vector<float> read;
    for (ValueSlices slices(session.executor(), session.value("x")); slices.next();) {
      EXPECT_EQ(slices.first(), std::ssize(read));
      EXPECT_LE(slices.as<std::byte>().size(), size_t{kSliceBytes});
      const std::span<const float> slice = slices.read<float>();
      read.insert(read.end(), slice.begin(), slice.end());
    }
    EXPECT_EQ(read, ascending(count));
  }
}

TEST_P(Slices, AreWrittenWhereTheyAre) {
  const int64_t count = 2 * kFloatsOfSlice + 5;
  engine::Session session = session_with(count, GetParam());
  for (ValueSlices slices(session.executor(), session.value("x")); slices.next(); slices.write()) {
    const std::span<float> slice = slices.as<float>();
    std::iota(slice.begin(), slice.end(), static_cast<float>(slices.first() + 1));
  }
  EXPECT_EQ(session.read<float>("x"), ascending(count));
}

INSTANTIATE_TEST_SUITE_P(Devices, Slices, testing::Values("cpu", "walled", "late"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cloze::runtime
