#include "backend/cpu/native/matmul.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <unordered_map>

#include <dnnl.hpp>

#include "backend/cpu/packed_linear.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"
#include "base/bfloat16.h"
#include "base/error.h"
#include "platform/processor.h"

namespace cloze::backend::cpu {
namespace {

using dnnl::memory;

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type type_of(DType dtype) {
  CLOZE_CHECK(dtype == DType::kF32 || dtype == DType::kBF16, "{}", name_of(dtype));
  return dtype == DType::kF32 ? memory::data_type::f32 : memory::data_type::bf16;
}

memory::desc matrix(int64_t rows, int64_t columns, DType dtype) {
  return {{rows, columns}, type_of(dtype), memory::format_tag::ab};
}

// Rows of A or C.
memory::desc rows_of(const MatmulShape& shape, int64_t rows, int64_t columns, DType dtype) {
  if (shape.b == MatmulWeight::kPairs) return matrix(rows, columns, dtype);
  return {{1, shape.groups, rows, columns}, type_of(dtype), memory::format_tag::acbd};
}

memory::desc b_of(const MatmulShape& shape) {
  const memory::data_type bf16 = memory::data_type::bf16;
  if (shape.b != MatmulWeight::kPairs) {
    const bool is_transposed = shape.b == MatmulWeight::kPlainTransposed;
    return {{1, shape.groups, shape.depth, shape.n},
            bf16,
            is_transposed ? memory::format_tag::abdc : memory::format_tag::abcd};
  }
  static_assert(kPairColumns == 64 && kPairDepth == 32);
  return {{shape.depth, shape.n}, bf16, memory::format_tag::BA16a64b2a};
}

dnnl::primitive_attr attributes(const MatmulShape& shape) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (shape.accumulates) after.append_sum(1.0f);
  attr.set_post_ops(after);
  return attr;
}

dnnl::matmul::primitive_desc describe(const MatmulShape& shape, int64_t rows) {
  const memory::desc a = rows_of(shape, rows, shape.depth, DType::kBF16);
  const memory::desc b = b_of(shape);
  const memory::desc c = rows_of(shape, rows, shape.n, shape.result_dtype);
  const memory::desc bias = shape.has_bias ? matrix(1, shape.n, DType::kF32) : memory::desc();
  const dnnl::primitive_attr attr = attributes(shape);
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), a, b, bias, c, attr};
#else
  return {dnnl::matmul::desc(a, b, bias, c), attr, cpu_engine()};
#endif
}

constexpr std::string_view kWeightNames[] = {"", ", plain B", ", plain B transposed"};

// Equal for products for which oneDNN generates the same code.
std::string code_of(const MatmulShape& s, int64_t rows) {
  return fmt::format("oneDNN {} x {} x {} x {} to {}{}{}{}", s.groups, rows, s.n, s.depth,
                     name_of(s.result_dtype), kWeightNames[static_cast<size_t>(s.b)],
                     s.has_bias ? ", bias" : "", s.accumulates ? ", adds" : "");
}

// oneDNN divides its work by the number of threads it finds when a primitive is made and when it
// runs.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

memory without_address(const memory::desc& desc) {
  return memory(desc, cpu_engine(), DNNL_MEMORY_NONE);
}

void set_address(memory& to, const void* address) {
  to.set_data_handle(const_cast<void*>(address));
}

// The product of a number of rows, as each thread runs it.
struct RowsProduct {
  RowsProduct(const MatmulShape& shape, int64_t rows)
      : desc(describe(shape, rows)), product(desc), threads(shape.num_threads) {
    for (Thread& thread : threads) {
      thread.a = without_address(desc.src_desc());
      thread.b = without_address(desc.weights_desc());
      thread.c = without_address(desc.dst_desc());
      thread.scratch = without_address(desc.scratchpad_desc());
      thread.stream = dnnl::stream(cpu_engine());
      thread.arguments = {{DNNL_ARG_SRC, thread.a},
                          {DNNL_ARG_WEIGHTS, thread.b},
                          {DNNL_ARG_DST, thread.c},
                          {DNNL_ARG_SCRATCHPAD, thread.scratch}};
      if (!shape.has_bias) continue;
      thread.bias = without_address(matrix(1, shape.n, DType::kF32));
      thread.arguments.insert({DNNL_ARG_BIAS, thread.bias});
    }
  }

  struct Thread {
    memory a, b, c, scratch, bias;
    dnnl::stream stream;
    std::unordered_map<int, memory> arguments;
  };

  size_t scratch_bytes() const { return whole_lines(desc.scratchpad_desc().get_size()); }

  dnnl::matmul::primitive_desc desc;
  dnnl::matmul product;
  std::vector<Thread> threads;
};

// Rows of a part: enough parts for many threads, and no more rows than fit in the L2 cache. They do
// not depend on the number of threads: with AMX, oneDNN computes products of few rows and columns by
// other instructions, whose sums have other bytes.
int64_t rows_of_part(const MatmulShape& shape) {
  constexpr int64_t kLeastRows = 32, kManyParts = 16;
  const int64_t wanted = std::min(kManyParts, divide_up(shape.m, kLeastRows));
  const int64_t parts = std::max(wanted, divide_up(shape.m, Matmul::kMostRows));
  return divide_up(shape.m, parts);
}

}  // namespace

struct Matmul::State {
  explicit State(const MatmulShape& s)
      : shape(s),
        rows(rows_of_part(s)),
        parts(divide_up(s.m, rows)),
        last_rows(s.m - (parts - 1) * rows),
        full(s, rows) {
    if (last_rows != rows) last.emplace(s, last_rows);
    scratch_bytes = std::max(full.scratch_bytes(), last ? last->scratch_bytes() : 0);
  }

  MatmulShape shape;
  int64_t rows;
  int64_t parts;
  int64_t last_rows;
  RowsProduct full;
  std::optional<RowsProduct> last;  // if the last part has fewer rows
  size_t scratch_bytes;             // of a thread
};

Matmul::Matmul(const MatmulShape& shape) {
  CLOZE_CHECK(shape.b == MatmulWeight::kPairs ? shape.groups == 1 : !shape.has_bias,
              "{} groups of B{}", shape.groups, kWeightNames[static_cast<size_t>(shape.b)]);
  const OneThread one;
  try {
    state_ = std::make_unique<State>(shape);
  } catch (const dnnl::error& error) {
    throw_environment_error(
        "oneDNN has no product of {} x {} x {} in bf16 to {}: {}; set ONEDNN_VERBOSE=1 to see why",
        shape.m, shape.n, shape.depth, name_of(shape.result_dtype), error.message);
  }
}

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;

int64_t Matmul::num_parts() const { return state_->parts; }
int64_t Matmul::most_rows() const { return state_->rows; }
Part Matmul::rows(int64_t part) const {
  const int64_t begin = part * state_->rows;
  return {begin, std::min(begin + state_->rows, state_->shape.m)};
}

size_t Matmul::scratch_bytes() const {
  return state_->scratch_bytes * static_cast<size_t>(state_->shape.num_threads);
}

std::vector<KeptMemory> Matmul::kept_memory() const {
  // Measured with oneDNN 2.6: the parts of the library that are touched, the mean of 60 to 110 KiB
  // of code for each of BERT's shapes, of 120 to 340 KiB with AMX, and 8 KiB for each further
  // product of a shape.
  constexpr int64_t kLibraryBytes = 1 << 20, kProductBytes = 8 << 10;
  const int64_t code_bytes = (uses(InstructionSet::kAmx) ? 216 : 80) << 10;
  std::vector<KeptMemory> kept = {{"oneDNN", kLibraryBytes},
                                  {code_of(state_->shape, state_->rows), code_bytes},
                                  {"", kProductBytes}};
  if (state_->last) {
    kept.push_back({code_of(state_->shape, state_->last_rows), code_bytes});
    kept.push_back({"", kProductBytes});
  }
  return kept;
}

void Matmul::run_part(int64_t part, int thread, const MatmulCall& call) {
  const OneThread one;
  const bool is_last = state_->last && part + 1 == state_->parts;
  RowsProduct& product = is_last ? *state_->last : state_->full;
  RowsProduct::Thread& of = product.threads[static_cast<size_t>(thread)];
  set_address(of.a, call.a);
  set_address(of.b, call.b);
  set_address(of.c, call.c);
  set_address(of.scratch, static_cast<char*>(call.scratch) +
                              static_cast<size_t>(thread) * state_->scratch_bytes);
  if (state_->shape.has_bias) set_address(of.bias, call.bias);
  product.product.execute(of.stream, of.arguments);
  of.stream.wait();
}

void Matmul::run(const MatmulCall& call) {
  const MatmulShape& shape = state_->shape;
  for_each_item(state_->parts, shape.num_threads, [&](int64_t part, int thread) {
    const int64_t row = rows(part).begin * shape.groups;
    MatmulCall of_part = call;
    of_part.a = static_cast<const bfloat16*>(call.a) + row * shape.depth;
    of_part.c = element(call.c, shape.result_dtype, row * shape.n);
    run_part(part, thread, of_part);
  });
}

void limit_matmul(InstructionSet set) {
#if DNNL_VERSION_MAJOR >= 3
  constexpr dnnl::cpu_isa kAny = dnnl::cpu_isa::isa_default;
#else
  constexpr dnnl::cpu_isa kAny = dnnl::cpu_isa::all;
#endif
  const dnnl::cpu_isa widest[] = {dnnl::cpu_isa::avx2, dnnl::cpu_isa::avx512_core,
                                  dnnl::cpu_isa::avx512_core_bf16, kAny};
  const dnnl::status status = dnnl::set_max_cpu_isa(widest[static_cast<size_t>(set)]);
  CLOZE_CHECK(status == dnnl::status::success, "oneDNN takes no limit of {} any more",
              name_of(set));
}

std::optional<std::string> refuse_any_bf16() {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  if ((isa & wanted) == wanted) return std::nullopt;
  return "oneDNN multiplies bf16 with AVX-512 only";
}

std::optional<std::string> refuse_native_bf16() {
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto wanted = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  if ((isa & wanted) != wanted) return "the processor has neither AVX512-BF16 nor AMX-BF16";
  if (platform::has_slow_dot_products() && !uses(InstructionSet::kAmx)) {
    return "the processor has no AMX-BF16, and its AVX512-BF16 is slower than f32";
  }
  return std::nullopt;
}

}  // namespace cloze::backend::cpu
