#include "tasks/glue/glue_task.h"

#include <fmt/format.h>

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

std::string plain(std::string_view name) {
  std::string result = text::lower_ascii(name);
  std::erase_if(result, [](char c) { return c == '-' || c == '_'; });
  return result;
}

}  // namespace

std::string_view name_of(GlueMetric metric) {
  constexpr std::string_view kNames[] = {"accuracy", "f1", "matthews", "pearson", "spearman"};
  return kNames[static_cast<size_t>(metric)];
}

const GlueTask& glue_task(std::string_view name) {
  std::vector<std::string_view> names;
  for (const GlueTask& task : kTasks) {
    if (plain(task.name) == plain(name)) return task;
    names.push_back(task.name);
  }
  throw_user_error("unknown GLUE task '{}'; choose one of {}", name, fmt::join(names, ", "));
}

bool has_classifier_of(const GlueTask& task, std::string_view name) {
  const auto family = [](std::string_view one) {
    const std::string plain_name = plain(one);
    return plain_name == "mnlimm" || plain_name == "ax" ? "mnli" : plain_name;
  };
  return family(task.name) == family(name);
}

}  // namespace cloze::tasks
