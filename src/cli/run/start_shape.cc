#include "cli/run/start_shape.h"

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_model.h"
#include "cli/console/say.h"
#include "cli/run/resolved_run.h"
#include "models/bert_fields.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// An option, its value here, and the start model's.
struct Difference {
  const models::BertField& field;
  std::string here, there;
  const std::string& origin;
};

// The vocabulary comes with the start model, and so does its size: configurations have that of the
// published one.
bool is_vocabulary_of_file(const Difference& other) {
  return other.field.name == std::string_view("vocab_size") && other.origin != kCommandLineOrigin;
}

void note_vocabulary(const Difference& other, const fs::path& path) {
  say("note: vocab_size is {}, as in {}, and not {} ({})\n", other.there, path.string(), other.here,
      other.origin);
}

[[noreturn]] void refuse_other_shape(const Difference& other, const fs::path& path) {
  const std::string advice =
      other.origin == kCommandLineOrigin
          ? "leave it out"
          : fmt::format("give {} {}", flag_name(other.field.name), other.there);
  throw_user_error("`{}` is {} ({}), but {} has {}; {}, or take another checkpoint",
                   other.field.name, other.here, other.origin, path.string(), other.there, advice);
}

// Graphcore's programs computed every checkpoint in their own way, and so do their files here.
void check_arithmetic(const Difference& other, const fs::path& path, OtherArithmetic arithmetic) {
  const bool is_graphcores = other.origin == configuration::tensorflow1().name;
  if (arithmetic == OtherArithmetic::kRefused && !is_graphcores) {
    throw_user_error("`{}` is {} ({}), but {} has {}; leave it out", other.field.name, other.here,
                     other.origin, path.string(), other.there);
  }
  say("note: {} was computed with {} {}, but this run uses {}\n", path.string(), other.field.name,
      other.there, other.here);
}

void check_difference(const Difference& other, const fs::path& path, OtherArithmetic arithmetic) {
  using enum models::FieldKind;
  const models::FieldKind kind = other.field.kind;
  if (kind == kSize || kind == kVariant) refuse_other_shape(other, path);
  if (kind == kArithmetic) check_arithmetic(other, path, arithmetic);
}

}  // namespace

models::BertConfig config_of_start(const fs::path& path, const models::BertConfig& wanted,
                                   const OptionTable& table, OtherArithmetic arithmetic) {
  models::BertConfig config =
      checkpoints::read_hugging_face_config(checkpoints::configuration_of(path));
  for (const models::BertField& field : models::bert_fields()) {
    if (!table.is_given(field.name)) continue;
    const Difference other{field, models::field_text(wanted, field),
                           models::field_text(config, field), table.origin(field.name)};
    if (other.here == other.there) continue;
    if (is_vocabulary_of_file(other)) {
      note_vocabulary(other, path);
      continue;
    }
    check_difference(other, path, arithmetic);
    std::visit([&](auto member) { config.*member = wanted.*member; }, field.member);
  }
  return config;
}

void fit_seq_length(RunOptions& options, const OptionTable& table) {
  const int64_t positions = options.model().max_position_embeddings;
  if (!table.is_given("seq_length") && options.seq_length > positions) {
    say("note: seq_length is {}, the positions of the model\n", positions);
    options.seq_length = positions;
  }
  validate_positions(options, "the checkpoint has no more; lower seq_length");
}

}  // namespace cloze::cli
