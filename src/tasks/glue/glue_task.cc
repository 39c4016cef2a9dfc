#include "tasks/glue/glue_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

using enum GlueMetric;

const std::vector<std::string_view> kBinary{"0", "1"};
const std::vector<std::string_view> kInference{"contradiction", "entailment", "neutral"};
const std::vector<std::string_view> kEntailment{"entailment", "not_entailment"};

const GlueTask kTasks[] = {
    {"CoLA", "sentence", "", "label", kBinary, {kMatthews}},
    {"SST-2", "sentence", "", "label", kBinary, {kAccuracy}},
    {"MRPC", "#1 String", "#2 String", "Quality", kBinary, {kAccuracy, kF1}},
    {"STS-B", "sentence1", "sentence2", "score", {}, {kPearson, kSpearman}},
    {"QQP", "question1", "question2", "is_duplicate", kBinary, {kAccuracy, kF1}, true},
    {"MNLI", "sentence1", "sentence2", "gold_label", kInference, {kAccuracy}},
    {"MNLI-mm", "sentence1", "sentence2", "gold_label", kInference, {kAccuracy}},
    {"QNLI", "question", "sentence", "label", kEntailment, {kAccuracy}},
    {"RTE", "sentence1", "sentence2", "label", kEntailment, {kAccuracy}},
    {"WNLI", "sentence1", "sentence2", "label", kBinary, {kAccuracy}},
    {"AX", "sentence1", "sentence2", "", kInference, {kMatthews}},
};

namespace fs = std::filesystem;

std::vector<std::string> folder_names(const GlueTask& task) {
  if (task.name == "AX") return {"diagnostic", "AX"};
  if (task.name == "MNLI-mm") return {"MNLI"};
  return {std::string(task.name)};
}

std::vector<std::string> file_names(const GlueTask& task, GlueSplit split) {
  if (task.name == "AX" && split != GlueSplit::kTest) return {};
  if (task.name == "AX") return {"diagnostic.tsv", "test.tsv"};
  const std::string split_name(name_of(split));
  if (split == GlueSplit::kTrain) return {split_name + ".tsv"};
  if (task.name == "MNLI") return {split_name + "_matched.tsv"};
  if (task.name == "MNLI-mm") return {split_name + "_mismatched.tsv"};
  return {split_name + ".tsv"};
}

std::vector<fs::path> candidates(const fs::path& folder, const GlueTask& task, GlueSplit split) {
  std::vector<fs::path> folders;
  for (const std::string& name : folder_names(task)) folders.push_back(folder / name);
  folders.push_back(folder);
  std::vector<fs::path> paths;
  for (const fs::path& place : folders) {
    for (const std::string& name : file_names(task, split)) paths.push_back(place / name);
  }
  return paths;
}

}  // namespace

std::string_view name_of(GlueMetric metric) {
  constexpr std::string_view kNames[] = {"accuracy", "f1", "matthews", "pearson", "spearman"};
  return kNames[static_cast<size_t>(metric)];
}

std::vector<std::string_view> glue_task_names() {
  std::vector<std::string_view> names;
  for (const GlueTask& task : kTasks) names.push_back(task.name);
  return names;
}

std::string plain_name(std::string_view name) {
  std::string result = text::lower_ascii(name);
  std::erase_if(result, [](char c) { return c == '-' || c == '_'; });
  return result;
}

bool is_glue_task(std::string_view name) {
  return std::ranges::any_of(
      kTasks, [&](const GlueTask& task) { return plain_name(task.name) == plain_name(name); });
}

const GlueTask& glue_task(std::string_view name) {
  for (const GlueTask& task : kTasks) {
    if (plain_name(task.name) == plain_name(name)) return task;
  }
  throw_user_error("unknown GLUE task '{}'; choose one of {}", name,
                   fmt::join(glue_task_names(), ", "));
}

bool has_classifier_of(const GlueTask& task, std::string_view name) {
  const auto family = [](std::string_view one) {
    const std::string plain = plain_name(one);
    return plain == "mnlimm" || plain == "ax" ? "mnli" : plain;
  };
  return family(task.name) == family(name);
}

std::string_view name_of(GlueSplit split) {
  constexpr std::string_view kNames[] = {"train", "dev", "test"};
  return kNames[static_cast<size_t>(split)];
}

std::optional<fs::path> find_glue_file(const fs::path& folder, const GlueTask& task,
                                       GlueSplit split) {
  for (const fs::path& path : candidates(folder, task, split)) {
    if (fs::is_regular_file(path)) return path;
  }
  return std::nullopt;
}

fs::path glue_file(const fs::path& folder, const GlueTask& task, GlueSplit split) {
  if (const auto path = find_glue_file(folder, task, split)) return *path;
  if (task.name == "AX" && split != GlueSplit::kTest) {
    throw_user_error("AX has no {} file: train on MNLI, and predict AX with that model",
                     name_of(split));
  }
  std::vector<std::string> tried;
  for (const fs::path& path : candidates(folder, task, split)) tried.push_back(path.string());
  throw_user_error(
      "no {} file of {}: there is none of {}; name the task's folder or the one above it",
      name_of(split), task.name, fmt::join(tried, ", "));
}

}  // namespace cloze::tasks
