#include "backend/null/backend.h"

#include <gtest/gtest.h>

#include "backend/reference/backend.h"

namespace cloze::backend::null {
namespace {

TEST(NullBackend, ServesEveryOperatorWithoutTouchingMemory) {
  const auto stream = device().make_stream();
  for (const graph::OpDefinition* op : reference::operators()) {
    const auto entries = backend().kernels(*op);
    ASSERT_EQ(entries.size(), 1u) << op->name;
    const KernelRequest request{.op = op};
    EXPECT_FALSE(entries[0].refuse(request));
    const auto kernel = entries[0].create(request);
    EXPECT_EQ(kernel->workspace_bytes(), 0u);
    kernel->run({}, *stream);
  }
}

}  // namespace
}  // namespace cloze::backend::null
