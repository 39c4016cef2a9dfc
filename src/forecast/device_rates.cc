#include "forecast/device_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::forecast {
namespace {

constexpr const char* kDeviceSchema = "cloze.device";
constexpr int kDeviceVersion = 1;

double positive(const formats::Json& value, const char* name) {
  const double number = value.get<double>();
  if (number > 0.0 && std::isfinite(number)) return number;
  throw formats::JsonError(fmt::format("{} is {}; it must be above 0", name, value.dump()));
}

DeviceRates device_rates_of(const formats::Json& file) {
  if (file.value("schema", "") != kDeviceSchema || file.value("version", 0) != kDeviceVersion) {
    throw formats::JsonError(
        fmt::format("schema and version are not {} {}", kDeviceSchema, kDeviceVersion));
  }
  DeviceRates rates{.device = file.at("device").get<std::string>(),
                    .source = file.value("source", "")};
  for (const auto& [dtype, rate] : file.at("gflops").items()) {
    rates.gflops[dtype] = positive(rate, "gflops");
  }
  rates.gigabytes_per_second = positive(file.at("gigabytes_per_second"), "gigabytes_per_second");
  for (const auto& row : file.value("operators", formats::Json::array())) {
    rates.operators[{row.at("operator").get<std::string>(), row.at("dtype").get<std::string>()}]
                   [positive(row.at("work"), "work")] = positive(row.at("seconds"), "seconds");
  }
  return rates;
}

}  // namespace

std::string dtype_of(const plan::Program& program, const graph::Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (const graph::Value value : *values) {
      const DType dtype = program.graph.type(value).dtype;
      if (dtype != DType::kI32) return std::string(name_of(dtype));
    }
  }
  return std::string(name_of(DType::kI32));
}

double work_of(const plan::LaunchUse& use) {
  if (use.launch->flops > 0.0) return use.launch->flops;
  return std::max(1.0, static_cast<double>(use.bytes_read + use.bytes_written));
}

double DeviceRates::seconds(const std::string& op, const std::string& dtype, double work) const {
  const auto found = operators.find({op, dtype});
  if (found == operators.end()) return 0.0;
  const std::map<double, double>& measured = found->second;
  const auto above = measured.lower_bound(work);
  if (above == measured.end()) return work / measured.rbegin()->first * measured.rbegin()->second;
  if (above == measured.begin()) return work / above->first * above->second;
  const auto below = std::prev(above);
  const double share = std::log(work / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

double DeviceRates::seconds(const plan::Program& program, const plan::LaunchUse& use) const {
  const std::string dtype = dtype_of(program, *use.node);
  const std::string op(use.launch->op->name);
  if (operators.contains({op, dtype})) return seconds(op, dtype, work_of(use));
  const auto rate = gflops.find(dtype);
  const double products = rate == gflops.end() ? 0.0 : use.launch->flops / (1e9 * rate->second);
  if (gigabytes_per_second == 0.0) return products;
  const auto bytes = static_cast<double>(use.bytes_read + use.bytes_written);
  return std::max(products, bytes / (1e9 * gigabytes_per_second));
}

std::string device_text(const DeviceRates& rates) {
  formats::Json file{{"schema", kDeviceSchema},
                     {"version", kDeviceVersion},
                     {"device", rates.device},
                     {"source", rates.source},
                     {"gflops", rates.gflops},
                     {"gigabytes_per_second", rates.gigabytes_per_second},
                     {"operators", formats::Json::array()}};
  for (const auto& [name, measured] : rates.operators) {
    for (const auto& [work, seconds] : measured) {
      file["operators"].push_back(
          {{"operator", name.first}, {"dtype", name.second}, {"work", work}, {"seconds", seconds}});
    }
  }
  return formats::json_text(file);
}

DeviceRates read_device_file(const std::filesystem::path& path) {
  try {
    return device_rates_of(formats::read_json_file(path));
  } catch (const formats::JsonError& error) {
    throw_data_error("{} is not a device file: {}; make one with cloze plan --measure FILE",
                     path.string(), error.what());
  }
}

}  // namespace cloze::forecast
