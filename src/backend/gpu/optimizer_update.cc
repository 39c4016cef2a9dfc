// lamb and adamw. Each block has a chunk of the elements and leaves what it sums in the workspace;
// one more block adds the chunks in their order. Formulas: ops/optimizer_update.h.
#include "ops/optimizer_update.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/chunks.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/moments.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

using Op = ops::OptimizerUpdate;

// The sums of a chunk, in their order.
enum Sum { kParameterSquares, kUpdateSquares, kNotFinite, kSums };

// Moves the moments; for adamw the weights, too.
template <typename M, bool kMoves>
struct MoveMoments {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Moments<M> moments;
    Global<float> sums;  // [chunks, kSums]
  };
  struct Shared {
    BlockSums<float, kThreads, kSums> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[kSums] = {};
    if (!in.moments.is_skipped()) {
      const StepNumbers step = in.moments.step();
      const float rate = kMoves ? in.moments.learning_rate.load(0) : 0.0f;
      visit_chunk(in.moments.count, [&](int64_t i) {
        sums[kNotFinite] += in.moments.move_moments(step, i);
        if (kMoves) {
          sums[kNotFinite] += in.moments.move_weight(step, rate, i);
        } else {
          const float w = in.moments.parameter.load(i), u = in.moments.update(step, i);
          sums[kParameterSquares] = fused(w, w, sums[kParameterSquares]);
          sums[kUpdateSquares] = fused(u, u, sums[kUpdateSquares]);
        }
      });
    }
    shared<Shared>().sums.sum(sums);
    store_sums(in.sums, sums);
  }
};

// Adds the sums of the chunks: the norms [2] of parameter and update, where they are wanted, and
// whether all is finite.
struct AddSums {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Global<const float> sums;  // [chunks, kSums]
    Global<float> norms;       // may be missing
    Global<float> check;
    int64_t chunks;
  };
  struct Shared {
    BlockSums<float, kThreads, kSums> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[kSums] = {};
    for (int64_t c = thread(); c < in.chunks; c += kThreads) {
      CLOZE_UNROLL
      for (int s = 0; s < kSums; ++s) sums[s] += in.sums.load(c * kSums + s);
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    if (in.norms) {
      in.norms.store(0, square_root(sums[kParameterSquares]));
      in.norms.store(1, square_root(sums[kUpdateSquares]));
    }
    if (sums[kNotFinite] != 0.0f) in.check.store(0, as_float(0x7fc00000u));
  }
};

// Adds the squares of norms [2] to the squares of all.
struct AddNorms {
  static constexpr int kThreads = kWarp;
  struct Arguments {
    Global<const float> norms;
    Global<float> squares;
    bool is_first;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    if (thread() >= 2) return;
    const float norm = in.norms.load(thread());
    const float before = in.is_first ? 0.0f : in.squares.load(thread());
    in.squares.store(thread(), fused(norm, norm, before));
  }
};

// w -= learning rate * ratio * update. The squares are of the norms that share the ratio.
template <typename M>
struct MoveWeights {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Moments<M> moments;
    Global<const float> squares;  // missing: the ratio is 1
    Global<float> sums;           // [chunks, kSums]
    float max_weight_norm;
  };
  struct Shared {
    BlockSums<float, kThreads, kSums> sums;
  };
  CLOZE_DEVICE static float ratio(const Arguments& in) {
    if (!in.squares) return 1.0f;
    const float norm = square_root(in.squares.load(0)), update = square_root(in.squares.load(1));
    if (norm == 0.0f || update == 0.0f) return 1.0f;
    return (in.max_weight_norm > 0.0f ? smaller(norm, in.max_weight_norm) : norm) / update;
  }
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[kSums] = {};
    if (!in.moments.is_skipped()) {
      const StepNumbers step = in.moments.step();
      const float rate = in.moments.learning_rate.load(0) * ratio(in);
      visit_chunk(in.moments.count,
                  [&](int64_t i) { sums[kNotFinite] += in.moments.move_weight(step, rate, i); });
    }
    shared<Shared>().sums.sum(sums);
    store_sums(in.sums, sums);
  }
};

// An update by its launches.
template <typename M>
class Update {
 public:
  explicit Update(const Call& call)
      : call_(call), count_(call.input_shape(Op::kParameter).elements()) {
    call.launch<ComputeStep>({}, {attributes(), call.input<float>(Op::kGradientScale),
                                  call.input<int32_t>(Op::kUpdateIndex), numbers<float>()});
  }

  static size_t workspace_bytes(const KernelRequest& request) {
    const int64_t chunks = num_chunks(request.inputs[Op::kParameter].shape.elements());
    return static_cast<size_t>(kFirstSum + chunks * kSums) * sizeof(float);
  }

  template <bool kMoves>
  void move_moments() const {
    call_.launch<MoveMoments<M, kMoves>>({chunks()}, {moments(), sums<float>()});
  }
  // Norms: where they are wanted.
  void add_sums(Global<float> norms = {}) const {
    call_.launch<AddSums>({},
                          {sums<const float>(), norms, call_.mutated<float>(Op::kCheck), chunks()});
  }
  void add_norms(Global<const float> norms, bool is_first) const {
    call_.launch<AddNorms>({}, {norms, squares<float>(), is_first});
  }
  void move_weights(bool adapts) const {
    call_.launch<MoveWeights<M>>(
        {chunks()}, {moments(), adapts ? squares<const float>() : Global<const float>(),
                     sums<float>(), static_cast<float>(attributes().max_weight_norm)});
    add_sums();
  }
  Global<float> own_norms() const { return call_.workspace<float>(kFirstNorm * kBytes, 2); }
  Global<const float> own_norms_read() const {
    return call_.workspace<const float>(kFirstNorm * kBytes, 2);
  }

 private:
  // The workspace: the step's numbers, two norms, two squares, the sums of the chunks.
  static constexpr int64_t kBytes = sizeof(float);
  static constexpr int64_t kFirstNorm = kStepNumbers;
  static constexpr int64_t kFirstSquare = kFirstNorm + 2;
  static constexpr int64_t kFirstSum = kFirstSquare + 2;

  const ops::MomentAttributes& attributes() const {
    return call_.attributes<ops::MomentAttributes>();
  }
  int64_t chunks() const { return num_chunks(count_); }
  template <typename T>
  Global<T> numbers() const {
    return call_.workspace<T>(0, kStepNumbers);
  }
  template <typename T>
  Global<T> squares() const {
    return call_.workspace<T>(kFirstSquare * kBytes, 2);
  }
  template <typename T>
  Global<T> sums() const {
    return call_.workspace<T>(kFirstSum * kBytes, chunks() * kSums);
  }
  Moments<M> moments() const {
    const ops::MomentAttributes& a = attributes();
    return {call_.mutated<float>(Op::kParameter),
            call_.mutated<M>(Op::kM),
            call_.mutated<float>(Op::kV),
            call_.input<float>(Op::kGradient),
            call_.input<float>(Op::kGradientScale),
            call_.input<float>(Op::kLearningRate),
            numbers<const float>(),
            count_,
            static_cast<float>(a.beta1),
            static_cast<float>(a.beta2),
            static_cast<float>(1.0 - a.beta2),
            static_cast<float>(a.weight_decay)};
  }

  const Call& call_;
  int64_t count_;
};

template <typename Operator>
struct WithUpdate {
  static size_t workspace_bytes(const KernelRequest& request) {
    return Update<float>::workspace_bytes(request);
  }
  template <typename M>
  static void run(const Call& call) {
    Operator::run(call, Update<M>(call));
  }
};

struct AdamW : WithUpdate<AdamW> {
  static constexpr const graph::OpDefinition& kOp = ops::kAdamW;
  using WithUpdate::run;
  template <typename M>
  static void run(const Call&, const Update<M>& update) {
    update.template move_moments<true>();
    update.add_sums();
  }
};

struct Lamb : WithUpdate<Lamb> {
  static constexpr const graph::OpDefinition& kOp = ops::kLamb;
  using WithUpdate::run;
  template <typename M>
  static void run(const Call& call, const Update<M>& update) {
    update.template move_moments<false>();
    update.add_sums(update.own_norms());
    update.add_norms(update.own_norms_read(), true);
    update.move_weights(call.attributes<ops::MomentAttributes>().adapts);
  }
};

struct LambNorms : WithUpdate<LambNorms> {
  static constexpr const graph::OpDefinition& kOp = ops::kLambNorms;
  using WithUpdate::run;
  template <typename M>
  static void run(const Call& call, const Update<M>& update) {
    update.template move_moments<false>();
    update.add_sums(call.output<float>(ops::LambNorms::kNorms));
  }
};

struct LambMove : WithUpdate<LambMove> {
  static constexpr const graph::OpDefinition& kOp = ops::kLambMove;
  using WithUpdate::run;
  template <typename M>
  static void run(const Call& call, const Update<M>& update) {
    for (size_t i = ops::LambMove::kNorms; call.has_input(i); ++i) {
      update.add_norms(call.input<float>(i), i == ops::LambMove::kNorms);
    }
    update.move_weights(true);
  }
};

}  // namespace

KernelTable optimizer_update_kernels() { return table_of<AdamW, Lamb, LambMove, LambNorms>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
