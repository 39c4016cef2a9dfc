// The mask that operators with dropout read: ops/dropout_mask.h.
#pragma once

#include "backend/reference/call.h"
#include "ops/dropout_mask.h"

namespace cloze::backend::reference {

// What the elements of one row are multiplied by: 0 or the scale of kept elements.
class DropoutRow {
 public:
  struct Place {
    uint32_t sample = 0;
    uint32_t row = 0;
    int64_t elements = 0;
  };

  DropoutRow() = default;  // keeps everything
  DropoutRow(double rate, const ops::DropoutKey& key, const Place& place)
      : threshold_(ops::dropout_threshold(rate)),
        scale_(ops::dropout_scale(rate)),
        key_(key),
        place_(place) {}

  double factor(int64_t element) const {
    if (threshold_ == 0) return 1.0;
    const uint32_t number =
        ops::dropout_number(key_, place_.sample, place_.row, place_.elements, element);
    return number >= threshold_ ? scale_ : 0.0;
  }

 private:
  uint32_t threshold_ = 0;
  double scale_ = 1.0;
  ops::DropoutKey key_;
  Place place_;
};

// The mask of rows of activations [T, H]: row t belongs to sample_ids[t], position_ids[t].
// The three inputs follow each other: sample_ids [T], position_ids [T], random_key [2]. They are
// not read when the rate is 0.
class ActivationDropout {
 public:
  template <typename Attributes>
  ActivationDropout(const Call& call, const Attributes& attributes, size_t first_input)
      : rate_(attributes.rate),
        site_(static_cast<uint32_t>(attributes.site)),
        sample_ids_(call.integers(first_input)),
        position_ids_(call.integers(first_input + 1)),
        random_key_(call.integers(first_input + 2)),
        elements_(call.input_shape(0)[1]) {}

  DropoutRow row(int64_t t) const {
    if (rate_ == 0.0) return {};
    return {rate_,
            {.seed = static_cast<uint32_t>(random_key_[0]),
             .step = static_cast<uint32_t>(random_key_[1]),
             .site = site_},
            {.sample = static_cast<uint32_t>(sample_ids_[t]),
             .row = static_cast<uint32_t>(position_ids_[t]),
             .elements = elements_}};
  }

 private:
  double rate_;
  uint32_t site_;
  const int32_t* sample_ids_;
  const int32_t* position_ids_;
  const int32_t* random_key_;
  int64_t elements_;
};

}  // namespace cloze::backend::reference
