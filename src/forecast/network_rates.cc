#include "forecast/network_rates.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::forecast {
namespace {

constexpr const char* kNetworkSchema = "cloze.network";
constexpr int kNetworkVersion = 1;

double number_of(const formats::Json& object, const char* key, double least, double most) {
  const double number = object.at(key).get<double>();
  if (number >= least && number <= most) return number;
  throw formats::JsonError(
      fmt::format("{} is {}; it must be from {} to {}", key, object.at(key).dump(), least, most));
}

Link link_of(const formats::Json& object) {
  constexpr double kMostMicroseconds = 1e6, kLeastRate = 1e-3, kMostRate = 1e6;
  return {.latency = 1e-6 * number_of(object, "latency_us", 0.0, kMostMicroseconds),
          .message = 1e-6 * number_of(object, "message_us", 0.0, kMostMicroseconds),
          .rate = 1e9 * number_of(object, "gigabytes_per_second", kLeastRate, kMostRate)};
}

NetworkRates network_rates_of(const formats::Json& file) {
  constexpr double kMostRanks = 1 << 16;
  if (file.value("schema", "") != kNetworkSchema || file.value("version", 0) != kNetworkVersion) {
    throw formats::JsonError(
        fmt::format("schema and version are not {} {}", kNetworkSchema, kNetworkVersion));
  }
  NetworkRates rates{.network = file.at("network").get<std::string>(),
                     .source = file.at("source").get<std::string>(),
                     .overlap = number_of(file, "overlap", 0.0, 1.0),
                     .inside_host = link_of(file.at("inside_host"))};
  const double ranks = number_of(file, "ranks_per_host", 1.0, kMostRanks);
  if (ranks != std::floor(ranks)) throw formats::JsonError("ranks_per_host is not a whole number");
  rates.ranks_per_host = static_cast<int64_t>(ranks);
  if (file.contains("between_hosts")) rates.between_hosts = link_of(file.at("between_hosts"));
  return rates;
}

}  // namespace

void NetworkRates::require(int64_t ranks) const {
  if (ranks <= ranks_per_host) return;
  if (!between_hosts) {
    throw_user_error(
        "{} has one host of {} ranks, and the plan has {} ranks; name a network_file with "
        "between_hosts",
        network, ranks_per_host, ranks);
  }
  if (ranks % ranks_per_host != 0) {
    throw_user_error(
        "{} has {} ranks per host, which does not divide the plan's {} ranks; change `replicas` or "
        "pipeline_stages",
        network, ranks_per_host, ranks);
  }
}

NetworkRates read_network_file(const std::filesystem::path& path) {
  constexpr const char* kAdvice = "configs/networks/ has examples";
  try {
    return network_rates_of(formats::read_json_file(path));
  } catch (const formats::JsonError& error) {
    throw_data_error("{} is not a network file: {}; {}", path.string(), error.what(), kAdvice);
  }
}

}  // namespace cloze::forecast
