#include "cli/training/finetune_models.h"

#include <fmt/core.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/cut_report.h"
#include "cli/training/training_run.h"
#include "platform/available_threads.h"
#include "platform/files/folder.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

using inference::PackedModel;

// A client's run() throws this when a signal asked to stop (platform/signals.h).
struct InferenceStopped {};

// Shows a model's progress through the `total` sequences of a task, and lets a signal end the work.
// Observes the client, which it must not outlive.
class InferenceDisplay {
 public:
  InferenceDisplay(inference::InferenceClient& client, int64_t total)
      : client_(client),
        total_(total),
        display_([this](double seconds) { return describe(seconds); }) {
    client_.set_observer([this](const data::MicroBatch& batch) {
      if (platform::stop_requested()) throw InferenceStopped();
      sequences_ += batch.num_sequences;
      tokens_ += batch.num_tokens;
    });
  }
  ~InferenceDisplay() { client_.set_observer({}); }
  InferenceDisplay(const InferenceDisplay&) = delete;
  InferenceDisplay& operator=(const InferenceDisplay&) = delete;

 private:
  std::string describe(double seconds) const {
    return fmt::format("model run on {:.0f} % of {} sequences, {:.0f} tokens/s, {} left",
                       percent(sequences_, total_), total_,
                       static_cast<double>(tokens_.load()) / seconds,
                       time_left(sequences_, total_, seconds));
  }

  inference::InferenceClient& client_;
  int64_t total_;
  std::atomic<int64_t> sequences_ = 0;
  std::atomic<int64_t> tokens_ = 0;
  WorkDisplay display_;  // last: it reads the others
};

// Tokens that the model has no row for have a note of their own (tasks::note_rowless).
void examine(const std::string& file, const std::vector<std::string_view>& texts,
             const FinetuneRun& run) {
  const FinetuneOptions& options = run.options;
  const text::Tokenizer& tokenizer = run.start.tokenizer;
  const bool has_start =
      !options.training.init_checkpoint.empty() || !options.training.restore_dir.empty();
  CutReport how{.max_unknown_percent = options.max_unknown_percent,
                .source = file,
                .to_keep_accents = "start from a model that keeps them"};
  if (has_start) {
    how.cure = options.vocab_file.empty() ? "start from a model that was made for such text"
                                          : "leave out vocab_file, or give the start model's";
  }
  report_cut(sample_of(texts), text::Tokenizer(tokenizer.vocabulary(), tokenizer.options()), how);
}

}  // namespace

tasks::TaskOutput task_output(const FinetuneRun& run) {
  return {.examine = [&](const std::string& file,
                         const std::vector<std::string_view>& texts) { examine(file, texts, run); },
          .notice = [](const std::string& line) { say("{}\n", line); },
          .result = [](const std::string& line) { fmt::print("{}\n", line); },
          .watch =
              [](inference::InferenceClient& client, int64_t sequences) {
                return std::make_shared<InferenceDisplay>(client, sequences);
              }};
}

inference::InferenceMemory memory_to_infer(const FinetuneRun& run, const models::BertHead& head) {
  const engine::CompileOptions& compile = run.training.step.compile;
  return inference::inference_memory(run.training.step.model, head, {.device = compile.device},
                                     platform::resolved_threads(compile.target.threads));
}

std::optional<double> FinetuneModels::evaluate(engine::Session& trained, int64_t step) const {
  auto client = client_of(PackedModel::pack(
      model_at({}), trained, {.device = machine().device, .target = machine().target}));
  try {
    return task_.evaluate(client, step);
  } catch (const InferenceStopped&) {
    return std::nullopt;
  }
}

tasks::Scores FinetuneModels::finish(const std::filesystem::path& checkpoint,
                                     const std::filesystem::path& folder) const {
  auto client = client_of(PackedModel::pack(
      model_at(checkpoint), {.device = machine().device, .target = machine().target}));
  platform::make_writable_directory(folder);
  try {
    return task_.finish(client, folder);
  } catch (const InferenceStopped&) {
    end_saved_run(run_.options, platform::stop_signal(), " while scoring");
  }
}

inference::PretrainedModel FinetuneModels::model_at(const std::filesystem::path& path) const {
  return {.path = path,
          .config = run_.training.step.model,
          .head = task_.head(),
          .tokenizer = run_.start.tokenizer};
}

inference::InferenceClient FinetuneModels::client_of(PackedModel model) const {
  return {std::make_shared<const PackedModel>(std::move(model)), machine().target.threads};
}

}  // namespace cloze::cli
