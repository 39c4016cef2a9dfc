#include "ops/gather_rows.h"

#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/gather_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

// sum [channels] += row.
void AddRow(DType dtype, const void* row, int64_t channels, float* sum) {
  with_storage(dtype, [&]<class T>(Storage<T>)
                          HWY_ATTR { AddFloats(static_cast<const T*>(row), channels, sum); });
}

void StoreRow(DType dtype, const float* sum, int64_t channels, void* row) {
  with_storage(dtype, [&]<class T>(Storage<T>)
                          HWY_ATTR { CopyFloats(sum, channels, static_cast<T*>(row)); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(AddRow);
HWY_EXPORT(StoreRow);

int64_t row_bytes(const graph::TensorType& type) { return type.shape[1] * bytes_of(type.dtype); }

void gather_part(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                 void*) {
  using Op = ops::GatherRows;
  const int64_t bytes = row_bytes(request.inputs[Op::kX]);
  for (int64_t p = part.begin; p < part.end; ++p) {
    const int64_t row = arguments.input<int32_t>(Op::kIndex)[p];
    std::memcpy(arguments.output<char>(Op::kY) + p * bytes,
                arguments.input<char>(Op::kX) + row * bytes, static_cast<size_t>(bytes));
  }
}

// Each row of dx is written once, from the list of the entries that name it: a row named once is
// copied, and the sum of several is rounded once.
class ScatterKernel final : public Kernel, ops::ScatterRows {
 public:
  explicit ScatterKernel(const KernelRequest& request)
      : request_(request),
        rows_(request.outputs[kDx].shape[0]),
        entries_(request.inputs[kIndex].shape[0]),
        work_(row_work(request, rows_, request.outputs[kDx].shape[1])) {}

  size_t workspace_bytes() const override {
    return list_bytes() + sum_bytes() * num_workers(work_);
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const Lists lists = list_entries(arguments);
    for_each_part(work_, [&](const Part& part) {
      char* sums = arguments.workspace.as<char>() + list_bytes();
      float* sum = reinterpret_cast<float*>(sums + sum_bytes() * part.thread);
      for (int64_t row = part.begin; row < part.end; ++row) write_row(arguments, lists, row, sum);
    });
  }

 private:
  // The entries that name a row, in order: first[row], next[first[row]], ...; -1 ends the list.
  struct Lists {
    int32_t* first;  // [rows]
    int32_t* next;   // [entries]
  };

  size_t list_bytes() const {
    return whole_lines(static_cast<size_t>(rows_ + entries_) * sizeof(int32_t));
  }
  size_t sum_bytes() const {
    return whole_lines(static_cast<size_t>(request_.outputs[kDx].shape[1]) * sizeof(float));
  }

  Lists list_entries(const KernelArguments& arguments) const {
    const Lists lists{arguments.workspace.as<int32_t>(), arguments.workspace.as<int32_t>() + rows_};
    std::fill(lists.first, lists.first + rows_, -1);
    for (int64_t entry = entries_; entry-- > 0;) {
      int32_t& first = lists.first[arguments.input<int32_t>(kIndex)[entry]];
      lists.next[entry] = first;
      first = static_cast<int32_t>(entry);
    }
    return lists;
  }

  void write_row(const KernelArguments& arguments, const Lists& lists, int64_t row,
                 float* sum) const {
    const int64_t bytes = row_bytes(request_.outputs[kDx]);
    const DType dtype = request_.outputs[kDx].dtype;
    char* dx = arguments.output<char>(kDx) + row * bytes;
    const char* dy = arguments.input<char>(kDy);
    int32_t entry = lists.first[row];
    if (entry < 0) {
      std::memset(dx, 0, static_cast<size_t>(bytes));
    } else if (lists.next[entry] < 0) {
      std::memcpy(dx, dy + entry * bytes, static_cast<size_t>(bytes));
    } else {
      const int64_t channels = request_.outputs[kDx].shape[1];
      std::fill(sum, sum + channels, 0.0f);
      for (; entry >= 0; entry = lists.next[entry]) {
        HWY_DYNAMIC_DISPATCH(AddRow)(dtype, dy + entry * bytes, channels, sum);
      }
      HWY_DYNAMIC_DISPATCH(StoreRow)(dtype, sum, channels, dx);
    }
  }

  KernelRequest request_;
  int64_t rows_;
  int64_t entries_;
  Work work_;
};

constexpr KernelRow kRows[] = {
    {&ops::kGatherRows, "copy", serve_all, create_row_kernel<gather_part>},
    {&ops::kScatterRows, "vector", refuse_other_storage, create_kernel<ScatterKernel>},
};

}  // namespace

KernelTable gather_rows_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
