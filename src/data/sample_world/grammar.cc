#include "data/sample_world/grammar.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::data {
namespace {

bool takes_an(std::string_view word) {
  return !word.empty() && std::string_view("aeiouAEIOU").find(word[0]) != std::string_view::npos;
}

class Expander {
 public:
  Expander(std::string_view source, const Slots& slots, PhiloxStream& stream)
      : source_(source), slots_(slots), stream_(stream) {}

  std::vector<Sentence> run() {
    expand(source_);
    for (Sentence& sentence : sentences_) {
      char& first = sentence.text.at(0);
      if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
    }
    return std::move(sentences_);
  }

 private:
  void expand(std::string_view text) {
    while (!text.empty()) {
      const size_t plain = std::min(text.find_first_of("{<(\n"), text.size());
      current().text += text.substr(0, plain);
      text.remove_prefix(plain);
      if (text.empty()) return;
      expand_mark(text);
    }
  }

  // Expands the mark that the text begins with, and takes it off the text.
  void expand_mark(std::string_view& text) {
    switch (text[0]) {
      case '{':
        return put_slot(take_bracketed(text, '}'));
      case '<':
        return put_blank(take_bracketed(text, '>'));
      case '(':
        return expand(draw_alternative(take_bracketed(text, ')')));
      default:
        sentences_.emplace_back();
        text.remove_prefix(1);
    }
  }

  std::string_view take_bracketed(std::string_view& text, char close) const {
    const size_t end = text.find(close);
    CLOZE_CHECK(end != std::string_view::npos, "template \"{}\" lacks a '{}'", source_, close);
    const std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inside;
  }

  std::string_view draw_alternative(std::string_view choice) {
    const auto bars = std::count(choice.begin(), choice.end(), '|');
    for (uint32_t skip = stream_.below(static_cast<uint32_t>(bars) + 1); skip > 0; --skip) {
      choice.remove_prefix(choice.find('|') + 1);
    }
    return choice.substr(0, choice.find('|'));
  }

  void put_slot(std::string_view mark) {
    const bool has_article = mark.starts_with("a ");
    if (has_article) mark.remove_prefix(2);
    const bool is_blankable = mark.starts_with("*");
    if (is_blankable) mark.remove_prefix(1);
    const auto slot = slots_.find(mark);
    CLOZE_CHECK(slot != slots_.end(), "template \"{}\" names unknown slot \"{}\"", source_, mark);
    if (has_article) current().text += takes_an(slot->second) ? "an " : "a ";
    if (is_blankable) return put_blank(slot->second);
    current().text += slot->second;
  }

  void put_blank(std::string_view word) {
    current().blanks.push_back({current().text.size(), word.size()});
    current().text += word;
  }

  Sentence& current() { return sentences_.back(); }

  std::string_view source_;
  const Slots& slots_;
  PhiloxStream& stream_;
  std::vector<Sentence> sentences_{1};
};

}  // namespace

std::vector<Sentence> expand_template(std::string_view source, const Slots& slots,
                                      PhiloxStream& stream) {
  return Expander(source, slots, stream).run();
}

}  // namespace cloze::data
