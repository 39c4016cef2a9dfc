#include "models/bert_config.h"

#include "base/error.h"
#include "models/bert_fields.h"

namespace cloze::models {
namespace {

void check(const BertField& field, int64_t value) {
  if (value <= 0) throw_user_error("{} is {}; it must be at least 1", field.name, value);
  if (value > field.most) {
    throw_user_error("{} is {}; it must be at most {}", field.name, value, field.most);
  }
}

void check(const BertField& field, double value) {
  if (field.may_be_zero && !(value >= 0.0 && value < 1.0)) {
    throw_user_error("{} is {}; it must be in [0, 1)", field.name, value);
  }
  if (!field.may_be_zero && !(value > 0.0)) {
    throw_user_error("{} is {}; it must be above 0", field.name, value);
  }
}

}  // namespace

void BertConfig::validate() const {
  for (const BertField& field : bert_fields()) {
    std::visit(
        [&](auto member) {
          if constexpr (requires { check(field, this->*member); }) check(field, this->*member);
        },
        field.member);
  }
  if (hidden_size % num_attention_heads != 0) {
    throw_user_error(
        "hidden_size {} is not divisible by num_attention_heads {}; choose a multiple of it",
        hidden_size, num_attention_heads);
  }
}

}  // namespace cloze::models
