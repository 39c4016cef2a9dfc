#include "data/instances/python_random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cloze::data {
namespace {

// What CPython 3.11 gives: random.Random(seed), then getrandbits(32) three times, random() twice,
// randint(0, 30521) three times, randint(1, 1), randint(2, 125) four times, a shuffle of range(10),
// 2000 calls of random() and one more getrandbits(32).
struct KnownAnswers {
  uint64_t seed;
  std::vector<uint32_t> words;
  std::vector<double> uniform;
  std::vector<int64_t> ids;
  std::vector<int64_t> lengths;
  std::vector<int> shuffled;
  uint32_t last;
};

const KnownAnswers kAnswers[] = {
    {0,
     {3626764237u, 1654615998u, 3255389356u},
     {0.890243920837131, 0.04048437818077755},
     {16753, 15922, 13268},
     {125, 63, 47, 76},
     {5, 4, 9, 6, 0, 1, 7, 2, 8, 3},
     3934720978u},
    {12345,
     {1789368711u, 3146859322u, 43676229u},
     {0.8201747225612886, 0.802848393459915},
     {28021, 12072, 6345},
     {74, 57, 22, 49},
     {2, 0, 3, 8, 9, 5, 7, 4, 6, 1},
     1668386595u},
    {(uint64_t{1} << 40) + 7,
     {2635837658u, 3209733218u, 3500038837u},
     {0.937932416386988, 0.6395236445247433},
     {23120, 15595, 8219},
     {68, 50, 68, 94},
     {4, 0, 9, 8, 1, 2, 3, 7, 6, 5},
     3303519645u},
};

TEST(PythonRandomTest, DrawsWhatPythonDraws) {
  for (const KnownAnswers& answers : kAnswers) {
    SCOPED_TRACE(answers.seed);
    PythonRandom random(answers.seed);
    for (uint32_t word : answers.words) EXPECT_EQ(random.next(), word);
    for (double value : answers.uniform) EXPECT_EQ(random.uniform(), value);
    for (int64_t id : answers.ids) EXPECT_EQ(random.between(0, 30521), id);
    EXPECT_EQ(random.between(1, 1), 1);
    for (int64_t length : answers.lengths) EXPECT_EQ(random.between(2, 125), length);
    std::vector<int> items(10);
    std::iota(items.begin(), items.end(), 0);
    shuffle(items, random);
    EXPECT_EQ(items, answers.shuffled);
    for (int i = 0; i < 2000; ++i) random.uniform();
    EXPECT_EQ(random.next(), answers.last);
  }
}

}  // namespace
}  // namespace cloze::data
