#include "tasks/class_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/whole_number.h"
#include "formats/json.h"

namespace cloze::tasks {
namespace {

using Classes = std::vector<std::string>;

std::vector<double> balanced(const Classes& classes, std::span<const int64_t> counts) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  std::vector<double> weights;
  for (size_t c = 0; c < classes.size(); ++c) {
    if (counts[c] == 0) {
      throw_user_error(
          "class_weights is balanced, but no training example has the class '{}'; add some, or "
          "give "
          "a weight for each class",
          classes[c]);
    }
    weights.push_back(all / (static_cast<double>(classes.size()) * static_cast<double>(counts[c])));
  }
  return weights;
}

// Returns nothing where one of the parts between commas is not a number.
std::optional<std::vector<double>> listed(std::string_view text) {
  std::vector<double> weights;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto weight = number_in<double>(text.substr(begin, end - begin));
    if (!weight) return std::nullopt;
    weights.push_back(*weight);
    begin = end + 1;
  }
  return weights;
}

std::vector<double> in_file(const std::string& path, const Classes& classes) {
  const formats::Json json = formats::read_json_file(path);
  std::vector<double> weights(classes.size(), 1.0);
  if (!json.is_object()) {
    throw_data_error("{}: class weights are an object, {{\"label\": weight}}", path);
  }
  for (const auto& [name, value] : json.items()) {
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end()) {
      throw_user_error("{}: class '{}'; it must be one of {}", path, name,
                       fmt::join(classes, ", "));
    }
    if (!value.is_number()) {
      throw_data_error("{}: the weight of '{}' is {}; it must be a number", path, name,
                       value.dump());
    }
    weights[static_cast<size_t>(found - classes.begin())] = value.get<double>();
  }
  return weights;
}

std::vector<double> read(const std::string& setting, const Classes& classes) {
  if (const auto list = listed(setting)) {
    if (list->size() == classes.size()) return *list;
    throw_user_error("class_weights has {} weights for {} classes: {}", list->size(),
                     classes.size(), fmt::join(classes, ", "));
  }
  if (!std::filesystem::exists(setting)) {
    throw_user_error(
        "class_weights is '{}', which is no file; give none, balanced, a weight for each class "
        "(2,1,0.5), or a JSON file {{\"label\": weight}}",
        setting);
  }
  return in_file(setting, classes);
}

void require_weights(const std::vector<double>& weights, const Classes& classes) {
  for (size_t c = 0; c < weights.size(); ++c) {
    if (std::isfinite(weights[c]) && weights[c] >= 0.0) continue;
    throw_user_error("class_weights: the weight of '{}' is {}; it must be 0 or more", classes[c],
                     weights[c]);
  }
  if (std::ranges::count(weights, 0.0) == std::ssize(weights)) {
    throw_user_error("class_weights: all weights are 0; give at least one class a weight");
  }
}

}  // namespace

std::vector<int64_t> class_counts(std::span<const double> labels, size_t num_classes) {
  std::vector<int64_t> counts(num_classes);
  for (const double label : labels) ++counts.at(static_cast<size_t>(label));
  return counts;
}

std::vector<float> class_weights(const std::string& setting, const Classes& classes,
                                 std::span<const int64_t> counts) {
  if (setting == "none") return {};
  const std::vector<double> weights =
      setting == "balanced" ? balanced(classes, counts) : read(setting, classes);
  require_weights(weights, classes);
  return {weights.begin(), weights.end()};
}

std::string describe_class_weights(const std::vector<float>& weights, const Classes& classes) {
  const auto [least, most] = std::ranges::minmax_element(weights);
  const auto name = [&](auto at) { return classes[static_cast<size_t>(at - weights.begin())]; };
  return fmt::format("class weights from {:.4g} ({}) to {:.4g} ({})", *least, name(least), *most,
                     name(most));
}

}  // namespace cloze::tasks
