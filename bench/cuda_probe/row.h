// A result: one JSON object on a line of its own, written to stdout at once.
#pragma once

#include <cstdint>
#include <string>

namespace cloze::cuda_probe {

class Row {
 public:
  // `what` names the question or the ceiling that the row belongs to.
  explicit Row(const std::string& what);

  Row& add(const std::string& name, const std::string& value);
  Row& add(const std::string& name, const char* value) { return add(name, std::string(value)); }
  Row& add(const std::string& name, double value);  // null where it is not finite
  Row& add(const std::string& name, int64_t value);
  Row& add(const std::string& name, int value) { return add(name, static_cast<int64_t>(value)); }
  Row& add(const std::string& name, bool value);

  std::string text() const { return text_ + "}"; }
  void write() const;

 private:
  Row& add_raw(const std::string& name, const std::string& value);

  std::string text_;
};

}  // namespace cloze::cuda_probe
