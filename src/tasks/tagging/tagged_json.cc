#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "tasks/labelled/label_file.h"
#include "tasks/tagging/tagged_forms.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

using formats::Json;

// Names of members, the likeliest first.
constexpr std::string_view kWordNames[] = {"tokens", "words"};
constexpr std::string_view kTagNames[] = {"ner_tags", "tags", "labels", "pos_tags", "upos"};
constexpr int64_t kNoTag = -100;  // PyTorch's ignored label

std::string known_name(const Json& object, std::span<const std::string_view> names) {
  const auto found =
      std::ranges::find_if(names, [&](std::string_view name) { return object.contains(name); });
  return found == names.end() ? "" : std::string(*found);
}

std::string names_of(const Json& object) {
  std::vector<std::string> names;
  for (const formats::JsonMember& member : object.items()) names.push_back(member.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

class JsonReader {
 public:
  explicit JsonReader(TaggedText& text) : text_(text), columns_(text.columns) {}

  void read(const Json& object, int64_t line) {
    line_ = line;
    if (std::exchange(is_first_, false)) settle(object);
    TaggedWords sentence{.line = line};
    const Json& words = list_in(object, columns_.word);
    for (const Json& word : words) sentence.words.push_back(word_of(word));
    if (columns_.tag.empty()) {
      if (const std::string tags = known_name(object, kTagNames); !tags.empty()) {
        refuse(fmt::format(
            "has {}, but the first object has no tags; give all of them tags, or none", tags));
      }
      sentence.tags.resize(sentence.words.size());
    } else {
      for (const Json& tag : list_in(object, columns_.tag)) sentence.tags.push_back(tag_of(tag));
    }
    if (sentence.tags.size() != sentence.words.size()) {
      refuse(fmt::format("{} {} for {} {}; give each word one", sentence.tags.size(), columns_.tag,
                         sentence.words.size(), columns_.word));
    }
    if (sentence.words.empty()) {
      ++text_.left_out["sentences without words"];
    } else {
      text_.sentences.push_back(std::move(sentence));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { refuse_line(text_.file, line_, what); }

  void settle(const Json& object) {
    require(object, columns_.word, "word_column");
    require(object, columns_.tag, "tag_column");
    if (columns_.word.empty()) columns_.word = known_name(object, kWordNames);
    if (columns_.tag.empty()) columns_.tag = known_name(object, kTagNames);
    if (columns_.word.empty()) {
      throw_user_error("{} has {}, but no {}; name that of the words with word_column",
                       text_.file.string(), names_of(object), fmt::join(kWordNames, " or "));
    }
    if (columns_.word == columns_.tag) {
      throw_user_error("{}: words and tags would both be {}; name two", text_.file.string(),
                       columns_.word);
    }
  }

  void require(const Json& object, const std::string& name, std::string_view option) const {
    if (name.empty() || object.contains(name)) return;
    throw_user_error("{} has no {}, which {} names; it has {}", text_.file.string(), name, option,
                     names_of(object));
  }

  const Json& list_in(const Json& object, const std::string& name) const {
    const Json* found = object.find(name);
    if (found == nullptr) {
      refuse(fmt::format("has no {}, unlike the first object; add it, as a list", name));
    }
    if (!found->is_array()) {
      refuse(fmt::format("{} is {}; it must be a list, with one entry for each word", name,
                         found->type_name()));
    }
    return *found;
  }

  std::string word_of(const Json& word) const {
    if (!word.is_string()) {
      refuse(fmt::format("a word in {} is {}; it must be a text in quotes", columns_.word,
                         word.dump()));
    }
    return word.get<std::string>();
  }

  std::string tag_of(const Json& tag) {
    if (tag.is_null()) return "";
    if (tag.is_number_integer() && tag.get<int64_t>() == kNoTag) return "";
    if (!tag.is_string() && !tag.is_number_unsigned()) {
      refuse(fmt::format("a tag in {} is {}; it must be a name in quotes, or a number from 0",
                         columns_.tag, tag.dump()));
    }
    if (tag.is_string() ? has_numbers_ : has_names_) {
      refuse(fmt::format("the tag {} in {}, but others are {}; make all of them names", tag.dump(),
                         columns_.tag, has_numbers_ ? "numbers" : "names"));
    }
    (tag.is_string() ? has_names_ : has_numbers_) = true;
    return tag.is_string() ? name_of(tag.get<std::string>()) : name_of(tag.get<size_t>());
  }

  std::string name_of(std::string tag) const {
    if (tag.empty()) refuse(fmt::format("a tag in {} is empty; write O, or null", columns_.tag));
    if (!columns_.tag_names.empty()) {
      throw_user_error("tag_names gives names to numbers, but {} has the tag {}; leave it out",
                       text_.file.string(), tag);
    }
    return tag;
  }

  std::string name_of(size_t number) const {
    const std::vector<std::string>& names = columns_.tag_names;
    if (names.empty()) return std::to_string(number);
    if (number >= names.size()) {
      refuse(fmt::format("the tag {} in {}, but tag_names has names for 0 to {}", number,
                         columns_.tag, names.size() - 1));
    }
    return names[number];
  }

  TaggedText& text_;
  TaggedColumns& columns_;
  bool is_first_ = true;
  bool has_names_ = false, has_numbers_ = false;
  int64_t line_ = 0;
};

}  // namespace

// The words "{" and "[" may begin a file of columns.
bool is_tagged_json(std::string_view text) {
  text = text::trim_ascii(text);
  const char first = text.empty() ? ' ' : text.front();
  if (first != '{' && first != '[') return false;
  text = text::trim_ascii(text.substr(1));
  const char second = text.empty() ? ' ' : text.front();
  return first == '{' ? second == '"' || second == '}' : second == '{' || second == ']';
}

void read_tagged_json(std::string_view bytes, TaggedText& text) {
  text.form = "JSON";
  JsonReader reader(text);
  for_each_json_object(bytes, text.file,
                       [&](const Json& object, int64_t line) { reader.read(object, line); });
}

}  // namespace cloze::tasks
