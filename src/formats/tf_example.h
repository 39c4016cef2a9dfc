// TfExample: the payload of a training record, a list of named features, each a list of int64,
// float or bytes (tf.train.Example). Features keep the order in which they were added, so the
// same features give the same bytes.
// Errors: parse() returns a ParseError when the bytes are not an Example.
// Source: tensorflow/core/example/feature.proto; the wire form is in example.proto here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cloze::formats {

namespace wire {
class Example;
class Feature;
}  // namespace wire

class TfExample {
 public:
  TfExample();
  ~TfExample();
  TfExample(TfExample&&) noexcept;
  TfExample& operator=(TfExample&&) noexcept;

  static Result<TfExample> parse(std::span<const std::byte> payload);
  std::string serialize() const;

  // The values of a feature; nothing when there is none of that name and type. Views into this.
  // Of several features of one name the last one counts, as in every protobuf map.
  std::optional<std::span<const int64_t>> integers(std::string_view name) const;
  std::optional<std::span<const float>> floats(std::string_view name) const;
  std::vector<std::string> names() const;

  void add_integers(std::string_view name, std::span<const int32_t> values);
  void add_floats(std::string_view name, std::span<const float> values);

 private:
  const wire::Feature* find(std::string_view name) const;
  std::unique_ptr<wire::Example> message_;
};

}  // namespace cloze::formats
