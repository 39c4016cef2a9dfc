#include "configuration/import.h"
#include "formats/json.h"

namespace cloze::configuration {
namespace {

using formats::Json;

std::string task_of(const Conversion& c) {
  if (c.text("task") == "SQUAD") return "SQuAD";
  return c.text("task") == "MRPC" ? "GLUE" : "pretraining";
}

void convert_batch(Conversion& c) {
  const int64_t packs = c.count("batch_size", 1);
  const int64_t product = checked_product(
      {packs, c.count("avg_seq_per_pack", 1), c.count("gradient_accumulation_factor", 1),
       c.count("replication_factor", 1), c.count("batch_serialize", 1)});
  c.set("micro_batch_size", packs, {"batch_size"}, ", packs in one pass");
  const std::string key = "global_batch_size";
  if (c.has(key)) {
    const int64_t sequences = checked_product({c.count(key, 1), c.count("avg_seq_per_pack", 1)});
    return c.set(key, sequences, {key, "avg_seq_per_pack"}, ", packs * avg_seq_per_pack");
  }
  c.set(key, product,
        {"batch_size", "avg_seq_per_pack", "gradient_accumulation_factor", "replication_factor",
         "batch_serialize"},
        ", their product");
}

constexpr int64_t kMostSequences = 6'000'000;
constexpr double kMomentum = 0.984375;

// There, SGD's velocity takes 1 - dampening of each gradient, and dampening defaults to the
// momentum. Here it takes the whole gradient, so the factor goes into the rate.
double rate_factor(const Conversion& c) {
  const bool is_descent = !c.has("optimizer") || c.text("optimizer") == "SGD";
  return is_descent ? 1.0 - c.number("dampening", c.number("momentum", kMomentum)) : 1.0;
}

// Its decay begins at the end of the warm-up and takes num_training_steps.
void convert_bert_schedule(Conversion& c, int64_t ends_after) {
  const std::string key = "lr_bert_schedule";
  const Json& schedule = c.value(key);
  const auto steps = [&](const std::string& name, int64_t otherwise) {
    const Json value = schedule.value(name, Json(otherwise));
    return value == 0 ? 0 : checked_count(key + "." + name, value);
  };
  const int64_t warmup = steps("num_warmup_steps", 0);
  const Json rate = schedule.value("init_lr", Json(0.0));
  c.set("base_learning_rate", rate_factor(c) * checked_number(key + ".init_lr", rate), {key});
  c.set("num_train_steps", warmup + steps("num_training_steps", ends_after), {key});
  c.set("warmup", warmup, {key});
  for (const char* other : {"learning_rate", "lr_warmup_steps"}) {
    c.say(other, "lr_bert_schedule overrides it");
  }
}

// A schedule by step as an object; on the command line it is words such as 0:1e-4. What is neither
// stays as it is, and is refused as the value of the option.
Json by_step(const Conversion& c, const std::string& key) {
  const Json& given = c.value(key);
  if (!given.is_array() && !given.is_string()) return given;
  Json steps = Json::object();
  for (const Json& word : given.is_array() ? given : Json::array({given})) {
    const std::string text = word.is_string() ? word.get<std::string>() : "";
    const size_t colon = text.find(':');
    const auto number =
        formats::parse_json(colon == std::string::npos ? "" : text.substr(colon + 1));
    if (!number || !number->is_number()) return given;
    steps[text.substr(0, colon)] = *number;
  }
  return steps;
}

void convert_rates(Conversion& c) {
  const std::string key = "lr_schedule_by_step";
  Json rates = by_step(c, key);
  const double factor = rate_factor(c);
  const bool falls =
      c.value("lr_bert_schedule").is_object() || c.text("learning_rate_function") == "Linear";
  if (c.value("lr_bert_schedule").is_object()) {
    c.set_default("lr_schedule", "linear_held", "its last rate stays until the run ends");
  }
  c.set_default("lr_schedule", falls ? "linear" : c.has(key) ? "custom" : "constant");
  if (factor == 1.0) {
    if (c.has(key)) c.set(key, rates, {key});
    return;
  }
  c.say("dampening", "base_learning_rate is the rate * (1 - dampening)");
  if (!c.value("lr_bert_schedule").is_object()) {
    const double otherwise = c.system().defaults.at("base_learning_rate").get<double>();
    c.set("base_learning_rate", factor * c.number("learning_rate", otherwise), {"learning_rate"},
          ", the rate * (1 - dampening)");
  }
  if (!rates.is_object()) return;
  for (auto& [step, rate] : rates.items()) rate = factor * checked_number(key + "." + step, rate);
  c.set(key, rates, {key}, ", the rates * (1 - dampening)");
}

void convert_length(Conversion& c) {
  const std::string end = "max_training_sequences";
  const auto sequences = c.options().at("global_batch_size").get<int64_t>();
  const int64_t ends_after = c.count(end, kMostSequences) / sequences;
  if (c.task() == "pretraining") {
    c.set(end, c.count(end, kMostSequences), {end});
  } else {
    c.set("num_train_steps", ends_after, {end});
  }
  if (c.value("lr_bert_schedule").is_object()) convert_bert_schedule(c, ends_after);
  if (c.number("steps_per_save", 1) <= 0) c.say("steps_per_save", "says nothing");
}

void convert_loss_scale(Conversion& c) {
  const std::string key = "ls_schedule_by_step";
  if (!c.has(key)) return;
  c.set("loss_scaling_by_step", by_step(c, key), {key});
  c.say("loss_scaling", key + " overrides it");
}

void convert_intermediate_size(Conversion& c) {
  c.set_default("intermediate_size", 4 * c.count("hidden_size", 768));
}

}  // namespace

Computations mlperf_computations() {
  return {.task_of = task_of,
          .by_name = {{"batch", convert_batch},
                      {"length", convert_length},
                      {"rates", convert_rates},
                      {"loss scale", convert_loss_scale},
                      {"intermediate size", convert_intermediate_size}}};
}

}  // namespace cloze::configuration
