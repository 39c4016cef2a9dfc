#include "ops/embedding.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/embedding.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

void EmbeddingRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                   void*) {
  using Op = ops::Embedding;
  const FloatTag d;
  const int64_t channels = request.outputs[Op::kY].shape[1];
  const auto row_of = [&](Op::Input table, Op::Input ids, int64_t t) {
    return arguments.input<const float>(table) + arguments.input<int32_t>(ids)[t] * channels;
  };
  with_storage(request.outputs[Op::kY].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      const float* word = row_of(Op::kWord, Op::kInputIds, t);
      const float* type = row_of(Op::kTokenType, Op::kTokenTypeIds, t);
      const float* position = row_of(Op::kPosition, Op::kPositionIds, t);
      T* y = arguments.output<T>(Op::kY) + t * channels;
      ForEachVector(d, channels, [&](int64_t i, auto part) HWY_ATTR {
        const FloatVector sum =
            hn::Add(LoadFloats(d, word + i, part), LoadFloats(d, type + i, part));
        StoreFloats(d, hn::Add(sum, LoadFloats(d, position + i, part)), y + i, part);
      });
    }
  });
}

// Adds dy to the rows of the three tables, for a range of channels. Rows are added in order, so
// the result does not depend on how the channels are shared out.
void EmbeddingGradientChannels(const KernelRequest& request, const KernelArguments& arguments,
                               Part range) {
  using Op = ops::EmbeddingGradient;
  const FloatTag d;
  const int64_t channels = request.inputs[Op::kDy].shape[1];
  const int64_t num_sequences = request.inputs[Op::kSequenceStarts].shape[0] - 1;
  const int64_t rows = arguments.input<int32_t>(Op::kSequenceStarts)[num_sequences];
  with_storage(request.inputs[Op::kDy].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t t = 0; t < rows; ++t) {
      const T* dy = arguments.input<T>(Op::kDy) + t * channels + range.begin;
      float* tables[3];
      for (size_t table = 0; table < 3; ++table) {
        const int64_t id = arguments.input<int32_t>(Op::kInputIds + table)[t];
        tables[table] = arguments.output<float>(Op::kDword + table) + id * channels + range.begin;
      }
      ForEachVector(d, range.size(), [&](int64_t i, auto part) HWY_ATTR {
        const FloatVector v = LoadFloats(d, dy + i, part);
        for (float* table : tables) {
          StoreFloats(d, hn::Add(LoadFloats(d, table + i, part), v), table + i, part);
        }
      });
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(EmbeddingRows);
HWY_EXPORT(EmbeddingGradientChannels);

// Threads divide the channels, in whole cache lines, and never write to the same part of a row.
class GradientKernel final : public Kernel, ops::EmbeddingGradient {
 public:
  explicit GradientKernel(const KernelRequest& request) : request_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    for (size_t table = 0; table < 3; ++table) {
      if (!request_.accumulates[table]) clear(arguments.output<float>(table), table);
    }
    const Work channels{.items = request_.inputs[kDy].shape[1],
                        .granularity = 16,
                        .num_threads = host::threads_of(request_)};
    for_each_part(channels, [&](const Part& range) {
      HWY_DYNAMIC_DISPATCH(EmbeddingGradientChannels)(request_, arguments, range);
    });
  }

 private:
  void clear(float* gradient, size_t table) const {
    const int64_t elements = request_.outputs[table].shape.elements();
    for_each_part(element_work(request_, elements), [&](const Part& part) {
      std::fill(gradient + part.begin, gradient + part.end, 0.0f);
    });
  }

  KernelRequest request_;
};

constexpr KernelRow kRows[] = {
    {&ops::kEmbedding, "vector",
     [](const KernelRequest& request) {
       return refuse_other_storage(request.outputs[ops::Embedding::kY].dtype);
     },
     create_row_kernel<CLOZE_DISPATCH_PART(EmbeddingRows)>},
    {&ops::kEmbeddingGradient, "vector", refuse_other_storage, create_kernel<GradientKernel>},
};

}  // namespace

KernelTable embedding_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
