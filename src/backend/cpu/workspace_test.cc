#include "backend/cpu/workspace.h"

#include <gtest/gtest.h>

namespace cloze::backend::cpu {
namespace {

struct Buffers {
  Buffers(int64_t n, void* memory)
      : workspace(memory), bytes(workspace.take<char>(n)), sums(workspace.take<double>(n)) {}
  Workspace workspace;
  char* bytes;
  double* sums;
};

TEST(Workspace, BuffersFollowEachOtherByLines) {
  alignas(64) char memory[256];
  const Buffers buffers(9, memory);
  EXPECT_EQ(buffers.bytes, memory);
  EXPECT_EQ(reinterpret_cast<char*>(buffers.sums), memory + 64);
}

TEST(Workspace, TellsFromNowhereWhatIsNeeded) {
  EXPECT_EQ(Buffers(9, nullptr).workspace.bytes(), 64u + 128u);
  EXPECT_EQ(Buffers(0, nullptr).workspace.bytes(), 0u);
}

}  // namespace
}  // namespace cloze::backend::cpu
