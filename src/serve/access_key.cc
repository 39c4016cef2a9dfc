#include "serve/access_key.h"

#include <cstddef>
#include <optional>

#include "text/ascii.h"

namespace cloze::serve {
namespace {

// Looks at every byte of what was sent, whatever the first that differs.
bool are_same(std::string_view sent, std::string_view key) {
  unsigned difference = sent.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < sent.size(); ++i) {
    difference |=
        static_cast<unsigned char>(sent[i]) ^ static_cast<unsigned char>(key[i % key.size()]);
  }
  return difference == 0;
}

}  // namespace

bool has_key(const RequestHead& head, std::string_view key) {
  constexpr std::string_view kScheme = "bearer ";
  const std::optional<std::string_view> field = head.field("Authorization");
  if (!field || head.count("Authorization") > 1) return false;
  if (text::lower_ascii(field->substr(0, kScheme.size())) != kScheme) return false;
  return are_same(text::trim_ascii(field->substr(kScheme.size())), key);
}

}  // namespace cloze::serve
