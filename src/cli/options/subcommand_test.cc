#include "cli/options/subcommand.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace cloze::cli {
namespace {

struct Options {
  int64_t size = 0;
};

int made;  // tables

void add_options(OptionTable& table, Options& options) {
  ++made;
  table.add("size", &options.size, "A size");
}

int tables_made(std::optional<std::vector<std::string>> words) {
  CLI::App app("A program", "program");
  Subcommand program(app, std::move(words));
  made = 0;
  const auto run = [](Options&) {};
  program.add_command("one", {}, add_options, run);
  Subcommand group = program.add_group("group", {});
  group.add_command("one", {}, add_options, run);
  group.add_command("two", {}, add_options, run);
  EXPECT_EQ(app.get_subcommands({}).size(), 2u) << "all are known by name";
  return made;
}

TEST(Subcommand, OnlyTheCommandThatIsNamedGetsItsOptions) {
  EXPECT_EQ(tables_made(std::vector<std::string>{"--version"}), 0);
  EXPECT_EQ(tables_made(std::vector<std::string>{}), 0);
  EXPECT_EQ(tables_made(std::vector<std::string>{"one", "--size", "3"}), 1);
  EXPECT_EQ(tables_made(std::vector<std::string>{"group", "two"}), 1);
  EXPECT_EQ(tables_made(std::vector<std::string>{"group"}), 0);
  EXPECT_EQ(tables_made(std::nullopt), 3);
}

}  // namespace
}  // namespace cloze::cli
