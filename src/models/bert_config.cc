#include "models/bert_config.h"

#include <limits>
#include <string>
#include <utility>

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
  constexpr double kLeast = std::numeric_limits<float>::min();  // less is 0 in f32
  if (!field.may_be_zero && !(value >= kLeast)) {
    throw_user_error("{} is {}; it must be at least {:.2g}", field.name, value, kLeast);
  }
}

void check_divides(const char* divisor_name, int64_t divisor, const char* name, int64_t value) {
  if (value % divisor == 0) return;
  throw_user_error("{} {} is not divisible by {} {}; choose a multiple of it", name, value,
                   divisor_name, divisor);
}

// Options that a plain BERT would ignore are refused.
void check_plain(const BertConfig& config) {
  const BertConfig plain;
  for (const BertField& field : bert_fields()) {
    if (field.kind != FieldKind::kVariant) continue;
    const std::string value = field_text(config, field);
    if (value == field_text(plain, field)) continue;
    throw_user_error("{} is {}, but `groupbert` is false; set `groupbert` true or leave it out",
                     field.name, value);
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
  check_divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size);
  if (!groupbert) return check_plain(*this);
  for (const auto& [name, size] :
       {std::pair{"hidden_size", hidden_size}, std::pair{"intermediate_size", intermediate_size}}) {
    check_divides("groupbert_ffn_output_groups", groupbert_ffn_output_groups, name, size);
  }
  check_divides("groupbert_conv_group_size", groupbert_conv_group_size, "hidden_size", hidden_size);
  if (groupbert_conv_kernel_size % 2 == 0) {
    throw_user_error("groupbert_conv_kernel_size is {}; it must be odd",
                     groupbert_conv_kernel_size);
  }
}

}  // namespace cloze::models
