#include "checkpoints/hugging_face_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "checkpoints/key_reader.h"
#include "formats/json.h"
#include "models/bert_fields.h"

namespace cloze::checkpoints {
namespace {

using formats::Json;
using models::Activation, models::BertConfig, models::BertField, models::BertHead;
using models::FieldKind, models::HeadKind;

constexpr int64_t kMostLabels = 1'000'000;
constexpr std::string_view kRegression = "regression";
constexpr std::string_view kSingleLabel = "single_label_classification";
constexpr std::string_view kMultiLabel = "multi_label_classification";

void read_activation(const KeyReader& reader, const char* key, Activation& field) {
  std::string name(models::activation_name(field));
  reader.read(key, name);
  try {
    field = models::activation_named(name);
  } catch (const UserError& error) {
    throw_user_error("{}: {}", reader.source(), error.what());
  }
}

void add_classifier(const BertHead& head, formats::Json& text) {
  if (!head.traits().has_dropout) return;
  text["classifier_dropout"] = head.classifier_dropout;
  if (!head.task.empty()) text["finetuning_task"] = head.task;
  if (!head.traits().has_labels) return;
  if (head.kind == HeadKind::kSequenceClassification) text["problem_type"] = problem_type_of(head);
  add_label_names(head.labels, text);
}

constexpr std::string_view kGroupBert = "groupbert";
constexpr std::string_view kGroup = "Group";  // in front of the names of its classes

HeadKind head_kind_of(const Json& object, const std::string& source) {
  const auto name = architecture_in(object);
  if (!name) return HeadKind::kPretraining;
  if (const auto* head = models::head_of_architecture(*name)) return head->kind;
  std::vector<std::string_view> known;
  for (const models::HeadTraits& head : models::all_heads()) known.push_back(head.architecture);
  throw_user_error("{}: architectures names \"{}\"; known are {}", source, *name,
                   fmt::join(known, ", "));
}

// Says whether there is, or may be, a projection that words are tied to.
bool projects_onto_words(const Json& object) {
  const auto name = architecture_in(object);
  const auto* head = name ? models::head_of_architecture(*name) : nullptr;
  return head == nullptr || head->predicts_words();
}

std::vector<std::string> labels_of(const Json& object, const std::string& source) {
  const auto names = object.find("id2label");
  if (!names || !names->is_object() || names->empty()) {
    int64_t count = 2;
    KeyReader(object, source).read("num_labels", count);
    if (count < 1 || count > kMostLabels) {
      throw_user_error("{}: num_labels is {}; it must be 1 to {}", source, count, kMostLabels);
    }
    return numbered_labels(count);
  }
  std::vector<std::string> labels;
  for (size_t i = 0; i < names->size(); ++i) {
    const auto name = names->find(std::to_string(i));
    if (!name || !(name->is_string() || name->is_number())) {
      throw_user_error("{}: id2label has {} classes but no text for class {}", source,
                       names->size(), i);
    }
    std::string label = name->is_string() ? name->get<std::string>() : name->dump();
    if (std::ranges::count(labels, label) > 0) {
      throw_user_error("{}: id2label has {} twice; give each class a name of its own", source,
                       name->dump());
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

// Takes what the logits of sequences mean from the configuration, where it says it. Otherwise one
// label is a number, and several are one out of them.
void read_problem_type(const KeyReader& reader, const std::string& source, BertHead& head) {
  if (head.kind != HeadKind::kSequenceClassification) return;
  const std::string_view other = problem_type_of(head);
  std::string said(other);
  reader.read("problem_type", said);
  head.is_multi_label = said == kMultiLabel;
  if (head.is_multi_label || said == other) return;
  throw_user_error(
      "{}: problem_type is {} with {} labels; only {} and {} are supported for that many", source,
      said, head.labels.size(), other, kMultiLabel);
}

}  // namespace

std::string_view problem_type_of(const BertHead& head) {
  if (head.is_multi_label) return kMultiLabel;
  return head.is_regression() ? kRegression : kSingleLabel;
}

std::optional<std::string> architecture_in(const Json& object) {
  const auto names = object.find("architectures");
  if (!names || !names->is_array() || names->empty()) return std::nullopt;
  const Json& first = names->front();
  std::string name = first.is_string() ? first.get<std::string>() : formats::json_line(first);
  if (name.starts_with(kGroup)) name.erase(0, kGroup.size());
  return name;
}

std::vector<std::string> numbered_labels(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("LABEL_{}", i));
  return labels;
}

void add_label_names(std::span<const std::string> labels, Json& config) {
  config["id2label"] = Json::object();
  config["label2id"] = Json::object();
  for (size_t i = 0; i < labels.size(); ++i) {
    config["id2label"][std::to_string(i)] = labels[i];
    config["label2id"][labels[i]] = i;
  }
}

std::string class_name(const BertConfig& config, std::string_view class_of_bert) {
  return std::string(config.groupbert ? kGroup : "").append(class_of_bert);
}

std::string hugging_face_config_text(const BertConfig& config, const BertHead& head,
                                     std::string_view dtype, int32_t pad_id) {
  const std::string name = class_name(config, head.traits().architecture);
  formats::Json text{{"architectures", {name}},
                     {"model_type", config.groupbert ? kGroupBert : "bert"}};
  for (const BertField& field : models::bert_fields()) {
    if (field.kind == FieldKind::kVariant) {
      if (config.groupbert && field.short_name != nullptr) {
        text[field.short_name] = models::field_value(config, field);
      }
    } else if (field.kind != FieldKind::kSwitch) {
      text[field.name] = models::field_value(config, field);
    }
  }
  text.update({{"pad_token_id", pad_id},
               {"position_embedding_type", "absolute"},
               {"tie_word_embeddings", true},
               {"use_cache", true},
               {"classifier_dropout", nullptr},
               {"torch_dtype", dtype}});
  for (const BertField& field : models::bert_fields()) {
    if (field.kind == FieldKind::kSwitch && models::field_value(config, field) == false) {
      text[field.name] = false;
    }
  }
  add_classifier(head, text);
  return formats::json_text(text);
}

std::string google_config_text(const BertConfig& config) {
  std::map<std::string, formats::Json> text;  // in alphabetical order, as theirs
  for (const BertField& field : models::bert_fields()) {
    const bool is_plain =
        field.kind != FieldKind::kSwitch && (field.kind != FieldKind::kVariant || config.groupbert);
    if (is_plain) text[field.name] = models::field_value(config, field);
  }
  text["hidden_act"] = "gelu";
  if (config.layer_norm_eps == kGoogleEpsilon) text.erase("layer_norm_eps");
  return formats::json_text(text);
}

BertConfig bert_config_from_json(const Json& object, const std::string& source) {
  if (!object.is_object()) throw_user_error("{}: not a JSON object", source);
  const KeyReader reader(object, source);
  std::string model_type = "bert";
  reader.read("model_type", model_type);
  const bool is_groupbert = model_type == kGroupBert;
  if (!is_groupbert && model_type != "bert") {
    throw_user_error("{}: model_type is \"{}\"; supported are \"bert\" and \"{}\"", source,
                     model_type, kGroupBert);
  }
  reader.require<std::string>("position_embedding_type", "absolute");
  reader.require("is_decoder", false);
  if (projects_onto_words(object)) reader.require("tie_word_embeddings", true);

  BertConfig config{.groupbert = is_groupbert, .groupbert_conv_bias = is_groupbert};
  for (const BertField& field : models::bert_fields()) {
    const char* key = is_groupbert && field.short_name != nullptr ? field.short_name : field.name;
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), Activation BertConfig::*>) {
            read_activation(reader, key, config.*member);
          } else {
            reader.read(key, config.*member);
          }
        },
        field.member);
  }
  try {
    config.validate();
  } catch (const UserError& error) {
    throw_user_error("{}: {}", source, error.what());
  }
  return config;
}

BertConfig read_hugging_face_config(const std::filesystem::path& path) {
  return bert_config_from_json(formats::read_json_file(path), path.string());
}

BertHead bert_head_from_json(const Json& object, const std::string& source) {
  BertHead head{.kind = head_kind_of(object, source)};
  if (!head.traits().has_dropout) return head;
  const KeyReader reader(object, source);
  if (head.traits().has_labels) head.labels = labels_of(object, source);
  read_problem_type(reader, source, head);
  reader.read("hidden_dropout_prob", head.classifier_dropout);
  reader.read("classifier_dropout", head.classifier_dropout);
  reader.read("finetuning_task", head.task);
  return head;
}

BertHead read_hugging_face_head(const std::filesystem::path& path) {
  return bert_head_from_json(formats::read_json_file(path), path.string());
}

}  // namespace cloze::checkpoints
