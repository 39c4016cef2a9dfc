#include "cli/options/machine_options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::cli {
namespace {

engine::Cards cards_of(size_t count) {
  engine::Cards cards;
  cards.cards.resize(count);
  if (count == 0) cards.refusal = "no CUDA device";
  return cards;
}

TEST(ChosenDevice, AnyIsTheCardWhereThereIsOne) {
  EXPECT_EQ(chosen_device("auto", cards_of(1), {}), "cuda");
  EXPECT_EQ(chosen_device("auto", cards_of(0), {}), "cpu");
  engine::Cards old = cards_of(1);
  old.refusal = "card 0 has compute capability 7.5, and 8.0 is the least";
  EXPECT_EQ(chosen_device("auto", old, {}), "cpu");
}

TEST(ChosenDevice, OneThatIsNamedIsTaken) {
  for (const char* name : {"cpu", "cuda", "cuda:1", "null"}) {
    EXPECT_EQ(chosen_device(name, cards_of(0), {}), name);
  }
}

TEST(ChosenDevice, EachProcessOfAMachineTakesItsOwnCard) {
  for (const char* name : {"auto", "cuda"}) {
    EXPECT_EQ(chosen_device(name, cards_of(2), {.rank = 1, .size = 2}), "cuda:1");
  }
  EXPECT_EQ(chosen_device("auto", cards_of(0), {.rank = 1, .size = 2}), "cpu");
  EXPECT_EQ(chosen_device("cuda:0", cards_of(2), {.rank = 1, .size = 2}), "cuda:0");
}

TEST(ChosenDevice, SaysThatThereAreMoreProcessesThanCards) {
  try {
    chosen_device("auto", cards_of(2), {.rank = 0, .size = 4});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "4 processes on this machine need a card each, and it has 2; start fewer "
                 "processes, or choose "
                 "`device` cpu");
  }
}

}  // namespace
}  // namespace cloze::cli
