#include "cli/inference/inference_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "checkpoints/stored_model.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/data/cut_report.h"
#include "forecast/memory_forecast.h"
#include "formats/json.h"
#include "formats/model_tensors.h"
#include "formats/tf_checkpoint.h"
#include "inference/inference_memory.h"
#include "platform/available_threads.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/utf8.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {

namespace fs = std::filesystem;

namespace {

constexpr size_t kShownCauses = 5;  // of [UNK]

void print_notes(const inference::PackedModel& model) {
  for (const std::string& note : model.notes()) say("note: {}\n", note);
}

// weights_bytes: bytes of weights that are already loaded.
void print_forecast(const inference::InferenceMemory& needed, const std::string& device,
                    int64_t weights_bytes) {
  const std::optional<int64_t> card = card_memory(device);
  forecast::MemoryForecast memory(card ? 0 : weights_bytes);
  memory.use_card(card);
  memory.add_inference(needed);
  say("{}; requests and answers are not counted\n", memory.text());
}

}  // namespace

fs::path model_path(const fs::path& path) {
  if (fs::exists(path / "config.json")) return path;
  if (const auto tensorflow = formats::find_tf_checkpoint(path)) return *tensorflow;
  if (!fs::exists(path)) formats::throw_missing_model(path);
  if (!fs::is_directory(path) || checkpoints::has_configuration(path)) return path;
  const train::FoundCheckpoint found =
      train::find_checkpoint(path, train::CheckpointUse::kInference);
  for (const std::string& skipped : found.skipped) say("note: skipped {}\n", skipped);
  const fs::path& newest = found.path;
  const train::TrainingState state = train::read_training_state(newest / train::kStateName);
  const fs::path best = train::checkpoint_path(newest.parent_path(), state.best_step);
  if (!state.best_metric || !fs::exists(best)) return newest;
  return train::find_checkpoint(best, train::CheckpointUse::kInference).path;  // refuses damage
}

void note_invalid_utf8(std::string_view text, std::string_view source) {
  if (text::is_valid_utf8(text)) return;
  say("note: {} has bytes that are not UTF-8; they were left out\n", source);
}

void note_invalid_texts(const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    note_invalid_utf8(texts[i], texts.size() == 1 ? "the text" : fmt::format("text {}", i + 1));
  }
}

std::vector<std::string> input_lines(const std::string& file) {
  std::vector<std::string> lines;
  if (!file.empty()) {
    const std::string content = platform::read_file(file);
    note_invalid_utf8(content, file);
    for (std::string_view rest = content; !rest.empty();) {
      lines.emplace_back(text::take_line(rest));
    }
    return lines;
  }
  for (std::string line; std::getline(std::cin, line);) {
    note_invalid_utf8(line, fmt::format("line {}", lines.size() + 1));
    lines.push_back(line);
  }
  return lines;
}

void TruncationNote::count(const tasks::Truncation& truncation) {
  ++inputs_;
  if (!truncation.is_cut()) return;
  ++cut_;
  if (truncation.tokens > longest_.tokens) longest_ = truncation;
}

void TruncationNote::print() const {
  if (cut_ == 0) return;
  if (inputs_ == 1) {
    say("note: the {} has {} tokens; only {} of them were read\n", what_, longest_.tokens,
        longest_.kept);
    return;
  }
  say("note: {} of {} {}s are too long and were cut; the longest has {} tokens, of which {} were "
      "read\n",
      cut_, inputs_, what_, longest_.tokens, longest_.kept);
}

void UnknownNote::count(const tasks::UnknownTokens& input) {
  ++inputs_;
  tokens_ += input.tokens;
  unknown_ += input.unknown;
  if (!input.is_more_than_a_trace()) return;
  ++with_unknown_;
  for (const text::CountedText& cause : input.causes) causes_[cause.text] += cause.count;
}

void UnknownNote::print() const {
  if (with_unknown_ == 0) return;
  const std::string what =
      inputs_ == 1 ? fmt::format("{} of the {}'s {} tokens are [UNK]", unknown_, what_, tokens_)
                   : fmt::format("{} of {} {}s have [UNK] among their tokens, {} of {} in all",
                                 with_unknown_, inputs_, what_, unknown_, tokens_);
  const bool is_strange = percent(unknown_, tokens_) > kMaxUnknownPercent;
  say("note: {}, most often for {}: the model cannot tell what these mean{}\n", what,
      listed(text::most_frequent(causes_, kShownCauses)),
      is_strange ? ", and was hardly made for such text" : "");
}

std::vector<formats::Json> read_json_lines(const std::filesystem::path& path,
                                           const std::vector<std::string>& texts,
                                           const std::vector<std::string>& optional_texts) {
  std::vector<formats::Json> items;
  const std::string content = platform::read_file(path);
  std::string_view rest = content;
  for (int64_t line = 1; !rest.empty(); ++line) {
    const std::string_view object = text::take_line(rest);
    if (text::trim_ascii(object).empty()) continue;
    auto item = formats::parse_json(object);
    const auto is_there = [&](const std::string& name) {
      return item->contains(name) && item->at(name).is_string();
    };
    const auto is_right = [&](const std::string& name) {
      return !item->contains(name) || is_there(name);
    };
    if (!item) throw_data_error("{}:{}: {}", path.string(), line, item.error().message);
    if (!item->is_object() || !std::ranges::all_of(texts, is_there)) {
      throw_data_error("{}:{} must be a JSON object with a text for each of {}", path.string(),
                       line, fmt::join(texts, ", "));
    }
    if (!std::ranges::all_of(optional_texts, is_right)) {
      throw_data_error("{}:{}: {} must be a text", path.string(), line,
                       fmt::join(optional_texts, ", "));
    }
    items.push_back(*std::move(item));
  }
  if (items.empty()) throw_user_error("{} is empty", path.string());
  return items;
}

void require_trained(const fs::path& path) {
  if (!inference::PackedModel::is_packed(path)) return;
  throw_user_error("{} is already packed; give the model that it was made from", path.string());
}

inference::PretrainedModel open_trained_model(const fs::path& path) {
  require_trained(path);
  return inference::open_pretrained_model(model_path(path));
}

inference::PackedModel compile_model(inference::PretrainedModel model,
                                     const inference::PackOptions& options) {
  auto packed = inference::PackedModel::pack(std::move(model), options);
  print_notes(packed);
  return packed;
}

namespace {

using inference::PackedModel;

std::shared_ptr<const PackedModel> pack_model(inference::PretrainedModel model,
                                              inference::PackOptions how, int num_threads) {
  const int threads = platform::resolved_threads(num_threads);
  how.target.threads = threads;
  print_forecast(inference::inference_memory(model.config, model.head, how, threads), how.device,
                 0);
  return std::make_shared<const PackedModel>(compile_model(std::move(model), how));
}

}  // namespace

std::shared_ptr<const PackedModel> open_encoder(const ModelOptions& options,
                                                std::optional<ops::PoolingMode> pooling,
                                                int num_threads) {
  if (!PackedModel::is_packed(options.checkpoint)) {
    const inference::PackOptions how = on_chosen_machine(options);
    return pack_model(inference::as_encoder(open_trained_model(options.checkpoint), pooling), how,
                      num_threads);
  }
  if (pooling) {
    throw_user_error("{} is packed with its pooling; give --pooling with the model's folder",
                     options.checkpoint.string());
  }
  return open_model(options, num_threads);
}

std::shared_ptr<const PackedModel> open_model(const ModelOptions& options, int num_threads) {
  const inference::PackOptions how = on_chosen_machine(options);
  const fs::path& path = options.checkpoint;
  if (!PackedModel::is_packed(path)) return pack_model(open_trained_model(path), how, num_threads);
  const int threads = platform::resolved_threads(num_threads);
  auto model = std::make_shared<const PackedModel>(PackedModel::open(path, how.device));
  print_notes(*model);
  auto needed =
      inference::inference_memory(model->config(), model->head(), model->options(), threads);
  needed.loading_bytes = 0;  // loading is done
  print_forecast(needed, how.device, static_cast<int64_t>(model->weights()->bytes()));
  return model;
}

inference::PackOptions on_chosen_machine(const ModelOptions& options) {
  limit_instruction_set(options.instruction_set);
  inference::PackOptions how = options.compile;
  how.device = chosen_device(how.device);
  say_card(how.device);
  return how;
}

void add_device_options(OptionTable& table, ModelOptions& options) {
  table.add(device_option(options.compile.device));
  table.add(instruction_set_option(options.instruction_set));
}

void add_model_options(OptionTable& table, ModelOptions& options, int& num_threads) {
  table.add("init_checkpoint", &options.checkpoint, std::string("Packed model, ") + kModelHelp,
            {.is_required = true});
  table.add("threads", &num_threads, kThreadsHelp,
            {.minimum = 0, .maximum = platform::kMostThreads});
  add_device_options(table, options);
}

void add_packing_options(OptionTable& table, inference::PackOptions& options,
                         const std::vector<std::string>& excludes) {
  table.add("precision", named(options.precision, dtype_named, name_of),
            "Precision of the packed weights: f32, or bf16 (half the memory traffic; computed in "
            "f32 unless the processor multiplies bf16 itself)",
            {.choices = {"f32", "bf16"}, .excludes = excludes});
}

}  // namespace cloze::cli
