#include <gtest/gtest.h>

#include "backend/cuda/cards.h"
#include "backend/cuda/testing/late_runtime.h"

namespace cloze::backend::cuda {
namespace {

TEST(FindCards, NamesEachCard) {
  late_runtime::reset(2);
  const Cards found = find_cards();
  ASSERT_EQ(found.cards.size(), 2u);
  EXPECT_EQ(found.cards[1].name, "card 1");
  EXPECT_EQ(found.cards[1].capability(), "9.0");
  EXPECT_EQ(found.cards[1].instruction_set(), "sm_90");
  EXPECT_EQ(found.cards[1].memory_bytes, int64_t{80} << 30);
  EXPECT_EQ(found.cards[1].multiprocessors, 132);
  EXPECT_EQ(found.driver, "13.0");
  EXPECT_EQ(found.refusal, "");
}

TEST(FindCards, SaysThatThereIsNoDriver) {
  auto& machine = late_runtime::reset(0);
  machine.driver_version = 0;
  machine.error_of_count = cudaErrorInsufficientDriver;
  const Cards found = find_cards();
  EXPECT_EQ(found.refusal,
            "no CUDA device: no NVIDIA driver is loaded (CUDA says: what CUDA says)");
  EXPECT_EQ(found.advice, "install a driver for CUDA 13.0");
  EXPECT_EQ(found.driver, "");
}

TEST(FindCards, SaysThatTheDriverIsTooOld) {
  auto& machine = late_runtime::reset(0);
  machine.driver_version = 12040;
  machine.error_of_count = cudaErrorInsufficientDriver;
  const Cards found = find_cards();
  EXPECT_EQ(found.refusal,
            "the NVIDIA driver is too old: it serves CUDA 12.4, and this program needs 13.0 (CUDA "
            "says: what CUDA says)");
  EXPECT_EQ(found.advice, "install a newer driver, or build with the nvcc of that CUDA");
  EXPECT_EQ(found.driver, "12.4");
}

TEST(FindCards, SaysThatTheDriverShowsNoCard) {
  auto& machine = late_runtime::reset(0);
  for (const cudaError_t error : {cudaErrorNoDevice, cudaSuccess}) {
    machine.error_of_count = error;
    const Cards found = find_cards();
    EXPECT_EQ(found.refusal,
              "no CUDA device: the driver shows no card (CUDA says: what CUDA says)");
    EXPECT_EQ(found.advice, "see nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
}

TEST(FindCards, PassesOnWhatCudaSaysOfAnotherError) {
  late_runtime::reset(0).error_of_count = cudaErrorUnknown;
  EXPECT_EQ(find_cards().refusal, "the cards cannot be used (CUDA says: what CUDA says)");
}

TEST(FindCards, RefusesACardOfAnOlderArchitecture) {
  auto& machine = late_runtime::reset(2);
  machine.cards[0].major = 7;
  machine.cards[0].minor = 5;
  const Cards found = find_cards();
  EXPECT_EQ(found.cards[0].refusal(), "compute capability 7.5, and 8.0 is the least");
  EXPECT_EQ(found.cards[1].refusal(), "");
  EXPECT_EQ(found.refusal, "card 0 has compute capability 7.5, and 8.0 is the least");
  EXPECT_EQ(found.advice, "choose another card with CUDA_VISIBLE_DEVICES");
}

TEST(FindCards, ListsCardsThatLackProducts) {
  late_runtime::reset(2);
  EXPECT_TRUE(find_cards().can_be_used());
  const Cards found = without_products(find_cards(), "no cuBLASLt");
  EXPECT_EQ(found.cards.size(), 2u);
  EXPECT_EQ(found.driver, "13.0");
  EXPECT_EQ(found.refusal, "no cuBLASLt");
  EXPECT_NE(found.advice, "");
  EXPECT_FALSE(found.can_be_used());
}

TEST(FindCards, KnowsCardsToPlanFor) {
  EXPECT_EQ(card_to_plan_for("a100")->instruction_set(), "sm_80");
  EXPECT_EQ(card_to_plan_for("h100")->instruction_set(), "sm_90");
  EXPECT_GT(card_to_plan_for("h200")->memory_bytes, card_to_plan_for("h100")->memory_bytes);
  EXPECT_FALSE(card_to_plan_for("h300"));
}

}  // namespace
}  // namespace cloze::backend::cuda
