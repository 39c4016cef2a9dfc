#include "platform/available_threads.h"

#include <gtest/gtest.h>

#include <fstream>

#include "platform/available_threads.h"
#include "platform/child.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int>;

TEST(ProcessorShare, IsAnEqualRunOfItsOwn) {
  const Numbers eight{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(processor_share(eight, {}, 0, 1), eight);
  EXPECT_EQ(processor_share(eight, {}, 1, 2), (Numbers{4, 5, 6, 7}));
  EXPECT_EQ(processor_share(eight, {}, 0, 3), (Numbers{0, 1}));
  EXPECT_EQ(processor_share(eight, {}, 2, 3), (Numbers{5, 6}));
}

TEST(ProcessorShare, KeepsToAQuotaTogether) {
  const Numbers eight{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(processor_share(eight, 4.0, 1, 2), (Numbers{4, 5}));
  EXPECT_EQ(processor_share(eight, 2.5, 1, 2), Numbers{4});
  EXPECT_EQ(processor_share(eight, 0.5, 0, 2), Numbers{0});
}

TEST(ProcessorShare, MoreProcessesThanProcessorsShareThem) {
  for (int index = 0; index < 4; ++index) {
    EXPECT_EQ(processor_share({3, 9}, {}, index, 4), Numbers{index < 2 ? 3 : 9});
  }
}

TEST(LaidOut, GoesByNodeThenCore) {
  const fs::path root = fs::path(testing::TempDir()) / "cloze_processor_share";
  const auto make = [&](int processor, int node, int core) {
    const fs::path folder = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor));
    fs::create_directories(folder / "topology");
    fs::create_directories(folder / ("node" + std::to_string(node)));
    std::ofstream(folder / "topology/core_id") << core;
    std::ofstream(folder / "topology/physical_package_id") << node;
  };
  make(0, 0, 0), make(1, 1, 0), make(2, 0, 1), make(3, 1, 1);
  make(4, 0, 0), make(5, 1, 0), make(6, 0, 1), make(7, 1, 1);
  EXPECT_EQ(laid_out({0, 1, 2, 3, 4, 5, 6, 7}, root), (Numbers{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(laid_out({9, 8}, root), (Numbers{8, 9}));  // nothing is known about them
  fs::remove_all(root);
}

TEST(ProcessorShare, BindsTheProcess) {
  const auto threads = bytes_from_child(
      [] {
        take_processor_share(0, 1000);
        return std::to_string(available_threads());
      },
      30);
  ASSERT_TRUE(threads);
  EXPECT_EQ(*threads, "1");
}

}  // namespace
}  // namespace cloze::platform
