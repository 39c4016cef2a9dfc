#include "tasks/glue/glue_submission.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "platform/file.h"

namespace cloze::tasks {
namespace {

constexpr double kLargestScore = 5;

std::string prediction_text(const GlueTask& task, double prediction, size_t index) {
  if (task.is_regression()) {
    if (!std::isfinite(prediction)) {
      throw_user_error("{}: the score predicted for example {} is not a finite number", task.name,
                       index);
    }
    return fmt::format("{:.3f}", std::clamp(prediction, 0.0, kLargestScore));
  }
  const auto number = static_cast<int64_t>(prediction);
  CLOZE_CHECK(number >= 0 && number < std::ssize(task.labels), "class {} of {}", number, task.name);
  return std::string(task.labels[static_cast<size_t>(number)]);
}

}  // namespace

std::string glue_submission_name(const GlueTask& task) {
  return std::string(task.name) + (task.name == "MNLI" ? "-m" : "") + ".tsv";
}

void write_glue_submission(const std::filesystem::path& path, const GlueTask& task,
                           std::span<const double> predictions) {
  std::string text = "index\tprediction\n";
  for (size_t i = 0; i < predictions.size(); ++i) {
    text += fmt::format("{}\t{}\n", i, prediction_text(task, predictions[i], i));
  }
  platform::write_file_atomically(path, text);
}

}  // namespace cloze::tasks
