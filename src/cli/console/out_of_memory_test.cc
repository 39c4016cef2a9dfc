#include "cli/console/out_of_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::cli {
namespace {

TEST(OutOfMemory, SaysHowMuchWasAskedForAndWhatToDo) {
  constexpr size_t kMoreThanThereIs = size_t{1} << 46;
  EXPECT_THROW(std::string(kMoreThanThereIs, 'x'), std::bad_alloc);
  const std::string message = out_of_memory_message();
  EXPECT_EQ(message.find("memory ran out: 67108864.0 MiB more were asked for, and this process "
                         "holds "),
            0u)
      << message;
  EXPECT_NE(message.find("MiB; give it less at a time"), std::string::npos) << message;
}

}  // namespace
}  // namespace cloze::cli
