#include "cli/inference/inference_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace cloze::cli {
namespace {

TEST(PackingOptions, KnowTwoPrecisions) {
  inference::PackOptions compile;
  OptionTable table;
  add_packing_options(table, compile);
  CLI::App command;
  table.add_flags(command);
  command.parse("--precision bf16");
  table.resolve();
  EXPECT_EQ(compile.precision, DType::kBF16);
  command.parse("--precision fp16");
  EXPECT_THROW(table.resolve(), UserError);
}

}  // namespace
}  // namespace cloze::cli
