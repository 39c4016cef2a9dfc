// The fields of BertConfig as a table: code that reads, writes, checks or offers them goes through
// its rows. To add a field, add the member (bert_config.h) and a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/json.h"
#include "models/bert_config.h"

namespace cloze::models {

enum class FieldKind {
  kSize,        // gives tensors their shape: a checkpoint's is the model's
  kArithmetic,  // says how a layer computes; no tensor shows it
  kTraining,    // matters to training alone
  kStart,       // matters to start values alone
  kSwitch,      // takes a part out of the model; a plain BERT, as Google's form describes, has all
  kVariant,     // makes it another model, GroupBERT; a plain BERT has the default
};

using FieldMember = std::variant<int64_t BertConfig::*, double BertConfig::*, bool BertConfig::*,
                                 Activation BertConfig::*>;

struct BertField {
  const char* name;  // in config.json, of the option, in messages
  FieldKind kind;
  FieldMember member;
  const char* help;
  int64_t most = 0;                  // of a whole number; the least is 1
  bool may_be_zero = false;          // of a number below 1, which otherwise is above 0 in f32
  const char* short_name = nullptr;  // in the config.json of a GroupBERT, where it differs
};

// The fields in the order of config.json.
std::span<const BertField> bert_fields();

formats::Json field_value(const BertConfig& config, const BertField& field);
// The value as a message says it: text without quotes.
std::string field_text(const BertConfig& config, const BertField& field);

// "gelu" is the exact form; "gelu_new" and "gelu_pytorch_tanh" the tanh form. UserError for others.
Activation activation_named(std::string_view name);
std::string_view activation_name(Activation activation);
std::vector<std::string> activation_names();  // all that are known

}  // namespace cloze::models
