// global_norm and gradient_scale. Formulas: ops/optimizer_update.h.
#include "backend/gpu/block_sums.h"
#include "backend/gpu/chunks.h"
#include "backend/gpu/kernels.h"
#include "ops/optimizer_update.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

struct SumSquares {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Global<const float> values;
    Global<double> sums;  // of each chunk
    int64_t count;
  };
  struct Shared {
    BlockSums<double, kThreads, 1> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    double sums[1] = {};
    visit_chunk(in.count, [&](int64_t i) {
      const double value = in.values.load(i);
      sums[0] += value * value;
    });
    shared<Shared>().sums.sum(sums);
    store_sums(in.sums, sums);
  }
};

struct RootOfSum {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Global<const double> sums;
    Global<float> norm;
    int64_t count;
  };
  struct Shared {
    BlockSums<double, kThreads, 1> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    double sums[1] = {};
    for (int64_t i = thread(); i < in.count; i += kThreads) sums[0] += in.sums.load(i);
    shared<Shared>().sums.sum(sums);
    if (thread() == 0) in.norm.store(0, static_cast<float>(square_root(sums[0])));
  }
};

int64_t chunks_of_all(const std::vector<graph::TensorType>& inputs) {
  int64_t chunks = 0;
  for (const graph::TensorType& type : inputs) chunks += num_chunks(type.shape.elements());
  return chunks;
}

struct GlobalNorm {
  static constexpr const graph::OpDefinition& kOp = ops::kGlobalNorm;
  static size_t workspace_bytes(const KernelRequest& request) {
    return static_cast<size_t>(chunks_of_all(request.inputs)) * sizeof(double);
  }
  template <typename T>
  static void run(const Call& call) {
    int64_t done = 0;  // chunks
    for (size_t i = 0; call.has_input(i); ++i) {
      const int64_t count = call.input_shape(i).elements();
      const int64_t chunks = num_chunks(count);
      const auto sums = call.workspace<double>(done * int64_t{sizeof(double)}, chunks);
      call.launch<SumSquares>({chunks}, {call.input<float>(i), sums, count});
      done += chunks;
    }
    call.launch<RootOfSum>({}, {call.workspace<const double>(0, done),
                                call.output<float>(ops::GlobalNorm::kNorm), done});
  }
};

// The scale from the norm and the loss scale. A norm or a loss that is not finite makes it 0.
struct ScaleOfNorm {
  static constexpr int kThreads = kWarp;
  struct Arguments {
    Global<const float> norm, loss_scale;
    Global<float> scale;
    float max_norm;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    if (thread() != 0) return;
    const float loss_scale = in.loss_scale.load(0);
    const float scaled_norm = in.norm.load(0);
    const float norm = scaled_norm / loss_scale;
    const float clipped = in.max_norm > 0.0f ? in.max_norm / larger(norm, in.max_norm) : 1.0f;
    const bool is_finite = 0.0f * scaled_norm == 0.0f && 0.0f * loss_scale == 0.0f;
    in.scale.store(0, is_finite ? clipped / loss_scale : 0.0f);
  }
};

struct ClearUnlessFinite {
  static constexpr int kThreads = kWarp;
  struct Arguments {
    Global<const float> loss;
    Global<float> scale;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    if (thread() == 0 && 0.0f * in.loss.load(0) != 0.0f) in.scale.store(0, 0.0f);
  }
};

struct GradientScale {
  static constexpr const graph::OpDefinition& kOp = ops::kGradientScale;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::GradientScale;
    const auto& attributes = call.attributes<ops::GradientScaleAttributes>();
    call.launch<ScaleOfNorm>(
        {}, {call.input<float>(Op::kNorm), call.input<float>(Op::kLossScale),
             call.output<float>(Op::kScale), static_cast<float>(attributes.max_norm)});
    for (size_t loss = Op::kLossScale + 1; call.has_input(loss); ++loss) {
      call.launch<ClearUnlessFinite>({}, {call.input<float>(loss), call.output<float>(Op::kScale)});
    }
  }
};

}  // namespace

KernelTable global_norm_kernels() { return table_of<GlobalNorm, GradientScale>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
