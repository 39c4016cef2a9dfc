#include "backend/cpu/native/matmul.h"

#include <fmt/format.h>
#include <omp.h>

#include <unordered_map>

#include <dnnl.hpp>

#include "base/error.h"
#include "ops/packed_linear.h"
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

// A row-major matrix [rows, columns], or the transpose of one stored [columns, rows].
memory::desc matrix(int64_t rows, int64_t columns, bool is_transposed, DType dtype) {
  const memory::format_tag tag = is_transposed ? memory::format_tag::ba : memory::format_tag::ab;
  return {{rows, columns}, type_of(dtype), tag};
}

// The same of several groups: of activations, which lie side by side in each stored row, or of
// weights, which lie one after the other.
memory::desc activations(const MatmulShape& shape, const memory::dims& sizes, bool is_transposed,
                         DType dtype) {
  if (shape.groups == 1) return matrix(sizes[0], sizes[1], is_transposed, dtype);
  const memory::format_tag tag =
      is_transposed ? memory::format_tag::adbc : memory::format_tag::acbd;
  return {{1, shape.groups, sizes[0], sizes[1]}, type_of(dtype), tag};
}
memory::desc weights(const MatmulShape& shape, const memory::dims& sizes, bool is_transposed,
                     DType dtype) {
  if (shape.groups == 1) return matrix(sizes[0], sizes[1], is_transposed, dtype);
  const memory::format_tag tag =
      is_transposed ? memory::format_tag::abdc : memory::format_tag::abcd;
  return {{1, shape.groups, sizes[0], sizes[1]}, type_of(dtype), tag};
}

dnnl::primitive_attr attributes(const MatmulShape& shape) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (shape.accumulates) after.append_sum(1.0f);
  attr.set_post_ops(after);
  return attr;
}

// B as the caller has it.
memory::desc plain_b_of(const MatmulShape& shape) {
  if (!shape.b_is_in_pairs) {
    const auto& of = shape.a_is_transposed ? activations : weights;
    return of(shape, {shape.depth, shape.n}, shape.b_is_transposed, shape.operand_dtype);
  }
  static_assert(ops::kPairColumns == 64 && ops::kPairDepth == 32);
  return {{shape.depth, shape.n}, type_of(shape.operand_dtype), memory::format_tag::BA16a64b2a};
}

dnnl::matmul::primitive_desc describe(const MatmulShape& shape) {
  const memory::desc a =
      activations(shape, {shape.m, shape.depth}, shape.a_is_transposed, shape.operand_dtype);
  const memory::desc any_b({shape.depth, shape.n}, type_of(shape.operand_dtype),
                           memory::format_tag::any);
  const memory::desc b = shape.b_is_in_pairs || shape.groups > 1 ? plain_b_of(shape) : any_b;
  const auto& of_c = shape.a_is_transposed ? weights : activations;
  const memory::desc c = of_c(shape, {shape.m, shape.n}, false, shape.result_dtype);
  const memory::desc bias =
      shape.has_bias ? matrix(1, shape.n, false, DType::kF32) : memory::desc();
  const dnnl::primitive_attr attr = attributes(shape);
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), a, b, bias, c, attr};
#else
  return {dnnl::matmul::desc(a, b, bias, c), attr, cpu_engine()};
#endif
}

// Products for which oneDNN writes the same code have the same.
std::string code_of(const MatmulShape& s) {
  return fmt::format(
      "oneDNN {} x {} x {} x {}, {} to {}{}{}{}{}{}, {} threads", s.groups, s.m, s.n, s.depth,
      name_of(s.operand_dtype), name_of(s.result_dtype), s.a_is_transposed ? ", A transposed" : "",
      s.b_is_transposed ? ", B transposed" : "", s.b_is_in_pairs ? ", B in pairs" : "",
      s.has_bias ? ", bias" : "", s.accumulates ? ", adds" : "", s.num_threads);
}

// oneDNN cuts its work for the number of threads at hand when a primitive is made and when it runs.
class ThreadCount {
 public:
  explicit ThreadCount(int num_threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(num_threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

memory without_address(const memory::desc& desc) {
  return memory(desc, cpu_engine(), DNNL_MEMORY_NONE);
}

void set_address(memory& to, const void* address) {
  to.set_data_handle(const_cast<void*>(address));
}

}  // namespace

struct Matmul::Parts {
  explicit Parts(const MatmulShape& s)
      : shape(s),
        desc(describe(s)),
        product(desc),
        plain_b_desc(plain_b_of(s)),
        packs_b(desc.weights_desc() != plain_b_desc),
        a(without_address(desc.src_desc())),
        plain_b(without_address(plain_b_desc)),
        b(without_address(desc.weights_desc())),
        c(without_address(desc.dst_desc())),
        scratch(without_address(desc.scratchpad_desc())),
        bias(without_address(matrix(1, s.n, false, DType::kF32))),
        stream(cpu_engine()) {
    arguments = {{DNNL_ARG_SRC, a},
                 {DNNL_ARG_WEIGHTS, b},
                 {DNNL_ARG_DST, c},
                 {DNNL_ARG_SCRATCHPAD, scratch}};
    if (shape.has_bias) arguments.insert({DNNL_ARG_BIAS, bias});
    if (packs_b) packing = dnnl::reorder(plain_b, b);
  }

  MatmulShape shape;
  dnnl::matmul::primitive_desc desc;
  dnnl::matmul product;
  memory::desc plain_b_desc;
  bool packs_b;
  memory a, plain_b, b, c, scratch, bias;
  dnnl::stream stream;
  dnnl::reorder packing;
  std::unordered_map<int, memory> arguments;
};

Matmul::Matmul(const MatmulShape& shape) {
  CLOZE_CHECK(shape.groups == 1 || !shape.has_bias, "{} groups with a bias", shape.groups);
  const ThreadCount threads(shape.num_threads);
  try {
    parts_ = std::make_unique<Parts>(shape);
  } catch (const dnnl::error& error) {
    throw_environment_error(
        "oneDNN has no product of {} x {} x {} in {} to {}: {}; set ONEDNN_VERBOSE=1 to see why",
        shape.m, shape.n, shape.depth, name_of(shape.operand_dtype), name_of(shape.result_dtype),
        error.message);
  }
}

Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;

size_t Matmul::packed_bytes() const {
  return parts_->packs_b ? parts_->desc.weights_desc().get_size() : 0;
}

size_t Matmul::scratch_bytes() const { return parts_->desc.scratchpad_desc().get_size(); }

std::vector<KeptMemory> Matmul::kept_memory() const {
  // Measured with oneDNN 2.6: what of the library is read and written, 60 to 160 KiB of code for
  // each of BERT's shapes, and 8 KiB for one more product of a shape.
  constexpr int64_t kLibraryBytes = 3 << 20, kCodeBytes = 100 << 10, kProductBytes = 8 << 10;
  return {{"oneDNN", kLibraryBytes}, {code_of(parts_->shape), kCodeBytes}, {"", kProductBytes}};
}

const void* Matmul::pack(const void* b, void* packed) {
  if (!parts_->packs_b) return b;
  const ThreadCount threads(parts_->shape.num_threads);
  set_address(parts_->plain_b, b);
  set_address(parts_->b, packed);
  parts_->packing.execute(parts_->stream, parts_->plain_b, parts_->b);
  parts_->stream.wait();
  return packed;
}

void Matmul::run(const MatmulCall& call) {
  const ThreadCount threads(parts_->shape.num_threads);
  set_address(parts_->a, call.a);
  set_address(parts_->b, call.packed_b);
  set_address(parts_->c, call.c);
  set_address(parts_->scratch, call.scratch);
  if (parts_->shape.has_bias) set_address(parts_->bias, call.bias);
  parts_->product.execute(parts_->stream, parts_->arguments);
  parts_->stream.wait();
}

void limit_matmul(InstructionSet set) {
  const dnnl::cpu_isa widest[] = {dnnl::cpu_isa::avx2, dnnl::cpu_isa::avx512_core,
                                  dnnl::cpu_isa::avx512_core_bf16, dnnl::cpu_isa::all};
  const dnnl::status status = dnnl::set_max_cpu_isa(widest[static_cast<size_t>(set)]);
  CLOZE_CHECK(status == dnnl::status::success, "oneDNN takes no limit of {} any more",
              name_of(set));
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
