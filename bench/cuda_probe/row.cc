#include "row.h"

#include <cmath>
#include <cstdio>

namespace cloze::cuda_probe {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  }
  return result + "\"";
}

}  // namespace

Row::Row(const std::string& what) : text_("{\"what\": " + quoted(what)) {}

Row& Row::add_raw(const std::string& name, const std::string& value) {
  text_ += ", " + quoted(name) + ": " + value;
  return *this;
}

Row& Row::add(const std::string& name, const std::string& value) { return add_raw(name, quoted(value)); }

Row& Row::add(const std::string& name, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return add_raw(name, std::isfinite(value) ? digits : "null");
}

Row& Row::add(const std::string& name, int64_t value) { return add_raw(name, std::to_string(value)); }

Row& Row::add(const std::string& name, bool value) { return add_raw(name, value ? "true" : "false"); }

void Row::write() const {
  std::printf("%s\n", text().c_str());
  std::fflush(stdout);
}

}  // namespace cloze::cuda_probe
