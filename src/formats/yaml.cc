#include "formats/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <cctype>
#include <charconv>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"

namespace cloze::formats {
namespace {

struct Refusal {
  std::string message;
  YAML::Mark mark;
};

// All of `text` as a number; null when it is none.
template <typename Number>
Json number_in(std::string_view text, auto... form) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, form...);
  return error == std::errc() && end == text.data() + text.size() ? Json(value) : Json();
}

// Reads a number by the core schema: +12, 0x1F, 0o17, .5, 1., 1.e-4. Not a number and infinity are
// text, as JSON has neither.
Json number_of(std::string_view text) {
  if (text.starts_with("0x")) return number_in<uint64_t>(text.substr(2), 16);
  if (text.starts_with("0o")) return number_in<uint64_t>(text.substr(2), 8);
  std::string_view digits = text;
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  const bool is_number = !digits.empty() && (std::isdigit(static_cast<unsigned char>(digits[0])) ||
                                             (digits[0] == '.' && digits.size() > 1));
  if (!is_number) return nullptr;
  if (text[0] == '+') text.remove_prefix(1);
  const Json whole = number_in<int64_t>(text);
  return whole.is_null() ? number_in<double>(text) : whole;
}

Json plain_value(const std::string& text) {
  if (text.empty() || text == "~") return nullptr;
  if (text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  Json number = number_of(text);
  return number.is_null() ? Json(text) : number;
}

// Builds the value while the parser reads; no deeper than kMaxJsonDepth.
class Builder : public YAML::EventHandler {
 public:
  Json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(has_document_, true)) {
      throw Refusal{"a second document; give it a file of its own", mark};
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(nullptr, mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refusal{"an alias; write the value out", mark};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const bool is_key = !open_.empty() && open_.back().is_object() && keys_.back().empty();
    if (is_key) return begin_member(mark, value);
    add(tag == "!" ? Json(value) : plain_value(value), mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(Json::array(), mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(Json::object(), mark);
  }
  void OnMapEnd() override { close(); }

 private:
  void begin_member(const YAML::Mark& mark, const std::string& key) {
    if (key.empty()) throw Refusal{"an empty key", mark};
    if (open_.back().contains(key)) throw Refusal{"key \"" + key + "\" is given twice", mark};
    keys_.back() = key;
  }
  void open(Json value, const YAML::Mark& mark) {
    if (open_.size() == kMaxJsonDepth) throw Refusal{"nested too deeply", mark};
    open_.push_back(std::move(value));
    keys_.emplace_back();
    marks_.push_back(mark);
  }
  void close() {
    Json value = std::move(open_.back());
    const YAML::Mark mark = marks_.back();
    open_.pop_back();
    keys_.pop_back();
    marks_.pop_back();
    add(std::move(value), mark);
  }
  void add(Json value, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_array()) {
      open_.back().push_back(std::move(value));
    } else if (keys_.back().empty()) {
      throw Refusal{"a key that is not text", mark};
    } else {
      open_.back()[std::exchange(keys_.back(), "")] = std::move(value);
    }
  }

  Json root_;
  bool has_document_ = false;
  std::vector<Json> open_;
  std::vector<std::string> keys_;  // of each open map, the key whose value comes next
  std::vector<YAML::Mark> marks_;
};

uint64_t offset_of(const YAML::Mark& mark, std::string_view text) {
  return mark.is_null() ? 0 : std::min<uint64_t>(static_cast<uint64_t>(mark.pos), text.size());
}

}  // namespace

Result<Json> parse_yaml(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Builder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return ParseError{refusal.message, offset_of(refusal.mark, text)};
  } catch (const YAML::Exception& error) {
    return ParseError{error.msg, offset_of(error.mark, text)};
  }
  return builder.take();
}

}  // namespace cloze::formats
