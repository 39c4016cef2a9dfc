#include "text/html_entities.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr size_t kLongestName = 10;

struct Entity {
  std::string_view name;
  char32_t code_point;
};

// Entities by name, in ASCII order.
constexpr Entity kEntities[] = {
    {"Aacute", 0xC1},  {"Agrave", 0xC0},   {"Aring", 0xC5},   {"Auml", 0xC4},    {"Ccedil", 0xC7},
    {"Delta", 0x394},  {"Eacute", 0xC9},   {"Gamma", 0x393},  {"Omega", 0x3A9},  {"Ouml", 0xD6},
    {"Prime", 0x2033}, {"Sigma", 0x3A3},   {"Uuml", 0xDC},    {"aacute", 0xE1},  {"acirc", 0xE2},
    {"aelig", 0xE6},   {"agrave", 0xE0},   {"alpha", 0x3B1},  {"amp", '&'},      {"apos", '\''},
    {"aring", 0xE5},   {"atilde", 0xE3},   {"auml", 0xE4},    {"beta", 0x3B2},   {"bull", 0x2022},
    {"ccedil", 0xE7},  {"cent", 0xA2},     {"copy", 0xA9},    {"deg", 0xB0},     {"delta", 0x3B4},
    {"divide", 0xF7},  {"eacute", 0xE9},   {"ecirc", 0xEA},   {"egrave", 0xE8},  {"emsp", 0x2003},
    {"ensp", 0x2002},  {"epsilon", 0x3B5}, {"eta", 0x3B7},    {"euml", 0xEB},    {"euro", 0x20AC},
    {"frac12", 0xBD},  {"frac14", 0xBC},   {"frac34", 0xBE},  {"gamma", 0x3B3},  {"ge", 0x2265},
    {"gt", '>'},       {"hellip", 0x2026}, {"iacute", 0xED},  {"icirc", 0xEE},   {"infin", 0x221E},
    {"iquest", 0xBF},  {"iuml", 0xEF},     {"lambda", 0x3BB}, {"laquo", 0xAB},   {"ldquo", 0x201C},
    {"le", 0x2264},    {"lsquo", 0x2018},  {"lt", '<'},       {"mdash", 0x2014}, {"micro", 0xB5},
    {"middot", 0xB7},  {"minus", 0x2212},  {"mu", 0x3BC},     {"nbsp", 0xA0},    {"ndash", 0x2013},
    {"ne", 0x2260},    {"ntilde", 0xF1},   {"oacute", 0xF3},  {"ocirc", 0xF4},   {"oelig", 0x153},
    {"omega", 0x3C9},  {"oslash", 0xF8},   {"ouml", 0xF6},    {"para", 0xB6},    {"phi", 0x3C6},
    {"pi", 0x3C0},     {"plusmn", 0xB1},   {"pound", 0xA3},   {"prime", 0x2032}, {"quot", '"'},
    {"raquo", 0xBB},   {"rarr", 0x2192},   {"rdquo", 0x201D}, {"reg", 0xAE},     {"rsquo", 0x2019},
    {"scaron", 0x161}, {"sect", 0xA7},     {"shy", 0xAD},     {"sigma", 0x3C3},  {"sup2", 0xB2},
    {"sup3", 0xB3},    {"szlig", 0xDF},    {"tau", 0x3C4},    {"theta", 0x3B8},  {"thinsp", 0x2009},
    {"times", 0xD7},   {"trade", 0x2122},  {"uacute", 0xFA},  {"ugrave", 0xF9},  {"uuml", 0xFC},
    {"yen", 0xA5},
};

static_assert(std::ranges::is_sorted(kEntities, {}, &Entity::name));

// 0 when there is no such character.
char32_t numbered(std::string_view digits) {
  const bool is_hexadecimal = digits.starts_with('x') || digits.starts_with('X');
  if (is_hexadecimal) digits.remove_prefix(1);
  uint32_t code_point = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                            code_point, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return 0;
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return is_surrogate || code_point > 0x10FFFF ? 0 : code_point;
}

char32_t named(std::string_view name) {
  const auto found = std::lower_bound(
      std::begin(kEntities), std::end(kEntities), name,
      [](const Entity& entity, std::string_view wanted) { return entity.name < wanted; });
  return found != std::end(kEntities) && found->name == name ? found->code_point : 0;
}

}  // namespace

std::string decode_html_entities(std::string_view text) {
  std::string decoded;
  while (true) {
    const size_t begin = std::min(text.find('&'), text.size());
    decoded += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) return decoded;
    const size_t end = text.substr(0, kLongestName).find(';');
    const std::string_view name =
        end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
    const char32_t code_point = name.starts_with('#') ? numbered(name.substr(1)) : named(name);
    if (code_point == 0) {
      decoded += '&';
      text.remove_prefix(1);
      continue;
    }
    append_utf8(code_point, decoded);
    text.remove_prefix(end + 1);
  }
}

}  // namespace cloze::text
