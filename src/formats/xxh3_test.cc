#include "formats/xxh3.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

// The hashes of nothing, as the specification gives them.
TEST(Xxh3Test, EmptyInputHasThePublishedHashes) {
  EXPECT_EQ(xxh3({}), 0x2D06800538D394C2u);
  EXPECT_EQ(Xxh3Digest().hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Xxh3Test, PiecesHashAsTheWhole) {
  Xxh3Digest whole, pieces, other;
  whole.update("what was written once");
  pieces.update("what was ");
  pieces.update("");
  pieces.update("written once");
  other.update("what was written twice");
  EXPECT_EQ(whole.hex(), pieces.hex());
  EXPECT_NE(whole.hex(), other.hex());
}

}  // namespace
}  // namespace cloze::formats
