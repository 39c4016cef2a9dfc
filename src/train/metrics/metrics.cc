#include "train/metrics/metrics.h"

#include <cctype>
#include <string>
#include <string_view>

#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::train {
namespace {

constexpr std::string_view kMetricsSchema = "cloze.metrics";
constexpr int kMetricsVersion = 1;
constexpr const char* kEvaluatedStep = "evaluated_step";

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_header(const formats::Json& line) {
  const auto schema = line.find("schema");
  const auto version = line.find("version");
  return schema && *schema == kMetricsSchema && version && *version == kMetricsVersion;
}

// Whether the line is of a step that this log may keep when `steps_done` steps are done.
bool is_kept(const formats::Json& line, int64_t steps_done) {
  const auto step = line.find(line.contains(kEvaluatedStep) ? kEvaluatedStep : "step");
  return step && step->is_number_integer() && step->get<int64_t>() <= steps_done;
}

// Length of the leading lines that hold the header and steps up to `steps_done`; 0 when the file
// is absent or not ours.
int64_t bytes_to_keep(const std::filesystem::path& path, int64_t steps_done) {
  if (steps_done <= 0 || !std::filesystem::exists(path)) return 0;
  const std::string text = platform::read_file(path);
  size_t kept = 0;
  while (true) {
    const size_t end = text.find('\n', kept);
    if (end == std::string::npos) return static_cast<int64_t>(kept);
    const auto line = formats::parse_json(std::string_view(text).substr(kept, end - kept));
    if (!line || !line->is_object()) return static_cast<int64_t>(kept);
    const bool keep = kept == 0 ? is_header(*line) : is_kept(*line, steps_done);
    if (!keep) return static_cast<int64_t>(kept);
    kept = end + 1;
  }
}

void add_losses(const std::vector<LossValue>& losses, formats::Json& line) {
  for (const LossValue& part : losses) line[part.name + "_loss"] = part.loss;
  for (const LossValue& part : losses) {
    if (part.accuracy) line[part.name + "_accuracy"] = *part.accuracy;
  }
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, int64_t steps_done)
    : path_(path), file_(path, bytes_to_keep(path, steps_done)) {
  write_header();
}

void MetricsLog::write_header() {
  if (std::filesystem::file_size(path_) > 0) return;
  file_.append(formats::json_line({{"schema", kMetricsSchema}, {"version", kMetricsVersion}}) +
               "\n");
}

void MetricsLog::forget_after(int64_t step) {
  platform::AppendFile cut(path_, bytes_to_keep(path_, step));
  write_header();
}

void MetricsLog::write(const StepMetrics& m) {
  formats::Json line{{"step", m.step},
                     {"epoch", m.epoch},
                     {"samples", m.samples},
                     {"tokens", m.tokens},
                     {"loss", m.loss}};
  add_losses(m.losses, line);
  line["learning_rate"] = m.learning_rate;
  line["gradient_norm"] = m.gradient_norm;
  line["loss_scale"] = m.loss_scale;
  line["skipped_steps"] = m.skipped_steps;
  line["tokens_per_second"] = m.tokens_per_second;
  line["sequences_per_second"] = m.sequences_per_second;
  line["data_wait_share"] = m.data_wait_share;
  line["flops"] = m.flops;
  if (m.ceiling_share) line["ceiling_share"] = *m.ceiling_share;
  line["seconds"] = m.seconds;
  if (m.communication) {
    line["communication_seconds"] = m.communication->seconds;
    line["communication_hidden_share"] = m.communication->hidden_share();
  }
  if (m.bubble) {
    line["bubble_share"] = m.bubble->waited_seconds / m.seconds;
    line["expected_bubble_share"] = m.bubble->expected_share;
  }
  for (const TensorNorm& norm : m.norms) {
    line["weight_norms"][norm.name] = norm.weight;
    line["gradient_norms"][norm.name] = norm.gradient;
  }
  file_.append(formats::json_line(line) + "\n");
}

void MetricsLog::write_evaluation(const EvaluationMetrics& m) {
  formats::Json line{
      {kEvaluatedStep, m.step}, {"epoch", m.epoch}, {"samples", m.samples}, {"score", m.score}};
  add_losses(m.losses, line);
  line["seconds"] = m.seconds;
  file_.append(formats::json_line(line) + "\n");
}

TensorBoardMetrics::TensorBoardMetrics(const std::filesystem::path& folder, int64_t steps_done)
    : writer_(folder) {
  if (steps_done > 0) writer_.write_session_start(steps_done + 1);
}

std::vector<formats::Scalar> scalars_of(const StepMetrics& m) {
  std::vector<formats::Scalar> scalars{
      {"train/loss", m.loss},
      {"train/grad_norm", m.gradient_norm},
      {"train/skipped_steps", static_cast<double>(m.skipped_steps)},
      {"train/tokens_per_sec", m.tokens_per_second},
      {"train/data_wait_share", m.data_wait_share},
      {"learning_rate", m.learning_rate},
      {"loss_scaling", m.loss_scale},
      {"samples_per_sec", m.sequences_per_second},
      {"samples", static_cast<double>(m.samples)},
      {"epoch", m.epoch},
  };
  for (const LossValue& part : m.losses) {
    scalars.push_back({"loss/" + upper_case(part.name), part.loss});
    if (part.accuracy) scalars.push_back({"accuracy/" + upper_case(part.name), *part.accuracy});
  }
  if (m.ceiling_share) scalars.push_back({"train/ceiling_share", *m.ceiling_share});
  if (m.communication) {
    scalars.insert(scalars.end(),
                   {{"train/communication_seconds", m.communication->seconds},
                    {"train/communication_hidden_share", m.communication->hidden_share()}});
  }
  for (const TensorNorm& norm : m.norms) {
    scalars.push_back({"weight_norm/" + norm.name, norm.weight});
    scalars.push_back({"gradient_norm/" + norm.name, norm.gradient});
  }
  return scalars;
}

void TensorBoardMetrics::write(const StepMetrics& m) {
  writer_.write_scalars(m.step, scalars_of(m));
}

}  // namespace cloze::train
