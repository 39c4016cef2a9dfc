#include "cli/launch/host_list.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

class HostList : public testing::Test {
 protected:
  fs::path file(const std::string& text) {
    const fs::path path = fs::path(testing::TempDir()) / "cloze_host_list";
    std::ofstream(path) << text;
    return path;
  }
  std::string error_of(const fs::path& path) {
    try {
      read_hosts(path);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(HostList, IsReadAsMpirunReadsIt) {
  const std::vector<Host> expected{{"a", 4}, {"b", std::nullopt}, {"10.0.0.3", 2}};
  EXPECT_EQ(read_hosts(file("# ours\na slots=4\n\nb # old\n10.0.0.3 max_slots=8 slots=2\n")),
            expected);
  EXPECT_EQ(names_of(expected), "a, b, 10.0.0.3");
}

TEST_F(HostList, ErrorsNameTheFileAndTheNextStep) {
  const fs::path path = file("# none\n\n");
  EXPECT_EQ(error_of(path),
            "the hosts file " + path.string() + " names no host; write one per line: NAME slots=4");
  EXPECT_EQ(error_of(file("a slots=many\n")),
            path.string() + ": \"slots=many\" gives no number of processes; write slots=4");
  for (const char* slots : {"", "4x", "0", "-1", "99999999999"}) {
    EXPECT_EQ(
        error_of(file(std::string("a slots=") + slots + "\n")),
        path.string() + ": \"slots=" + slots + "\" gives no number of processes; write slots=4");
  }
  EXPECT_EQ(error_of("/no/such"),
            "cannot read the hosts file /no/such; write one, with one host per line: NAME slots=4");
}

TEST_F(HostList, FindsWhoDoesNotAnswer) {
  const fs::path shell = fs::path(testing::TempDir()) / "cloze_remote_shell";
  std::ofstream(shell) << "#!/bin/sh\ntest \"$1\" = near && \"$2\"\n";
  fs::permissions(shell, fs::perms::owner_all);
  const std::vector<Host> hosts{{"localhost", 1}, {"near", 1}, {"far", 2}};
  EXPECT_EQ(silent_hosts(hosts, shell), (std::vector<Host>{{"far", 2}}));
}

}  // namespace
}  // namespace cloze::cli
