// The sample world's grammar: sentence templates with named slots, and the one function that
// expands them. A template is text with four marks:
//   {river}      the value of slot "river"
//   {a river}    the same after "a" or "an", whichever its first letter asks for
//   {*river}     the value, which a cloze item may blank out; <were> does so for a literal word
//   (old|new)    one of the alternatives, drawn at random; alternatives may hold slots, not choices
// A template may hold several sentences, one per line; each begins with a capital letter.
// Errors: InternalError for an unknown slot or an unclosed mark (templates are ours).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/philox.h"

namespace cloze::data {

// Slot name → value. The values must outlive the map.
using Slots = std::map<std::string, std::string_view, std::less<>>;

// A word that can be taken out: bytes [begin, begin + size) of its sentence.
struct Blank {
  size_t begin = 0;
  size_t size = 0;
};

struct Sentence {
  std::string text;
  std::vector<Blank> blanks;
};

// The sentences of one template, at least one. Choices are drawn from the stream, left to right.
std::vector<Sentence> expand_template(std::string_view source, const Slots& slots,
                                      PhiloxStream& stream);

}  // namespace cloze::data
