#include "runtime/non_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/bfloat16.h"
#include "base/float16.h"
#include "engine/session.h"
#include "ops/elementwise.h"

namespace cloze::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const graph::TensorType kRow{DType::kF32, {4}};

TEST(NonFinite, FindsTheFirstElement) {
  std::vector<float> values(40, 1.0f);
  const auto found = [&] { return find_non_finite(std::as_bytes(std::span(values)), DType::kF32); };
  EXPECT_FALSE(found());
  values[31] = -kInfinity;
  values[33] = std::nanf("");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->index, 31);
  EXPECT_EQ(found()->value, -kInfinity);
}

template <typename Half>
void expect_found_in(DType dtype) {
  const std::vector<Half> values = {Half(1.0f), Half(kInfinity)};
  const auto found = find_non_finite(std::as_bytes(std::span(values)), dtype);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->index, 1);
}

TEST(NonFinite, OfHalvesAndIntegers) {
  expect_found_in<bfloat16>(DType::kBF16);
  expect_found_in<float16>(DType::kF16);
  const std::vector<int32_t> bits_of_nan = {0x7fffffff};
  EXPECT_FALSE(find_non_finite(std::as_bytes(std::span(bits_of_nan)), DType::kI32));
}

// a + a, then that + b: the host writes finite numbers whose sums overflow.
class Sums : public testing::Test {
 protected:
  Sums() : session_(make_graph(), {.device = "cpu", .target = {.threads = 1}}) {}

  static graph::Graph make_graph() {
    graph::Graph graph;
    const auto a = graph.add_input("a", kRow);
    const auto weight = graph.add_parameter("weight", {4}, graph::Init::zeros());
    const auto total =
        graph.add_variable({.name = "total", .type = kRow, .role = graph::VariableRole::kMetric});
    const auto outer = graph.scope("outer");
    const auto twice = graph.add_one(ops::kAdd, {a, a});
    const auto inner = graph.scope("inner");
    const auto sum = graph.add_one(ops::kAdd, {twice, weight});
    graph.add_into(ops::kAccumulate, {sum}, {}, {{total, true}});
    return graph;
  }

  std::optional<NonFiniteOutput> find(float a, float weight) {
    session_.clear(plan::Arena::kMetrics);
    const std::vector<float> input = {1.0f, 1.0f, a, 1.0f};
    const std::vector<float> weights = {0.0f, 0.0f, weight, 0.0f};
    session_.write<float>("a", input);
    session_.write<float>("weight", weights);
    return session_.executor().run_until_non_finite(graph::kMicroStep);
  }

  engine::Session session_;
};

TEST_F(Sums, TheFirstOperatorIsNamed) {
  EXPECT_FALSE(find(1.0f, 2.0f));
  EXPECT_EQ(session_.read<float>("total")[2], 4.0f) << "it runs as ever";

  const auto first = find(3e38f, 0.0f);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->node, "outer.add");
  EXPECT_EQ(first->tensor, "its output [4] f32");
  EXPECT_EQ(first->reads, "");
  EXPECT_EQ(first->element.index, 2);
  EXPECT_EQ(first->element.value, kInfinity);

  const auto second = find(1e38f, 3e38f);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->node, "outer.inner.add");
  EXPECT_EQ(second->reads, "weight");
}

// An executor copies a part of a value at a time.
TEST(NonFinite, IsFoundInTheLastPart) {
  constexpr int64_t kCount = (3 << 18) + 5;
  graph::Graph graph;
  const auto weight = graph.add_parameter("weight", {kCount}, graph::Init::zeros());
  engine::Session session(std::move(graph), {.target = {.threads = 1}});
  EXPECT_FALSE(session.executor().find_non_finite(weight));
  std::vector<float> values(kCount, 1.0f);
  values.back() = kInfinity;
  session.write<float>("weight", values);
  const auto found = session.executor().find_non_finite(weight);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->index, kCount - 1);
}

TEST_F(Sums, AVariableIsNamed) {
  ASSERT_FALSE(find(1e38f, 0.0f)) << "2e38 in total";
  const auto again = session_.executor().run_until_non_finite(graph::kMicroStep);
  ASSERT_TRUE(again) << "the total is over what f32 holds";
  EXPECT_EQ(again->tensor, "total");
}

}  // namespace
}  // namespace cloze::runtime
