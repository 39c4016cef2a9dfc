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

template <class T>
void SumRows(const KernelArguments& arguments, int64_t channels, Part rows) {
  const FloatTag d;
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const float* word = arguments.input<float>(3) + arguments.input<int32_t>(0)[t] * channels;
    const float* type = arguments.input<float>(4) + arguments.input<int32_t>(1)[t] * channels;
    const float* position = arguments.input<float>(5) + arguments.input<int32_t>(2)[t] * channels;
    T* y = arguments.output<T>(0) + t * channels;
    ForEachVector(d, channels, [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector sum = hn::Add(LoadFloats(d, word + i, part), LoadFloats(d, type + i, part));
      StoreFloats(d, hn::Add(sum, LoadFloats(d, position + i, part)), y + i, part);
    });
  }
}

void EmbeddingRows(const KernelRequest& request, const KernelArguments& arguments, Part rows) {
  const int64_t channels = request.outputs[0].shape[1];
  with_storage(request.outputs[0].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { SumRows<T>(arguments, channels, rows); });
}

// Adds dy to the rows of the three tables, for a range of channels. Rows are added in order, so
// the result does not depend on how the channels are shared out.
template <class T>
void AddToTables(const KernelArguments& arguments, int64_t channels, int64_t rows, Part range) {
  const FloatTag d;
  for (int64_t t = 0; t < rows; ++t) {
    const T* dy = arguments.input<T>(0) + t * channels + range.begin;
    float* tables[3];
    for (int table = 0; table < 3; ++table) {
      const int64_t id = arguments.input<int32_t>(static_cast<size_t>(table) + 1)[t];
      tables[table] =
          arguments.output<float>(static_cast<size_t>(table)) + id * channels + range.begin;
    }
    ForEachVector(d, range.size(), [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector v = LoadFloats(d, dy + i, part);
      for (float* table : tables) {
        StoreFloats(d, hn::Add(LoadFloats(d, table + i, part), v), table + i, part);
      }
    });
  }
}

void EmbeddingGradientChannels(const KernelRequest& request, const KernelArguments& arguments,
                               Part range) {
  const int64_t channels = request.inputs[0].shape[1];
  const int64_t num_sequences = request.inputs[4].shape[0] - 1;
  const int64_t rows = arguments.input<int32_t>(4)[num_sequences];
  with_storage(request.inputs[0].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    AddToTables<T>(arguments, channels, rows, range);
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

std::unique_ptr<Kernel> create(const KernelRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  return std::make_unique<PartKernel>(
      request, row_work(request, shape[0], shape[1]),
      [](const KernelRequest& request, const KernelArguments& arguments, const Part& part, void*) {
        HWY_DYNAMIC_DISPATCH(EmbeddingRows)(request, arguments, part);
      });
}

// Threads share out the channels, in whole cache lines, and never meet in a row.
class GradientKernel final : public Kernel {
 public:
  explicit GradientKernel(const KernelRequest& request) : request_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    for (size_t table = 0; table < 3; ++table) {
      if (!request_.accumulates[table]) clear(arguments.output<float>(table), table);
    }
    const Work channels{.items = request_.inputs[0].shape[1],
                        .granularity = 16,
                        .num_threads = request_.num_threads};
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

std::optional<std::string> refuse(const KernelRequest& request) {
  KernelRequest output = request;
  output.inputs = request.outputs;
  return refuse_unless_f32_or_bf16(output);
}

}  // namespace

constinit const KernelEntry kEmbeddingEntry{"cpu/embedding/vector", refuse, create};
constinit const KernelEntry kEmbeddingGradientEntry{
    "cpu/embedding_gradient/vector", refuse_unless_f32_or_bf16, create_kernel<GradientKernel>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
