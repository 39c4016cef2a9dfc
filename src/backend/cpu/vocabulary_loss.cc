// vocabulary_loss and its gradient by blocks of R predictions. The logits of a block are [V, R], so
// the table, the largest operand, is read row by row in place:
//
//   logits [V, R] = table x^T        the softmax of a chunk follows while it is in the cache
//
// and vocabulary_gradient.h turns them into the gradients, chunk by chunk again.
#include "ops/vocabulary_loss.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/native/vocabulary.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/vocabulary_gradient.h"
#include "backend/cpu/vocabulary_softmax.h"
#include "backend/cpu/workspace.h"

namespace cloze::backend::cpu {
namespace {

class SoftmaxSink final : public ProductSink {
 public:
  SoftmaxSink(VocabularySoftmax& softmax, bool keeps) : softmax_(softmax), keeps_(keeps) {}
  void take(const ProductBlock& block) override { softmax_.take_chunk(block, keeps_); }

 private:
  VocabularySoftmax& softmax_;
  bool keeps_;
};

// The products by our own vector kernels, of any dtype.
class VectorVocabulary {
 public:
  static constexpr int64_t kColumnStep = 16;  // what R is a multiple of

  explicit VectorVocabulary(const VocabularySizes& sizes)
      : sizes_(sizes), logits_(logits_shape(sizes)), gradient_(sizes) {}

  size_t workspace_bytes() const {
    if (!sizes_.has_gradient) return logits_.workspace_bytes();
    return std::max(logits_.workspace_bytes(), gradient_.workspace_bytes());
  }

  void compute_logits(const VocabularyBlock& block) const {
    SoftmaxSink sink(*block.softmax, sizes_.has_gradient);
    const int64_t H = sizes_.width;
    ProductCall call{sizes_.vocabulary, block.count, H, block.table, H, block.x, H};
    call.c = block.logits;
    call.c_stride = sizes_.columns;
    call.sink = &sink;
    call.workspace = block.workspace;
    logits_.run(call);
  }

  void compute_gradients(const VocabularyBlock& block) const { gradient_.run(block); }

 private:
  static ProductShape logits_shape(const VocabularySizes& sizes) {
    ProductShape shape{sizes.vocabulary, sizes.columns, sizes.width};
    shape.b_is_transposed = true;
    shape.a_dtype = shape.b_dtype = sizes.dtype;
    shape.rounds_a = sizes.dtype != DType::kF32;
    shape.block_rows = VocabularySoftmax::kChunkRows;
    shape.num_threads = sizes.num_threads;
    return shape;
  }

  VocabularySizes sizes_;
  Product logits_;
  VocabularyGradient gradient_;
};

using Loss = ops::VocabularyLoss;
using Gradient = ops::VocabularyLossGradient;
using LossWithGradient = ops::VocabularyLossWithGradient;

// The operator: where the inputs of the loss begin, and what it outputs.
struct Variant {
  size_t first_input = 0;
  bool has_loss = false;
  bool has_gradient = false;
};

Variant variant_of(const graph::OpDefinition& op) {
  if (&op == &ops::kVocabularyLoss) return {.has_loss = true};
  if (&op == &ops::kVocabularyLossGradient) return {Gradient::kX, false, true};
  return {LossWithGradient::kX, true, true};
}

// The tensors of one call.
struct Tensors {
  const char* x = nullptr;
  const float* table = nullptr;
  const int32_t* labels = nullptr;
  const float* bias = nullptr;     // null without one
  double scale = 0.0;              // of the gradient
  const float* weights = nullptr;  // of each prediction; null: 1
  char* dx = nullptr;
  float* dtable = nullptr;
  float* dbias = nullptr;  // null without one
  bool adds_dtable = false;
  bool adds_dbias = false;
};

struct BlockRange {
  int64_t begin = 0;
  int64_t count = 0;
};

template <class Products>
class VocabularyLoss final : public Kernel {
 public:
  explicit VocabularyLoss(const KernelRequest& request)
      : request_(request),
        variant_(variant_of(*request.op)),
        sizes_(sizes_of(request, variant_)),
        P_(request.inputs[variant_.first_input + Loss::kX].shape[0]),
        H_(sizes_.width),
        V_(sizes_.vocabulary),
        R_(sizes_.columns),
        products_(sizes_) {}

  size_t workspace_bytes() const override { return buffers(nullptr).bytes; }

  void run(const KernelArguments& arguments, Stream&) override {
    const Tensors t = tensors(arguments);
    int64_t used = P_;
    while (used > 0 && t.labels[used - 1] < 0) --used;
    if (variant_.has_gradient) clear_unused(t, used);
    const Buffers buffers = this->buffers(arguments.workspace.as<void>());
    VocabularySoftmax softmax(V_, R_, buffers.softmax);
    VocabularySoftmax::Sums sums;
    for (int64_t begin = 0; begin < used; begin += R_) {
      const BlockRange range{begin, std::min(R_, used - begin)};
      softmax.begin(range.count, t.labels + begin, t.bias);
      const VocabularyBlock block = block_of(t, range, softmax, buffers);
      products_.compute_logits(block);
      const VocabularySoftmax::Sums of_block =
          softmax.combine(t.scale, t.weights == nullptr ? nullptr : t.weights + begin);
      sums.loss += of_block.loss;
      sums.correct += of_block.correct;
      if (variant_.has_gradient) products_.compute_gradients(block);
    }
    if (variant_.has_loss) put_loss(arguments, sums);
  }

 private:
  static VocabularySizes sizes_of(const KernelRequest& request, const Variant& variant) {
    const graph::TensorType& x = request.inputs[variant.first_input + Loss::kX];
    return {.vocabulary = request.inputs[variant.first_input + Loss::kTable].shape[0],
            .columns = std::min(VocabularySoftmax::kMostColumns,
                                round_up(x.shape[0], Products::kColumnStep)),
            .width = x.shape[1],
            .dtype = x.dtype,
            .has_gradient = variant.has_gradient,
            .num_threads = host::threads_of(request)};
  }

  struct Buffers {
    float* logits = nullptr;  // of a block; null without a gradient
    void* softmax = nullptr;
    void* products = nullptr;
    size_t bytes = 0;
  };
  Buffers buffers(void* memory) const {
    Workspace workspace(memory);
    const auto take_bytes = [&](size_t bytes) {
      return workspace.take<char>(static_cast<int64_t>(bytes));
    };
    Buffers buffers;
    if (variant_.has_gradient) buffers.logits = workspace.take<float>(sizes_.logits_floats());
    buffers.softmax = take_bytes(VocabularySoftmax::workspace_bytes(V_, R_));
    buffers.products = take_bytes(products_.workspace_bytes());
    buffers.bytes = workspace.bytes();
    return buffers;
  }

  Tensors tensors(const KernelArguments& arguments) const {
    const size_t first = variant_.first_input;
    const bool has_bias = request_.inputs.size() > first + Loss::kBias;
    Tensors t;
    t.x = arguments.input<const char>(first + Loss::kX);
    t.table = arguments.input<const float>(first + Loss::kTable);
    t.labels = arguments.input<const int32_t>(first + Loss::kLabels);
    t.bias = has_bias ? arguments.input<const float>(first + Loss::kBias) : nullptr;
    if (has_weights()) t.weights = arguments.input<const float>(first + Loss::kNormalizer);
    if (!variant_.has_gradient) return t;
    t.scale = *arguments.input<const float>(Gradient::kDloss) * normalizer(arguments);
    const size_t first_output = variant_.has_loss ? size_t{LossWithGradient::kDx} : 0;
    t.dx = arguments.output<char>(first_output + Gradient::kDx);
    t.dtable = arguments.output<float>(first_output + Gradient::kDtable);
    t.adds_dtable = request_.accumulates[first_output + Gradient::kDtable];
    if (!has_bias) return t;
    t.dbias = arguments.output<float>(first_output + Gradient::kDbias);
    t.adds_dbias = request_.accumulates[first_output + Gradient::kDbias];
    return t;
  }

  bool has_weights() const {
    return request_.inputs[variant_.first_input + Loss::kNormalizer].shape.elements() > 1;
  }
  // Of all predictions together.
  double normalizer(const KernelArguments& arguments) const {
    if (has_weights()) return 1.0;
    return *arguments.input<const float>(variant_.first_input + Loss::kNormalizer);
  }

  char* rows_of_dx(const Tensors& t, int64_t row) const {
    return t.dx + row * H_ * bytes_of(sizes_.dtype);
  }

  // No gradient flows from unused predictions; and without any used one, none at all.
  void clear_unused(const Tensors& t, int64_t used) const {
    std::fill(rows_of_dx(t, used), rows_of_dx(t, P_), 0);
    if (used > 0) return;
    if (!t.adds_dtable) std::fill_n(t.dtable, V_ * H_, 0.0f);
    if (t.dbias != nullptr && !t.adds_dbias) std::fill_n(t.dbias, V_, 0.0f);
  }

  VocabularyBlock block_of(const Tensors& t, const BlockRange& range, VocabularySoftmax& softmax,
                           const Buffers& buffers) const {
    const bool is_later = range.begin > 0;
    VocabularyBlock block{range.count, &softmax, buffers.logits};
    block.x = t.x + range.begin * H_ * bytes_of(sizes_.dtype);
    block.table = t.table;
    block.workspace = buffers.products;
    if (!variant_.has_gradient) return block;
    block.dx = rows_of_dx(t, range.begin);
    block.dtable = t.dtable;
    block.dbias = t.dbias;
    block.adds_dtable = t.adds_dtable || is_later;
    block.adds_dbias = t.adds_dbias || is_later;
    return block;
  }

  void put_loss(const KernelArguments& arguments, const VocabularySoftmax::Sums& sums) const {
    const double values[] = {sums.loss * normalizer(arguments), sums.correct};
    for (size_t i = 0; i < 2; ++i) {
      float* to = arguments.output<float>(i);
      *to = static_cast<float>(values[i] + (request_.accumulates[i] ? *to : 0.0f));
    }
  }

  KernelRequest request_;
  Variant variant_;
  VocabularySizes sizes_;
  int64_t P_, H_, V_, R_;
  Products products_;
};

using VectorLoss = VocabularyLoss<VectorVocabulary>;
using NativeLoss = VocabularyLoss<NativeVocabulary>;

constexpr KernelRow kRows[] = {
    {&ops::kVocabularyLoss, "native_bf16", refuse_unless_native_bf16, create_kernel<NativeLoss>},
    {&ops::kVocabularyLossGradient, "native_bf16", refuse_unless_native_bf16<Gradient::kX>,
     create_kernel<NativeLoss>},
    {&ops::kVocabularyLossWithGradient, "native_bf16",
     refuse_unless_native_bf16<LossWithGradient::kX>, create_kernel<NativeLoss>},
    {&ops::kVocabularyLoss, "blocked", refuse_other_storage, create_kernel<VectorLoss>},
    {&ops::kVocabularyLossGradient, "blocked", refuse_other_storage<Gradient::kX>,
     create_kernel<VectorLoss>},
    {&ops::kVocabularyLossWithGradient, "blocked", refuse_other_storage<LossWithGradient::kX>,
     create_kernel<VectorLoss>},
};

}  // namespace

KernelTable vocabulary_loss_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
