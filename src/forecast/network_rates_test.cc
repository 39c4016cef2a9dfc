#include "forecast/network_rates.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::forecast {
namespace {

constexpr const char* kLink = R"({"latency_us": 5, "message_us": 0.5, "gigabytes_per_second": 10})";

std::filesystem::path file_with(const std::string& text) {
  const std::filesystem::path path = testing::TempDir() + "network.json";
  platform::write_file_atomically(path, text);
  return path;
}

std::string file_text(const std::string& keys) {
  return R"({"schema": "cloze.network", "version": 1, "network": "n", "source": "s", )" + keys +
         "}";
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    read_network_file(file_with(text));
    ADD_FAILURE() << text;
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("network.json is not a network file"),
              std::string::npos)
        << error.what();
  }
}

TEST(NetworkRates, AFileSaysWhatItsLinksAre) {
  const NetworkRates rates = read_network_file(file_with(
      file_text(R"("ranks_per_host": 4, "overlap": 0.5, "inside_host": )" + std::string(kLink))));
  EXPECT_EQ(rates.ranks_per_host, 4);
  EXPECT_EQ(rates.overlap, 0.5);
  EXPECT_FALSE(rates.between_hosts);
  // Three messages of 10 kB together: 1 us of bytes.
  EXPECT_DOUBLE_EQ(rates.inside_host.sending(3, 1e4), 2.5e-6);
  EXPECT_DOUBLE_EQ(rates.inside_host.seconds(3, 1e4), 7.5e-6);
}

// Those that are shipped.
TEST(NetworkRates, KnownNetworksHaveSources) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(CLOZE_SOURCE_DIR "/configs/networks")) {
    EXPECT_FALSE(read_network_file(entry.path()).source.empty()) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST(NetworkRates, OtherFilesAreRefused) {
  expect_refused("{}", "schema and version are not cloze.network 1");
  expect_refused(file_text(R"("ranks_per_host": 4, "overlap": 1)"), "\"inside_host\" is missing");
  expect_refused(file_text(R"("overlap": 1, "inside_host": )" + std::string(kLink)),
                 "\"ranks_per_host\" is missing");
  expect_refused(
      file_text(R"("ranks_per_host": 4, "overlap": 2, "inside_host": )" + std::string(kLink)),
      "overlap is 2; it must be from 0 to 1");
  expect_refused(
      file_text(R"("ranks_per_host": 1.5, "overlap": 1, "inside_host": )" + std::string(kLink)),
      "ranks_per_host is not a whole number");
  expect_refused(file_text(R"("ranks_per_host": 4, "overlap": 1, "inside_host": {"latency_us": 1,
                           "message_us": 1, "gigabytes_per_second": 0})"),
                 "gigabytes_per_second is 0");
}

TEST(NetworkRates, RanksHaveToFillHosts) {
  NetworkRates rates{.network = "n", .ranks_per_host = 4, .inside_host = {.rate = 1.0}};
  rates.require(3);
  const auto message = [&](int64_t ranks) -> std::string {
    try {
      rates.require(ranks);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(8).find("n has one host of 4 ranks, and the plan has 8 ranks"), 0u);
  rates.between_hosts = Link{.rate = 1.0};
  EXPECT_EQ(message(8), "");
  EXPECT_EQ(message(6).find("n has 4 ranks per host, which does not divide the plan's 6 ranks"),
            0u);
}

}  // namespace
}  // namespace cloze::forecast
