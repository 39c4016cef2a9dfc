#include "base/time_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace cloze {
namespace {

TEST(TimeText, IsWhatPeopleWrite) {
  struct Row {
    double seconds;
    const char* text;
  };
  for (const auto& [seconds, text] : {Row{0.0, "0 s"},
                                      {4.2e-7, "0.000 ms"},
                                      {4.2e-4, "0.420 ms"},
                                      {0.001, "1.00 ms"},
                                      {0.0123456, "12.3 ms"},
                                      {0.1234, "123 ms"},
                                      {0.9996, "1.00 s"},
                                      {8.1, "8.10 s"},
                                      {59.94, "59.9 s"},
                                      {59.97, "1 min"},
                                      {375.1578, "6 min 15 s"},
                                      {3599.4, "59 min 59 s"},
                                      {3599.6, "1 h"},
                                      {11100, "3 h 5 min"},
                                      {86399, "1 d"},
                                      {51 * 3600, "2 d 3 h"},
                                      {-1, "?"}}) {
    EXPECT_EQ(time_text(seconds), text) << seconds;
  }
  EXPECT_EQ(time_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(time_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

}  // namespace
}  // namespace cloze
