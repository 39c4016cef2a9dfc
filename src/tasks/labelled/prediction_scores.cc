#include "tasks/labelled/prediction_scores.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/whole_number.h"
#include "tasks/label_scores.h"
#include "tasks/labelled/class_scores.h"
#include "tasks/labelled/label_file.h"
#include "tasks/labelled/label_set_scores.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// An object of a file, with what it should hold.
class PredictionLine {
 public:
  PredictionLine(const formats::Json& object, const fs::path& file, int64_t line)
      : object_(object), file_(file), line_(line) {}

  bool has(const char* name) const { return object_.contains(name); }
  const formats::Json& at(const char* name) const {
    const formats::Json* found = object_.find(name);
    if (found == nullptr) refuse(fmt::format("has no `{}`", name));
    return *found;
  }
  std::string name_at(const char* name) const { return name_of(at(name), name); }
  double number_at(const char* name) const {
    const auto number = number_in<double>(name_at(name));
    if (!number || !std::isfinite(*number)) refuse(fmt::format("`{}` is not a number", name));
    return *number;
  }
  std::vector<std::string> names_at(const char* name) const {
    const formats::Json& list = at(name);
    if (!list.is_array()) refuse(fmt::format("`{}` is no array of labels", name));
    std::vector<std::string> names;
    for (const formats::Json& one : list) names.push_back(name_of(one, name));
    return names;
  }
  double probability(const formats::Json& value) const {
    if (!value.is_number() || !(value.get<double>() >= 0.0 && value.get<double>() <= 1.0)) {
      refuse(fmt::format("the probability {} is not from 0 to 1", formats::json_line(value)));
    }
    return value.get<double>();
  }
  // All rows have it or none.
  void require_same(bool has, bool others_have, const char* name) const {
    if (has == others_have) return;
    refuse(fmt::format("has {}`{}`, unlike the rows before", has ? "" : "no ", name));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse_line(file_, line_, what); }

 private:
  std::string name_of(const formats::Json& value, const char* name) const {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number() && !value.is_boolean()) {
      refuse(fmt::format("`{}` holds {}, which is neither a text nor a number", name,
                         formats::json_line(value)));
    }
    return value.dump();
  }

  const formats::Json& object_;
  const fs::path& file_;
  int64_t line_;
};

// Visits the rows of a file that has some.
template <typename Visit>
void for_each_row(const fs::path& file, Visit visit) {
  bool is_empty = true;
  for_each_json_object(read_label_file(file), file, [&](const formats::Json& object, int64_t line) {
    visit(PredictionLine(object, file, line));
    is_empty = false;
  });
  if (is_empty) throw_data_error("{}: holds no predictions", file.string());
}

// Numbers names in the order in which they come.
class Names {
 public:
  int64_t number_of(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, std::ssize(names_));
    if (is_new) names_.push_back(name);
    return found->second;
  }
  std::optional<int64_t> find(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int64_t> numbers_;
};

// The rows of label sets, by the numbers of their labels.
struct LabelSetRows {
  Names names;
  std::vector<std::vector<int64_t>> gold, predicted;
  std::vector<std::vector<double>> probabilities;

  bool has_probabilities() const { return !probabilities.empty(); }
};

std::vector<double> probabilities_of(const PredictionLine& line, Names& names, bool is_first) {
  const formats::Json& object = line.at("probabilities");
  if (!object.is_object()) line.refuse("`probabilities` is no object of labels and numbers");
  if (is_first) {
    for (const formats::JsonMember& one : object.items()) names.number_of(one.name);
  }
  if (object.size() != names.all().size()) {
    line.refuse(fmt::format("has {} probabilities, the first row has {}", object.size(),
                            names.all().size()));
  }
  std::vector<double> probabilities;
  for (const std::string& name : names.all()) {
    const formats::Json* found = object.find(name);
    if (found == nullptr) line.refuse(fmt::format("has no probability of {}", name));
    probabilities.push_back(line.probability(*found));
  }
  return probabilities;
}

std::vector<int64_t> labels_of(const PredictionLine& line, const char* member, LabelSetRows& rows) {
  std::vector<int64_t> labels;
  for (const std::string& name : line.names_at(member)) {
    if (rows.has_probabilities() && !rows.names.find(name)) {
      line.refuse(fmt::format("`{}` has {}, which has no probability", member, name));
    }
    labels.push_back(rows.names.number_of(name));
  }
  return labels;
}

LabelSetRows read_label_sets(const fs::path& file, bool reads_predicted) {
  LabelSetRows rows;
  for_each_row(file, [&](const PredictionLine& line) {
    const bool is_first = rows.gold.empty();
    const bool has = line.has("probabilities");
    if (!reads_predicted && !has)
      line.refuse("has no `probabilities` to compare with the threshold");
    if (!is_first) line.require_same(has, rows.has_probabilities(), "probabilities");
    if (has) rows.probabilities.push_back(probabilities_of(line, rows.names, is_first));
    rows.gold.push_back(labels_of(line, "label", rows));
    if (reads_predicted) rows.predicted.push_back(labels_of(line, "predicted", rows));
  });
  return rows;
}

std::vector<bool> set_of(const std::vector<int64_t>& labels, size_t size) {
  std::vector<bool> set(size);
  for (const int64_t label : labels) set[static_cast<size_t>(label)] = true;
  return set;
}

}  // namespace

formats::Json score_class_predictions(const fs::path& file) {
  Names names;
  std::vector<ClassPrediction> rows;
  bool have_probabilities = false;
  for_each_row(file, [&](const PredictionLine& line) {
    const bool has = line.has("probability");
    if (!rows.empty()) line.require_same(has, have_probabilities, "probability");
    have_probabilities = has;
    rows.push_back({.label = names.number_of(line.name_at("label")),
                    .predicted = names.number_of(line.name_at("predicted")),
                    .probability = has ? line.probability(line.at("probability")) : 0.0});
  });
  formats::Json scores =
      class_scores_json(score_classes(rows, std::ssize(names.all())), names.all());
  if (!have_probabilities) scores.erase("calibration_error");
  return scores;
}

formats::Json score_number_predictions(const fs::path& file) {
  std::vector<double> labels, predicted;
  for_each_row(file, [&](const PredictionLine& line) {
    labels.push_back(line.number_at("label"));
    predicted.push_back(line.number_at("predicted"));
  });
  return {{"pearson", pearson(predicted, labels)}, {"spearman", spearman(predicted, labels)}};
}

formats::Json score_label_set_predictions(const fs::path& file, std::optional<double> threshold) {
  const LabelSetRows rows = read_label_sets(file, !threshold);
  const size_t size = rows.names.all().size();
  if (size == 0) throw_data_error("{}: no row has a label", file.string());
  const std::vector<double> thresholds(size, threshold.value_or(0.0));
  std::vector<LabelSetPrediction> predictions;
  for (size_t i = 0; i < rows.gold.size(); ++i) {
    LabelSetPrediction& one = predictions.emplace_back();
    one.gold = set_of(rows.gold[i], size);
    if (rows.has_probabilities()) one.probabilities = rows.probabilities[i];
    one.predicted =
        threshold ? labels_above(thresholds, one.probabilities) : set_of(rows.predicted[i], size);
  }
  return label_set_scores_json(score_label_sets(predictions), rows.names.all());
}

}  // namespace cloze::tasks
