#include "formats/tf_example.h"

#include "example.pb.h"

namespace cloze::formats {

TfExample::TfExample() : message_(std::make_unique<wire::Example>()) {}
TfExample::~TfExample() = default;
TfExample::TfExample(TfExample&&) noexcept = default;
TfExample& TfExample::operator=(TfExample&&) noexcept = default;

Result<TfExample> TfExample::parse(std::span<const std::byte> payload) {
  TfExample example;
  if (!example.message_->ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return ParseError{"the bytes are not a tf.train.Example", 0};
  }
  return example;
}

std::string TfExample::serialize() const { return message_->SerializeAsString(); }

const wire::Feature* TfExample::find(std::string_view name) const {
  const auto& features = message_->features().feature();
  for (auto feature = features.rbegin(); feature != features.rend(); ++feature) {
    if (feature->key() == name) return &feature->value();
  }
  return nullptr;
}

std::optional<std::span<const int64_t>> TfExample::integers(std::string_view name) const {
  const wire::Feature* feature = find(name);
  if (feature == nullptr || !feature->has_int64_list()) return std::nullopt;
  const auto& values = feature->int64_list().value();
  return std::span<const int64_t>(values.data(), static_cast<size_t>(values.size()));
}

std::optional<std::span<const float>> TfExample::floats(std::string_view name) const {
  const wire::Feature* feature = find(name);
  if (feature == nullptr || !feature->has_float_list()) return std::nullopt;
  const auto& values = feature->float_list().value();
  return std::span<const float>(values.data(), static_cast<size_t>(values.size()));
}

std::vector<std::string> TfExample::names() const {
  std::vector<std::string> names;
  for (const auto& feature : message_->features().feature()) names.push_back(feature.key());
  return names;
}

void TfExample::add_integers(std::string_view name, std::span<const int32_t> values) {
  wire::NamedFeature* feature = message_->mutable_features()->add_feature();
  feature->set_key(name.data(), name.size());
  auto* list = feature->mutable_value()->mutable_int64_list()->mutable_value();
  list->Assign(values.begin(), values.end());
}

void TfExample::add_floats(std::string_view name, std::span<const float> values) {
  wire::NamedFeature* feature = message_->mutable_features()->add_feature();
  feature->set_key(name.data(), name.size());
  feature->mutable_value()->mutable_float_list()->mutable_value()->Assign(values.begin(),
                                                                          values.end());
}

}  // namespace cloze::formats
