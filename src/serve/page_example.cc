#include "serve/page_example.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "text/ascii.h"

namespace cloze::serve {
namespace {

namespace fs = std::filesystem;
using formats::Json;

struct Example {
  std::string first, second;  // as an Input has them
  std::string answer;
  std::vector<std::string> list = {};
};

constexpr const char* kParagraph =
    "The town of New Stavewick has existed since 1775. The doctor of New Stavewick is called Bruno "
    "Holworth. Whoever wants good horseshoes goes to New Stavewick. The mill in New Stavewick "
    "belongs to Theo Melcroft. Singers come to New Stavewick for the festival of boats.";

std::vector<Example> known_examples(const std::string& path) {
  if (path == "/answer") {
    return {{"Who grinds the grain in New Stavewick?", kParagraph, "Theo Melcroft"},
            {"In which year was New Stavewick founded?", kParagraph, "1775"}};
  }
  if (path == "/fill") {
    return {{"Paris is the capital of [MASK].", "", "france"},
            {"The cow gives [MASK].", "", "milk"},
            {"A gosling followed the [MASK] into the yard.", "", "goose"},
            {"The apple in Stavebury is [MASK], not sour.", "", "sweet"},
            {"On Friday the sow had a [MASK].", "", "piglet"}};
  }
  return {};
}

// The example in a file, which fine-tuning or a user wrote; none where it has another form.
std::optional<Example> stored_example(const fs::path& file, const HeadService& head) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return std::nullopt;
  const auto stored = formats::parse_json(platform::read_file(file));
  if (!stored || !stored->is_object()) return std::nullopt;
  const auto text = [](const Json& object, const std::string& name) {
    const Json* found = object.find(name);
    return found && found->is_string() ? found->get<std::string>() : "";
  };
  const auto texts = [](const Json& object, const std::string& name) {
    std::vector<std::string> list;
    const Json* found = object.find(name);
    if (!found || !found->is_array()) return list;
    for (const Json& one : *found) {
      if (one.is_string()) list.push_back(one.get<std::string>());
    }
    return list;
  };
  const auto input = stored->value("input", formats::Json::object());
  if (!input.is_object()) return std::nullopt;
  return Example{text(input, head.form.first_field), text(input, head.form.second_field),
                 text(*stored, "answer"), texts(input, head.form.list_field)};
}

// All tags of a text, as tasks::tags_line() has them.
std::string tags_of(const Json& tags) {
  std::string line;
  for (const Json& one : tags) {
    line += (line.empty() ? "" : ", ") + one.value("tag", "") + " " + one.value("text", "");
  }
  return line;
}

// The answer, word, class or choice that an output has first; of tags all.
std::string best_of(const Json& output, const Example& example) {
  if (output.contains("choice")) return example.list.at(output["choice"].get<size_t>());
  const auto first = [](const Json& list) { return list.empty() ? Json::object() : list.front(); };
  if (output.contains("answers")) return first(output["answers"]).value("text", "");
  if (output.contains("tags")) return tags_of(output["tags"]);
  if (output.contains("classes")) return first(output["classes"]).value("label", "");
  const Json blank = first(output.value("blanks", Json::array()));
  return first(blank.value("candidates", Json::array())).value("token", "");
}

bool is_answered_right(const HeadService& head, const Example& example) {
  const std::string mode(head.form.modes.empty() ? "" : head.form.modes.front());
  const Input input{.first = example.first,
                    .second = example.second,
                    .list = example.list,
                    .mode = mode,
                    .top_k = 1};
  try {
    const auto answers = head.handler(std::span(&input, 1));
    return text::lower_ascii(best_of(answers[0].value, example)) ==
           text::lower_ascii(example.answer);
  } catch (const UserError&) {  // longer than this model takes, or its logits are not finite
    return false;
  }
}

}  // namespace

std::optional<Json> page_example(const HeadService& head, const fs::path& model) {
  std::vector<Example> examples;
  const fs::path whole = fs::weakly_canonical(model);
  for (const fs::path& folder : {whole, whole.parent_path()}) {
    if (const auto stored = stored_example(folder / "example.json", head)) {
      examples.push_back(*stored);
    }
  }
  std::ranges::move(known_examples(head.form.path), std::back_inserter(examples));
  for (const Example& one : examples) {
    if (one.answer.empty() || !is_answered_right(head, one)) continue;
    Json input = {{head.form.first_field, one.first}};
    if (!one.second.empty()) input[head.form.second_field] = one.second;
    if (!one.list.empty()) input[head.form.list_field] = one.list;
    return input;
  }
  return std::nullopt;
}

}  // namespace cloze::serve
