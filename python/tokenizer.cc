#include "tokenizer.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <cloze_runtime.hpp>

#include <algorithm>
#include <memory>

#include "arrays.h"
#include "character_places.h"
#include "path_argument.h"
#include "python_texts.h"

namespace cloze_python {
namespace {

using cloze_runtime::EncodeOptions;
using cloze_runtime::Tokenizer;
using namespace nb::literals;

template <class Element>
using Column = nb::ndarray<nb::numpy, const Element, nb::ndim<1>>;
using Offsets = nb::ndarray<nb::numpy, const int64_t, nb::shape<-1, 2>>;
using Matrix = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Ids = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Sequences laid end to end, with their places in characters.
struct Encoded {
  Tokenizer tokenizer;
  cloze_runtime::Encodings arrays;
  std::vector<int64_t>
      offsets;                  // [tokens, 2]: begin and end of each in its own text, in characters
  std::vector<int64_t> starts;  // [sequences + 1]: where each begins in the arrays

  size_t sequences() const { return starts.size() - 1; }
  size_t tokens() const { return static_cast<size_t>(starts.back()); }
};

// What Python has of one sequence.
struct OneEncoded {
  std::shared_ptr<Encoded> all;
  size_t number;

  size_t begin() const { return static_cast<size_t>(all->starts[number]); }
  size_t tokens() const { return static_cast<size_t>(all->starts[number + 1]) - begin(); }
};

// Arrays that Python reads where they lie; their owner is the object that is asked for them.
template <class Element>
Column<Element> column(const Element* begin, size_t size) {
  static const Element nothing = {};
  return Column<Element>(begin == nullptr ? &nothing : begin, {size}, nb::handle());
}

// An encoding's special tokens are bytes of 0 and 1, which NumPy's bool is too.
Column<bool> flags(const uint8_t* begin, size_t size) {
  static_assert(sizeof(bool) == sizeof(uint8_t));
  return column(reinterpret_cast<const bool*>(begin), size);
}

std::vector<int64_t> starts_of(const cloze_runtime::Encodings& arrays) {
  std::vector<int64_t> starts = {0};
  for (int64_t i = 0; i < arrays.sequences(); ++i) {
    starts.push_back(starts.back() + arrays.lengths()[i]);
  }
  return starts;
}

// The places of one sequence; special tokens have 0 and 0.
void convert_places(const Encoded& from, size_t number, std::string_view text,
                    std::string_view pair, std::vector<int64_t>& offsets) {
  CharacterPlaces places[] = {CharacterPlaces(text), CharacterPlaces(pair)};
  const uint8_t* special = from.arrays.special();
  const int32_t* types = from.arrays.types();
  const int64_t *begins = from.arrays.begins(), *ends = from.arrays.ends();
  const auto end = static_cast<size_t>(from.starts[number + 1]);
  for (auto i = static_cast<size_t>(from.starts[number]); i < end; ++i) {
    if (special[i] != 0) continue;
    CharacterPlaces& own = places[types[i]];
    offsets[2 * i] = own.of(begins[i]);
    offsets[2 * i + 1] = own.of(ends[i]);
  }
}

std::vector<int64_t> offsets_of(const Encoded& from, const PythonTexts& texts,
                                const PythonTexts& pairs) {
  std::vector<int64_t> offsets(2 * from.tokens());
  if (texts.is_ascii() && pairs.is_ascii()) {
    const int64_t *begins = from.arrays.begins(), *ends = from.arrays.ends();
    for (size_t i = 0; i < from.tokens(); ++i) {
      offsets[2 * i] = begins[i];
      offsets[2 * i + 1] = ends[i];
    }
    return offsets;
  }
  for (size_t i = 0; i < from.sequences(); ++i) {
    convert_places(from, i, texts.views()[i], pairs.size() == 0 ? "" : pairs.views()[i], offsets);
  }
  return offsets;
}

std::shared_ptr<Encoded> encoded(const Tokenizer& tokenizer, const PythonTexts& texts,
                                 const PythonTexts& pairs, const EncodeOptions& options) {
  const nb::gil_scoped_release others_run;
  auto made = std::make_shared<Encoded>(Encoded{tokenizer, {}, {}, {}});
  made->arrays = tokenizer.encode_together(texts.views(), pairs.views(), options);
  made->starts = starts_of(made->arrays);
  made->offsets = offsets_of(*made, texts, pairs);
  return made;
}

OneEncoded encode(const Tokenizer& tokenizer, const nb::str& text,
                  const std::optional<nb::str>& pair, int64_t max_tokens, bool special_tokens) {
  const PythonTexts texts(nb::make_tuple(text), "text");
  const PythonTexts pairs = pair ? PythonTexts(nb::make_tuple(*pair), "pair") : PythonTexts();
  return {encoded(tokenizer, texts, pairs, {max_tokens, special_tokens, 1}), 0};
}

std::shared_ptr<Encoded> encode_batch(const Tokenizer& tokenizer, const TextSequence& texts,
                                      const std::optional<TextSequence>& pairs, int64_t max_tokens,
                                      bool special_tokens, int threads) {
  return encoded(tokenizer, PythonTexts(texts, "text"), optional_texts(pairs, "pair"),
                 {max_tokens, special_tokens, threads});
}

// A sequence by its number, counted from the end where that is below 0.
OneEncoded item_of(const std::shared_ptr<Encoded>& all, int64_t number) {
  const auto count = static_cast<int64_t>(all->sequences());
  if (number < -count || number >= count) throw nb::index_error("no sequence has this number");
  return {all, static_cast<size_t>(number < 0 ? number + count : number)};
}

// Sequences as rows of equal length, as models take them that know no packing.
nb::typed<nb::dict, nb::str, Matrix> padded(const Encoded& all, int64_t length, int32_t fill) {
  const auto longest = std::max<int64_t>(
      length, all.sequences() == 0 ? 0
                                   : *std::max_element(all.arrays.lengths(),
                                                       all.arrays.lengths() + all.sequences()));
  if (length > 0 && longest > length) {
    throw nb::value_error(("a sequence has " + std::to_string(longest) +
                           " tokens and `length` is " + std::to_string(length) +
                           "; encode with max_tokens=" + std::to_string(length) +
                           ", or choose a larger length")
                              .c_str());
  }
  const auto width = static_cast<size_t>(longest);
  const Matrix ids = new_array<Matrix, int64_t>({all.sequences(), width});
  const Matrix types = new_array<Matrix, int64_t>({all.sequences(), width});
  const Matrix mask = new_array<Matrix, int64_t>({all.sequences(), width});
  std::fill_n(ids.data(), all.sequences() * width, fill);
  for (size_t row = 0; row < all.sequences(); ++row) {
    const auto begin = static_cast<size_t>(all.starts[row]);
    const auto tokens = static_cast<size_t>(all.starts[row + 1]) - begin;
    std::copy_n(all.arrays.ids() + begin, tokens, ids.data() + row * width);
    std::copy_n(all.arrays.types() + begin, tokens, types.data() + row * width);
    std::fill_n(mask.data() + row * width, tokens, 1);
  }
  nb::dict rows;
  rows["input_ids"] = ids;
  rows["token_type_ids"] = types;
  rows["attention_mask"] = mask;
  return rows;
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, const int32_t* ids, size_t count) {
  std::vector<std::string> tokens;
  tokens.reserve(count);
  for (size_t i = 0; i < count; ++i) tokens.push_back(tokenizer.token(ids[i]));
  return tokens;
}

std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids,
                   bool special_tokens) {
  return tokenizer.decode(ids, !special_tokens);
}

void bind_encoding(nb::module_& module) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<OneEncoded>(module, "Encoding", "One text, or a pair of texts, cut into tokens.")
      .def("__len__", &OneEncoded::tokens)
      .def_prop_ro(
          "ids",
          [](const OneEncoded& one) {
            return column(one.all->arrays.ids() + one.begin(), one.tokens());
          },
          inside, "[tokens] their numbers.")
      .def_prop_ro(
          "types",
          [](const OneEncoded& one) {
            return column(one.all->arrays.types() + one.begin(), one.tokens());
          },
          inside, "[tokens] 0 of the first text, 1 of the second.")
      .def_prop_ro(
          "special",
          [](const OneEncoded& one) {
            return flags(one.all->arrays.special() + one.begin(), one.tokens());
          },
          inside, "[tokens] whether it is a [CLS] or [SEP] that was added.")
      .def_prop_ro(
          "offsets",
          [](const OneEncoded& one) {
            return Offsets(one.all->offsets.data() + 2 * one.begin(), {one.tokens(), 2},
                           nb::handle());
          },
          inside,
          "[tokens, 2] where each begins and ends in its own text, in characters; 0 and 0 of "
          "special tokens.")
      .def_prop_ro(
          "tokens",
          [](const OneEncoded& one) {
            return tokens_of(one.all->tokenizer, one.all->arrays.ids() + one.begin(), one.tokens());
          },
          "The tokens as text.")
      .def_prop_ro(
          "cut", [](const OneEncoded& one) { return one.all->arrays.cut()[one.number]; },
          "Tokens that were too many.")
      .def("__repr__", [](const OneEncoded& one) {
        return nb::str("<cloze.Encoding of {} tokens>").format(one.tokens());
      });
}

void bind_encodings(nb::module_& module) {
  constexpr auto inside = nb::rv_policy::reference_internal;
  nb::class_<Encoded>(
      module, "Encodings",
      "Texts cut into tokens: their sequences laid end to end, and each by its number.")
      .def("__len__", &Encoded::sequences)
      .def("__getitem__", &item_of, "number"_a)
      .def_prop_ro(
          "ids", [](const Encoded& all) { return column(all.arrays.ids(), all.tokens()); }, inside,
          "[tokens] the numbers of all tokens.")
      .def_prop_ro(
          "types", [](const Encoded& all) { return column(all.arrays.types(), all.tokens()); },
          inside, "[tokens] 0 of first texts, 1 of second ones.")
      .def_prop_ro(
          "special", [](const Encoded& all) { return flags(all.arrays.special(), all.tokens()); },
          inside, "[tokens] whether it is a [CLS] or [SEP] that was added.")
      .def_prop_ro(
          "offsets",
          [](const Encoded& all) {
            return Offsets(all.offsets.data(), {all.tokens(), 2}, nb::handle());
          },
          inside,
          "[tokens, 2] where each begins and ends in its own text, in characters; 0 and 0 of "
          "special tokens.")
      .def_prop_ro(
          "lengths",
          [](const Encoded& all) { return column(all.arrays.lengths(), all.sequences()); }, inside,
          "[sequences] the tokens of each.")
      .def_prop_ro(
          "cut", [](const Encoded& all) { return column(all.arrays.cut(), all.sequences()); },
          inside, "[sequences] tokens that were too many.")
      .def("padded", &padded, "length"_a = 0, "fill"_a = 0,
           "input_ids, token_type_ids and attention_mask, [sequences, length] each; 0: as long as "
           "the longest. `fill` is the id after an end.")
      .def("__repr__", [](const Encoded& all) {
        return nb::str("<cloze.Encodings of {} sequences, {} tokens>")
            .format(all.sequences(), all.tokens());
      });
}

}  // namespace

void bind_tokenizer(nb::module_& module) {
  bind_encoding(module);
  bind_encodings(module);
  nb::class_<Tokenizer>(module, "Tokenizer", "WordPiece. Any number of threads may use one.")
      .def(
          "__init__",
          [](Tokenizer* own, const PathArgument& argument) {
            const nb::gil_scoped_release others_run;
            new (own) Tokenizer(argument.path.string());
          },
          "path"_a,
          "From a folder with a tokenizer, its vocab.txt or tokenizer.json, or a packed model.")
      .def("__len__", &Tokenizer::size)
      .def("encode", &encode, "text"_a, "pair"_a = nb::none(), nb::kw_only(), "max_tokens"_a = 0,
           "special_tokens"_a = true,
           "Cuts a text, or a pair of texts. What is longer than `max_tokens` is cut at its end, "
           "of a pair the longer text; 0: nothing is.")
      .def("encode_batch", &encode_batch, "texts"_a, "pairs"_a = nb::none(), nb::kw_only(),
           "max_tokens"_a = 0, "special_tokens"_a = true, "threads"_a = 1,
           "The same for many texts, shared by so many threads; 0: all processors.")
      .def(
          "decode",
          [](const Tokenizer& own, const Ids& ids, bool special_tokens) {
            return decode(own, {ids.data(), ids.data() + ids.size()}, special_tokens);
          },
          "ids"_a, nb::kw_only(), "special_tokens"_a = false,
          "The text of ids, as `tokenizers` decodes it.")
      .def("decode", &decode, "ids"_a, nb::kw_only(), "special_tokens"_a = false)
      .def("token", &Tokenizer::token, "id"_a, "The token of an id.")
      .def("id", &Tokenizer::id, "token"_a, "The id of a token.")
      .def(
          "count",
          [](const Tokenizer& own, const nb::str& text) {
            return own.count(PythonTexts(nb::make_tuple(text), "text").views()[0]);
          },
          "text"_a, "The number of a text's tokens, special ones not counted.")
      .def("__repr__", [](const Tokenizer& own) {
        return nb::str("<cloze.Tokenizer of {} tokens>").format(own.size());
      });
}

}  // namespace cloze_python
