#include "configuration/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "configuration/statement.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "platform/files/input_paths.h"

namespace cloze::configuration {
namespace {

using formats::Json;

constexpr int64_t kMostCounted = int64_t{1} << 53;

bool says_nothing(const Json& value) { return value.is_null() || value == ""; }

// The reason why a command of ours does not have an option; empty: it does. Options are called as
// in the first system's programs, whose table says which of them has which.
std::string reason_of_absence(const std::string& option, const std::string& task) {
  const KeyRule* rule = tensorflow1().find(option, task);
  if (rule == nullptr) return "";
  if (rule->fate == Fate::kNoEffect) return rule->note;
  const bool is_of_another = !tensorflow1().is_for(option, task);
  return is_of_another ? "it is an option of another task" : "";
}

// The checkpoint decides how it computes: fine-tuning takes these options from it.
bool is_of_checkpoint(const std::string& option, const std::string& task) {
  return task != "pretraining" && (option == "hidden_act" || option == "layer_norm_eps");
}

int64_t known_keys(const ForeignSystem& system, const ForeignFile& file) {
  return std::count_if(file.values.begin(), file.values.end(),
                       [&](const auto& entry) { return system.find(entry.first, "") != nullptr; });
}

// Says whether it has a mark of a system whose keys are not options here.
bool has_mark(const formats::Json& config) {
  return std::ranges::any_of(foreign_systems(), [&](const ForeignSystem* system) {
    return system != &tensorflow1() &&
           std::ranges::any_of(system->marks, [&](auto& mark) { return config.contains(mark); });
  });
}

[[noreturn]] void throw_of_file(const ForeignFile& file, const std::string& message) {
  throw_user_error("{}{}{}", file.path, file.path.empty() ? "" : ": ", message);
}

}  // namespace

Conversion::Conversion(const ForeignSystem& system, const ForeignFile& file)
    : system_(system), file_(file) {
  task_ = system.computations.task_of(*this);
  options_["task"] = task_;
}

bool Conversion::has(const std::string& key) const { return !says_nothing(value(key)); }

const Json& Conversion::value(const std::string& key) const {
  static const Json kNone;
  const auto found = file_.values.find(key);
  return found == file_.values.end() ? kNone : found->second;
}

std::string Conversion::text(const std::string& key) const {
  const Json& found = value(key);
  return found.is_string() ? found.get<std::string>() : "";
}

int64_t Conversion::count(const std::string& key, int64_t otherwise) const {
  return has(key) ? checked_count(key, value(key)) : otherwise;
}

double Conversion::number(const std::string& key, double otherwise) const {
  return has(key) ? checked_number(key, value(key)) : otherwise;
}

std::string Conversion::first_of(const Keys& keys) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](auto& key) { return has(key); });
  return found == keys.end() ? "" : *found;
}

void Conversion::set(const std::string& option, const Json& value, const Keys& keys,
                     const std::string& how) {
  options_[option] = value;
  bool is_left_out = true;
  for (const std::string& key : keys) {
    if (!file_.values.contains(key)) continue;
    is_left_out = false;
    std::string& sentence = sentences_[key];
    if (!sentence.empty()) sentence += "; ";
    sentence += fmt::format("{} {}{}", option, formats::json_line(value), how);
  }
  std::erase(defaults_, option);
  if (is_left_out) defaults_.push_back(option);
}

void Conversion::set_default(const std::string& option, const Json& value, const std::string& why) {
  if (options_.contains(option) || is_of_checkpoint(option, task_)) return;
  if (!reason_of_absence(option, task_).empty()) return;
  options_[option] = value;
  defaults_.push_back(option);
  if (!why.empty()) reasons_[option] = why;
}

std::string Conversion::reason_of(const std::string& option) const {
  const auto found = reasons_.find(option);
  return found == reasons_.end() ? "" : found->second;
}

void Conversion::say(const std::string& key, const std::string& sentence) {
  if (file_.values.contains(key)) sentences_[key] = sentence;
}

void Conversion::point(const std::string& key, const std::string& sentence) {
  if (!file_.values.contains(key)) return;
  say(key, sentence);
  pointed_.push_back(key);
}

void Conversion::refuse(const std::string& key, const std::string& sentence) {
  say(key, sentence);
  refused_.push_back(key);
}

void Conversion::finish() {
  for (const Json& statement : system_.statements) follow(statement, *this);
  for (const auto& [key, sentence] : sentences_) {
    if (!options_.contains(key)) replaced_.insert(key);
  }
  say_of_command_line();
  for (const auto& [key, value] : file_.values) {
    if (!sentences_.contains(key)) follow_rule(key, value);
  }
  for (const auto& [option, value] : system_.defaults.items()) set_default(option, value);
  if (task_ == "pretraining") take_common_defaults();
}

// Takes, for what a file leaves open and its system has no counterpart or no sensible default for,
// values of Graphcore's TensorFlow 1 programs, and LAMB, the optimiser of nearly all these
// configurations.
void Conversion::take_common_defaults() {
  const Json common = {{"micro_batch_size", 32}, {"optimizer", "lamb"},
                       {"beta2", 0.999},         {"weight_decay_rate", 0.0},
                       {"use_debiasing", false}, {"base_learning_rate", 2e-5},
                       {"warmup", 0.1},          {"steps_per_ckpts", 256},
                       {"max_to_keep", 5},       {"steps_per_logs", 1}};
  for (const auto& [option, value] : common.items()) {
    if (!options_.contains(option)) options_[option] = value;
  }
}

void Conversion::say_of_command_line() {
  for (const auto& [key, path] : file_.named) {
    say(key, path + " is read; the command line overrides it");
  }
  for (const char* key : {"help", "h"}) {
    if (!file_.program.empty() && has(key)) {
      refuse(key,
             "prints the options of that program; docs/fidelity/options.md lists them with "
             "what they are here");
    }
  }
}

void Conversion::require_free_way(bool without_planned) const {
  if (!unknown_.empty()) {
    throw_of_file(
        file_,
        fmt::format("unknown to {}: {}; correct or remove them, or import it with another --system",
                    system_.name, fmt::join(unknown_, ", ")));
  }
  require_no_contradiction();
  if (!planned_.empty() && !without_planned) {
    throw_of_file(
        file_, fmt::format("not here yet: {}; cloze config import --without-planned takes the rest",
                           fmt::join(planned_, ", ")));
  }
}

void Conversion::require_no_contradiction() const {
  for (const std::string& key : refused_) throw_of_file(file_, key + ": " + sentences_.at(key));
}

void Conversion::follow_rule(const std::string& key, const Json& value) {
  const KeyRule* rule = system_.find(key, task_);
  if (rule == nullptr) {
    unknown_.push_back(key);
    return say(key, "unknown");
  }
  if (says_nothing(value)) return say(key, "says nothing");
  if (!rule->option.empty()) return take(key, rule->option, value);
  const bool has_agreeing = !rule->agreeing.is_null();
  const bool is_elsewhere = rule->fate == Fate::kMapped && !rule->is_missing;
  const bool agrees = has_agreeing ? rule->agreeing == value : is_off(value) && !is_elsewhere;
  if (agrees) return say(key, "as here");
  if (is_elsewhere) return point(key, rule->note);
  if (rule->is_missing) {
    planned_.push_back(key);
    return say(key, "not here: " + rule->note);
  }
  say(key, "no effect: " + rule->note);
}

void Conversion::take(const std::string& key, const std::string& option, const Json& value) {
  if (is_of_checkpoint(option, task_))
    return say(key, "the model that it starts from decides this");
  const std::string reason = reason_of_absence(option, task_);
  if (!reason.empty()) return say(key, "no effect: " + reason);
  set(option, system_.meant(option, value), {key});
}

int64_t checked_count(const std::string& key, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : 0.0;
  if (number >= 1.0 && number <= kMostCounted && number == std::floor(number)) {
    return value.get<int64_t>();
  }
  throw_user_error("{} is {}; it must be a whole number above 0", key, formats::json_line(value));
}

double checked_number(const std::string& key, const Json& value) {
  if (value.is_number()) return value.get<double>();
  throw_user_error("{} is {}; it must be a number", key, formats::json_line(value));
}

int64_t checked_product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (!__builtin_mul_overflow(product, factor, &product) && product <= kMostCounted) continue;
    throw_user_error("{} are more sequences than a step can have; lower them",
                     fmt::join(factors, " * "));
  }
  return product;
}

const std::string* find_mark(const ForeignSystem& system, const ForeignFile& file) {
  const auto found = std::ranges::find_if(
      system.marks, [&](const std::string& mark) { return file.values.contains(mark); });
  return found == system.marks.end() ? nullptr : &*found;
}

Json with_layout_as_text(Json values) {
  for (const char* key : {"pipeline_stages", "device_mapping"}) {
    if (values.contains(key) && values[key].is_array()) values[key] = values[key].dump();
  }
  return values;
}

bool is_own_form(const ForeignSystem& system, const ForeignFile& file) {
  return &system == &tensorflow1() && file.program.empty() && find_mark(system, file) == nullptr;
}

const ForeignSystem& recognised_system(const ForeignFile& file) {
  const auto& systems = foreign_systems();
  const auto best = std::max_element(
      systems.begin(), systems.end(),
      [&](const auto* a, const auto* b) { return known_keys(*a, file) < known_keys(*b, file); });
  if (known_keys(**best, file) > 0) return **best;
  std::vector<std::string> names;
  for (const ForeignSystem* system : systems) names.push_back(system->name);
  throw_of_file(file,
                fmt::format("none of its keys is known to any of {}", fmt::join(names, ", ")));
}

const ForeignSystem& system_named(const std::string& id) {
  const auto& systems = foreign_systems();
  const auto found = std::find_if(systems.begin(), systems.end(),
                                  [&](const ForeignSystem* system) { return system->id == id; });
  if (found == systems.end()) throw_user_error("no system is called {}", id);
  return **found;
}

Conversion converted(const ForeignSystem& system, const ForeignFile& file) {
  try {
    Conversion conversion(system, file);
    conversion.finish();
    return conversion;
  } catch (const UserError& error) {
    throw_of_file(file, error.what());
  }
}

std::optional<ForeignFile> read_foreign_form(std::string_view comma_list) {
  const std::filesystem::path path = comma_list;
  std::error_code unknown;
  const bool is_list =
      comma_list.find(',') != std::string_view::npos && !std::filesystem::exists(path, unknown);
  const bool is_json = !is_list && path.extension() != ".yaml" && path.extension() != ".yml" &&
                       path.extension() != ".sh";
  if (is_json) {
    const auto config = formats::parse_json(platform::read_file(path));
    if (!config || !has_mark(*config)) return std::nullopt;
  }
  std::vector<std::filesystem::path> paths = {path};
  if (is_list) paths = platform::expand_paths(comma_list);
  return read_foreign_files(paths);
}

std::string summary(const ForeignSystem& system, const Conversion& conversion) {
  std::vector<std::string> taken, idle;
  for (const std::string& option : conversion.defaults()) {
    taken.push_back(option + " " + formats::json_line(conversion.options().at(option)));
  }
  for (const auto& [key, sentence] : conversion.sentences()) {
    if (sentence.starts_with("no effect")) idle.push_back(key);
  }
  std::string text = "a configuration of " + system.name;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("; {} {}", what, fmt::join(names, ", "));
  };
  add("this run takes that system's", taken);
  add("set by other options here:", conversion.pointed());
  add("no effect here:", idle);
  for (const std::string& remark : conversion.remarks()) text += "; " + remark;
  return text + "; cloze config import shows what becomes of each key";
}

}  // namespace cloze::configuration
