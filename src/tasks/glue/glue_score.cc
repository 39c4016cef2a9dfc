#include "tasks/glue/glue_score.h"

#include "base/error.h"
#include "formats/json.h"
#include "tasks/label_scores.h"

namespace cloze::tasks {

double glue_metric(GlueMetric metric, std::span<const double> predictions,
                   std::span<const double> labels) {
  CLOZE_CHECK(predictions.size() == labels.size() && !labels.empty(), "{} predictions, {} labels",
              predictions.size(), labels.size());
  switch (metric) {
    case GlueMetric::kAccuracy:
      return accuracy(predictions, labels);
    case GlueMetric::kF1:
      return f1(predictions, labels);
    case GlueMetric::kMatthews:
      return matthews(predictions, labels);
    case GlueMetric::kPearson:
      return pearson(predictions, labels);
    case GlueMetric::kSpearman:
      return spearman(predictions, labels);
  }
  return 0;
}

std::string glue_scores_json(const GlueTask& task, std::span<const double> predictions,
                             std::span<const double> labels) {
  formats::Json json;
  for (const GlueMetric metric : task.metrics) {
    json[std::string(name_of(metric))] = glue_metric(metric, predictions, labels);
  }
  return formats::json_line(json);
}

}  // namespace cloze::tasks
