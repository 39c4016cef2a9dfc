#include "dataset.h"

#include <nanobind/stl/string.h>
#include <cloze_runtime.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "arrays.h"
#include "path_argument.h"

namespace cloze_python {
namespace {

using namespace nb::literals;
using Row = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;
using Rows = nb::ndarray<nb::numpy, int64_t, nb::ndim<2>>;
using Starts = nb::ndarray<nb::numpy, int32_t, nb::ndim<1>>;

constexpr int64_t kIgnored = -100;  // the label that torch's losses leave out

int32_t form_of(const std::string& next_sentence) {
  if (next_sentence == "random") return CLOZE_NEXT_RANDOM;
  if (next_sentence == "order") return CLOZE_NEXT_ORDER;
  if (next_sentence == "none") return CLOZE_NEXT_NONE;
  throw cloze_runtime::Error("next_sentence is \"" + next_sentence +
                             "\"; choose random, order or none");
}

struct TokenSamples {
  cloze_runtime::Dataset dataset;
  cloze_runtime::Drawing drawing;
};

// Numbers of a batch as torch takes them.
Row row_of(const cloze_runtime::Batches& batches, const char* name) {
  const std::vector<int32_t> numbers = batches.numbers(name);
  const auto row = new_array<Row, int64_t>({numbers.size()});
  std::copy(numbers.begin(), numbers.end(), row.data());
  return row;
}

// Labels of sentences, of which the library says -1 where there is none.
Row sentence_labels(const cloze_runtime::Batches& batches) {
  Row labels = row_of(batches, "next_sentence_labels");
  std::replace(labels.data(), labels.data() + labels.size(), int64_t{-1}, kIgnored);
  return labels;
}

Starts starts_of(const std::vector<int32_t>& numbers) {
  const auto starts = new_array<Starts, int32_t>({numbers.size()});
  std::copy(numbers.begin(), numbers.end(), starts.data());
  return starts;
}

// Rows of equal length from sequences that lie end to end.
class Padding {
 public:
  Padding(const std::vector<int32_t>& starts, size_t width) : starts_(starts), width_(width) {}

  size_t rows() const { return starts_.size() - 1; }
  size_t length(size_t row) const { return static_cast<size_t>(starts_[row + 1] - starts_[row]); }

  Rows filled(const std::vector<int32_t>& numbers) const {
    const auto all = new_array<Rows, int64_t>({rows(), width_});
    for (size_t row = 0; row < rows(); ++row) {
      std::copy_n(numbers.begin() + starts_[row], length(row), all.data() + row * width_);
    }
    return all;
  }

  Rows mask() const {
    const auto all = new_array<Rows, int64_t>({rows(), width_});
    for (size_t row = 0; row < rows(); ++row) {
      std::fill_n(all.data() + row * width_, length(row), 1);
    }
    return all;
  }

  // kIgnored wherever there is no label. The places ascend.
  Rows labels(const std::vector<int32_t>& places, const std::vector<int32_t>& labels) const {
    const auto all = new_array<Rows, int64_t>({rows(), width_});
    std::fill_n(all.data(), rows() * width_, kIgnored);
    size_t row = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      while (places[i] >= starts_[row + 1]) ++row;
      all.data()[row * width_ + static_cast<size_t>(places[i] - starts_[row])] = labels[i];
    }
    return all;
  }

 private:
  const std::vector<int32_t>& starts_;
  size_t width_;
};

class BatchIterator {
 public:
  BatchIterator(const TokenSamples& samples, int64_t batch_size, int64_t first_batch, bool packed,
                int threads)
      : batches_(samples.dataset, batch_size, first_batch, threads),
        width_(static_cast<size_t>(samples.drawing.seq_length)),
        has_pairs_(samples.drawing.next_sentence != CLOZE_NEXT_NONE),
        packed_(packed) {}

  nb::dict next() {
    {
      const nb::gil_scoped_release others_run;
      batches_.next();
    }
    nb::dict batch = packed_ ? packed() : padded();
    return batch;
  }

 private:
  nb::dict packed() const {
    nb::dict batch;
    for (const char* name :
         {"input_ids", "token_type_ids", "position_ids", "masked_positions", "masked_labels"}) {
      batch[name] = row_of(batches_, name);
    }
    batch["sequence_starts"] = starts_of(batches_.numbers("sequence_starts"));
    if (has_pairs_) batch["next_sentence_labels"] = sentence_labels(batches_);
    return batch;
  }

  nb::dict padded() const {
    const std::vector<int32_t> starts = batches_.numbers("sequence_starts");
    const Padding padding(starts, width_);
    nb::dict batch;
    batch["input_ids"] = padding.filled(batches_.numbers("input_ids"));
    batch["token_type_ids"] = padding.filled(batches_.numbers("token_type_ids"));
    batch["attention_mask"] = padding.mask();
    batch["labels"] =
        padding.labels(batches_.numbers("masked_positions"), batches_.numbers("masked_labels"));
    if (has_pairs_) batch["next_sentence_label"] = sentence_labels(batches_);
    return batch;
  }

  cloze_runtime::Batches batches_;
  size_t width_;
  bool has_pairs_, packed_;
};

void open(TokenSamples* own, const PathArgument& store, int64_t seq_length,
          int64_t max_predictions_per_seq, double mlm_prob, double short_seq_prob,
          bool do_whole_word_mask, const std::string& next_sentence, uint64_t seed) {
  const cloze_runtime::Drawing drawing{
      seq_length,         max_predictions_per_seq, mlm_prob, short_seq_prob,
      do_whole_word_mask, form_of(next_sentence),  seed};
  const nb::gil_scoped_release others_run;
  new (own) TokenSamples{cloze_runtime::Dataset(store.path.string(), drawing), drawing};
}

}  // namespace

void bind_dataset(nb::module_& module) {
  nb::class_<BatchIterator>(module, "BatchIterator", "One batch after the other, without end.")
      .def(
          "__iter__", [](nb::handle own) { return own; },
          nb::sig("def __iter__(self) -> BatchIterator"))
      .def("__next__", &BatchIterator::next,
           nb::sig("def __next__(self) -> dict[str, NDArray[numpy.int64] | NDArray[numpy.int32]]"));
  nb::class_<TokenSamples>(module, "TokenSamples", "The samples of a token store.")
      .def("__init__", &open, "store"_a, nb::kw_only(), "seq_length"_a, "max_predictions_per_seq"_a,
           "mlm_prob"_a, "short_seq_prob"_a, "do_whole_word_mask"_a, "next_sentence"_a, "seed"_a)
      .def("__len__", [](const TokenSamples& own) { return own.dataset.samples(); })
      .def(
          "batches",
          [](const TokenSamples& own, int64_t batch_size, int64_t first_batch, bool packed,
             int threads) { return BatchIterator(own, batch_size, first_batch, packed, threads); },
          nb::kw_only(), "batch_size"_a, "first_batch"_a, "packed"_a, "threads"_a);
}

}  // namespace cloze_python
