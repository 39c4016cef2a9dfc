// Logits are computed in blocks of rows, f32, in the workspace. A warp has a row of them.
#include "ops/vocabulary_loss.h"

#include <algorithm>

#include "backend/gpu/block_sums.h"
#include "backend/gpu/column_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/linear_product.h"
#include "backend/gpu/softmax_row.h"
#include "backend/gpu/vocabulary_rows.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

using Loss = ops::VocabularyLoss;
using Gradient = ops::VocabularyLossGradient;
using Both = ops::VocabularyLossWithGradient;

constexpr int kLossThreads = 256;

// Computes of each row of a block its loss, whether it is right, and the gradients of its logits.
template <typename T>
struct LogitRows {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const float> logits;  // [rows, stride]: of the block, without the bias
    Global<const float> bias;    // [words]; optional
    Global<const int32_t> labels;
    Global<const float> normalizer, dloss;
    Global<float> losses;              // [2, predictions]; optional
    Global<T> dlogits;                 // [rows, stride]; optional
    int64_t predictions, first, rows;  // the block's rows begin at prediction `first`
    int64_t stride;
    int32_t words;
    bool has_normalizers;  // one for each prediction
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t row = global_warp<LogitRows>();
    if (row >= in.rows) return;
    const int64_t at = row * in.stride;
    const int64_t p = in.first + row;
    const int32_t label = in.labels.load(p);
    if (label < 0) return ignore(in, at, p);
    const float normalizer = in.normalizer.load(in.has_normalizers ? p : 0);
    const auto logit = [&](int32_t v) {
      const float sum = in.logits.load(at + v);
      return in.bias ? sum + in.bias.load(v) : sum;
    };
    const SoftmaxRow softmax = softmax_row(in.words, label, logit);
    if (in.losses && lane() == 0) {
      in.losses.store(p, normalizer * softmax.loss(logit(label)));
      in.losses.store(in.predictions + p, softmax.first_largest == label ? 1.0f : 0.0f);
    }
    if (!in.dlogits) return;
    const float scale = in.dloss.load(0) * normalizer;
    for (int32_t v = lane(); v < in.words; v += kWarp) {
      in.dlogits.store(at + v, from_float<T>(scale * softmax.gradient(logit(v), v == label)));
    }
  }

 private:
  CLOZE_DEVICE static void ignore(const Arguments& in, int64_t at, int64_t p) {
    if (in.losses && lane() == 0) {
      in.losses.store(p, 0.0f);
      in.losses.store(in.predictions + p, 0.0f);
    }
    if (!in.dlogits) return;
    for (int32_t v = lane(); v < in.words; v += kWarp) {
      in.dlogits.store(at + v, from_float<T>(0.0f));
    }
  }
};

// One block adds what all rows lose, and counts those that are right.
struct SumRowLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const float> losses;  // [2, predictions]
    Global<float> loss, correct;
    int64_t predictions;
    bool adds_loss, adds_correct;
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};
    for (int64_t p = thread(); p < in.predictions; p += kThreads) {
      sums[0] += in.losses.load(p);
      sums[1] += in.losses.load(in.predictions + p);
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    in.loss.store(0, in.adds_loss ? in.loss.load(0) + sums[0] : sums[0]);
    in.correct.store(0, in.adds_correct ? in.correct.load(0) + sums[1] : sums[1]);
  }
};

// The sizes of a request, and the numbers of its inputs and outputs.
struct Head {
  explicit Head(const KernelRequest& request)
      : has_loss(request.op != &ops::kVocabularyLossGradient),
        has_gradient(request.op != &ops::kVocabularyLoss),
        first_input(has_gradient ? size_t{Gradient::kX} : 0),
        first_gradient(has_loss ? size_t{Both::kDx} : 0),
        predictions(request.inputs[input(Loss::kX)].shape[0]),
        hidden(request.inputs[input(Loss::kX)].shape[1]),
        words(request.inputs[input(Loss::kTable)].shape[0]) {}

  size_t input(Loss::Input i) const { return first_input + i; }
  size_t gradient(Gradient::Output i) const { return first_gradient + i; }
  int64_t block_rows() const { return std::min(predictions, kVocabularyRows); }
  // From one row of logits to the next: rows begin where a card reads them best.
  int64_t stride() const { return round_up(words, int64_t{64}); }

  bool has_loss, has_gradient;
  size_t first_input, first_gradient;
  int64_t predictions, hidden, words;
};

SummedShape summed_dlogits(const Head& head) { return {head.block_rows(), head.words}; }

struct Buffers {
  Buffers(const KernelRequest& request, const Head& head)
      : table(workspace.add<bf16>(rounded_elements(request, head.input(Loss::kTable)))),
        logits(workspace.add<float>(head.block_rows() * head.stride())),
        losses(workspace.add<float>(head.has_loss ? 2 * head.predictions : 0)) {
    if (!head.has_gradient) return;
    const int64_t elements = head.block_rows() * head.stride();
    dlogits = has_bf16(request) ? workspace.add<bf16>(elements) : workspace.add<float>(elements);
    if (request.outputs.size() <= head.gradient(Gradient::kDbias)) return;
    sums = workspace.add<float>(summed_dlogits(head).part_elements(1));
  }
  WorkspaceLayout workspace;
  int64_t table, logits, losses, dlogits = 0, sums = 0;
};

template <typename T>
class HeadRun {
 public:
  explicit HeadRun(const Call& call)
      : call_(call),
        head_(call.request()),
        buffers_(call.request(), head_),
        x_(call.input<T>(head_.input(Loss::kX))),
        table_(rounded_weight<T>(call, head_.input(Loss::kTable), buffers_.table)) {
    const int64_t elements = head_.block_rows() * head_.stride();
    logits_ = call.workspace<float>(buffers_.logits, elements);
    if (head_.has_gradient) dlogits_ = call.workspace<T>(buffers_.dlogits, elements);
    if (head_.has_loss) losses_ = call.workspace<float>(buffers_.losses, 2 * head_.predictions);
  }

  void run() const {
    for (int64_t first = 0; first < head_.predictions; first += kVocabularyRows) {
      const Rows rows{first, std::min(kVocabularyRows, head_.predictions - first)};
      compute_logits(rows);
      go_over_logits(rows);
      if (head_.has_gradient) add_gradients(rows);
    }
    if (!head_.has_loss) return;
    call_.launch<SumRowLosses>(
        {}, {call_.workspace<const float>(buffers_.losses, 2 * head_.predictions),
             call_.output<float>(Loss::kLoss), call_.output<float>(Loss::kCorrect),
             head_.predictions, call_.accumulates(Loss::kLoss), call_.accumulates(Loss::kCorrect)});
  }

 private:
  struct Rows {
    int64_t first, count;
  };

  MatrixLayout row_layout() const { return {.stride = head_.hidden}; }
  MatrixLayout logit_layout() const { return {.stride = head_.stride()}; }
  Matrix<const T> x_of(const Rows& rows) const {
    return {x_, row_layout(), rows.first * head_.hidden};
  }
  Global<const T> read_dlogits() const {
    return call_.workspace<const T>(buffers_.dlogits, head_.block_rows() * head_.stride());
  }

  void compute_logits(const Rows& rows) const {
    call_.multiply<T, float>({rows.count, head_.words, head_.hidden},
                             {x_of(rows),
                              {table_, {.stride = head_.hidden, .is_transposed = true}},
                              {logits_, logit_layout()}});
  }

  void go_over_logits(const Rows& rows) const {
    const size_t normalizer = head_.input(Loss::kNormalizer);
    call_.launch<LogitRows<T>>(
        {divide_up(rows.count, int64_t{kLossThreads / kWarp})},
        {.logits =
             call_.workspace<const float>(buffers_.logits, head_.block_rows() * head_.stride()),
         .bias = call_.input<float>(head_.input(Loss::kBias)),
         .labels = call_.input<int32_t>(head_.input(Loss::kLabels)),
         .normalizer = call_.input<float>(normalizer),
         .dloss = head_.has_gradient ? call_.input<float>(Gradient::kDloss) : Global<const float>(),
         .losses = losses_,
         .dlogits = dlogits_,
         .predictions = head_.predictions,
         .first = rows.first,
         .rows = rows.count,
         .stride = head_.stride(),
         .words = static_cast<int32_t>(head_.words),
         .has_normalizers = call_.input_shape(normalizer).elements() > 1});
  }

  // Gradients of the parameters are sums over the blocks.
  void add_gradients(const Rows& rows) const {
    const Global<const T> dlogits = read_dlogits();
    call_.multiply<T, T>({rows.count, head_.hidden, head_.words},
                         {{dlogits, logit_layout()},
                          {table_, row_layout()},
                          {call_.output<T>(head_.gradient(Gradient::kDx)), row_layout(),
                           rows.first * head_.hidden}});
    const size_t dtable = head_.gradient(Gradient::kDtable);
    call_.multiply<T, float>({head_.words, head_.hidden, rows.count},
                             {{dlogits, {.stride = head_.stride(), .is_transposed = true}},
                              x_of(rows),
                              {call_.output<float>(dtable), row_layout()}},
                             rows.first > 0 || call_.accumulates(dtable));
    const size_t dbias = head_.gradient(Gradient::kDbias);
    if (!call_.has_output(dbias)) return;
    sum_columns<RowTerms<T>>(
        call_, {dlogits, head_.stride()}, {rows.count, head_.words},
        {{{call_.output<float>(dbias), rows.first > 0 || call_.accumulates(dbias)}}},
        buffers_.sums);
  }

  const Call& call_;
  Head head_;
  Buffers buffers_;
  Global<const T> x_, table_;
  Global<float> logits_, losses_;
  Global<T> dlogits_;
};

template <const graph::OpDefinition& op>
struct OnVocabulary {
  static constexpr const graph::OpDefinition& kOp = op;
  static size_t workspace_bytes(const KernelRequest& request) {
    return Buffers(request, Head(request)).workspace.bytes();
  }
  template <typename T>
  static void run(const Call& call) {
    HeadRun<T>(call).run();
  }
};

}  // namespace

KernelTable vocabulary_loss_kernels() {
  return table_of<OnVocabulary<ops::kVocabularyLoss>, OnVocabulary<ops::kVocabularyLossGradient>,
                  OnVocabulary<ops::kVocabularyLossWithGradient>>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
