// Compiled by nvcc and by g++.
#include "primitives.h"

#include "backend/gpu/math.h"
#include "device.h"

#if !defined(__CUDACC__)
#include "backend/gpu/emulation/block.h"
#endif
#if !defined(CLOZE_PROBE_TARGET)  // given where the card is a stand-in
#define CLOZE_PROBE_TARGET CLOZE_GPU_TARGET
#endif

namespace cloze::cuda_probe::CLOZE_PROBE_TARGET {
namespace {

namespace gpu = backend::gpu;
using namespace gpu;

constexpr int kBlockThreads = static_cast<int>(kPrimitiveMultiple);

struct Operands {
  Global<const uint32_t> a, b, c;
  Global<uint64_t> y;
};

// Where a kernel begins, and its memory.

#if defined(__CUDACC__)

template <typename K>
__global__ void begin(const Operands on) {
  K::run(on);
}

template <typename K, size_t kSharedBytes>
void launch(const PrimitiveOperands& on) {
  const Operands operands{Global<const uint32_t>(on.a), Global<const uint32_t>(on.b),
                          Global<const uint32_t>(on.c), Global<uint64_t>(on.y)};
  begin<K>
      <<<static_cast<unsigned>(on.count / kBlockThreads), kBlockThreads, kSharedBytes>>>(operands);
  check(cudaGetLastError(), "a primitive's kernel");
}

#else

template <typename T>
Global<T> global(emulation::GlobalMemory& memory, const char* name, T* data, int64_t count) {
  return {data, &memory.add(name, {data, count, sizeof(T), !std::is_const_v<T>})};
}

template <typename K, size_t kSharedBytes>
void launch(const PrimitiveOperands& on) {
  emulation::GlobalMemory memory;
  emulation::Findings findings;
  const Operands operands{global(memory, "a", on.a, on.count), global(memory, "b", on.b, on.count),
                          global(memory, "c", on.c, on.count), global(memory, "y", on.y, on.count)};
  emulation::run_grid({on.count / kBlockThreads, 1, kBlockThreads, kSharedBytes}, {}, findings,
                      [&] { K::run(operands); });
  if (!findings.all().empty())
    throw ProbeError("a primitive, emulated: " + findings.all().front().text);
}

#endif

// y = f(a, b, c) in every thread.
template <typename Function>
struct Each {
  static constexpr int kThreads = kBlockThreads;
  CLOZE_DEVICE static void run(const Operands& on) {
    const int64_t i = global_thread<Each>();
    on.y.store(i, static_cast<uint64_t>(Function::of(on.a.load(i), on.b.load(i), on.c.load(i))));
  }
};

union DoubleBits {
  double value;
  uint64_t bits;
};

CLOZE_DEVICE uint64_t bits_of(float x) { return as_bits(x); }
CLOZE_DEVICE uint64_t bits_of(double x) {
  DoubleBits both;
  both.value = x;
  return both.bits;
}

// x, or 0 where it is NaN, whose bits may differ.
CLOZE_DEVICE float number(float x) { return x == x ? x : 0.0f; }

#define CLOZE_PRIMITIVE(Name, result)                                     \
  struct Name {                                                           \
    CLOZE_DEVICE static uint64_t of(uint32_t a, uint32_t b, uint32_t c) { \
      const float x = as_float(a), y = as_float(b), z = as_float(c);      \
      static_cast<void>(x), static_cast<void>(y), static_cast<void>(z);   \
      return result;                                                      \
    }                                                                     \
  }
CLOZE_PRIMITIVE(Sum, bits_of(x + y));
CLOZE_PRIMITIVE(Times, bits_of(x* y));
CLOZE_PRIMITIVE(Quotient, bits_of(x / y));
CLOZE_PRIMITIVE(Fused, bits_of(fused(x, y, z)));
CLOZE_PRIMITIVE(Larger, bits_of(larger(x, y)));
CLOZE_PRIMITIVE(Smaller, bits_of(smaller(x, y)));
CLOZE_PRIMITIVE(Magnitude, bits_of(magnitude(x)));
CLOZE_PRIMITIVE(WithSignOf, bits_of(with_sign_of(x, y)));
CLOZE_PRIMITIVE(SquareRoot, bits_of(square_root(x)));
CLOZE_PRIMITIVE(DoubleSquareRoot,
                bits_of(square_root(static_cast<double>(x) * static_cast<double>(y))));
CLOZE_PRIMITIVE(Logarithm, bits_of(logarithm(x)));
CLOZE_PRIMITIVE(LogarithmOfOnePlus, bits_of(logarithm_of_one_plus(x)));
CLOZE_PRIMITIVE(RoundedToBf16, bits_of(to_float(to_bf16(x))));
CLOZE_PRIMITIVE(PairOfBf16, bf16_pair(number(x), number(y)));
CLOZE_PRIMITIVE(Exponential, bits_of(exponential(x)));
CLOZE_PRIMITIVE(HyperbolicTangent, bits_of(hyperbolic_tangent(x)));
CLOZE_PRIMITIVE(GeluErf, bits_of(gelu_erf(x)));
CLOZE_PRIMITIVE(GeluErfDerivative, bits_of(gelu_erf_derivative(x)));
CLOZE_PRIMITIVE(GeluTanh, bits_of(gelu_tanh(x)));
CLOZE_PRIMITIVE(GeluTanhDerivative, bits_of(gelu_tanh_derivative(x)));
CLOZE_PRIMITIVE(SwishDerivative, bits_of(swish_derivative(x)));
// The thread's numbers.
CLOZE_PRIMITIVE(Numbers,
                static_cast<uint64_t>(
                    (((block() * 1000 + block_y()) * 1000 + num_blocks()) * 1000 + thread()) * 64 +
                    warp() * 32 + lane()));
CLOZE_PRIMITIVE(Ballot, ballot((a & 1) != 0));
CLOZE_PRIMITIVE(WarpLargest, bits_of(warp_largest(magnitude(x) < 1e30f ? x : 0.0f)));
CLOZE_PRIMITIVE(WarpSum, bits_of(warp_sum(magnitude(x) < 1e30f ? x : 0.0f)));
#undef CLOZE_PRIMITIVE

// What lanes get from each other.
template <typename T>
struct Shuffles {
  CLOZE_DEVICE static uint64_t of(uint32_t a, uint32_t, uint32_t) {
    uint64_t mixed = 0;
    for (int mask = 1; mask < kWarp; mask *= 2)
      mixed = mixed * 31 + static_cast<uint64_t>(shuffle_xor(static_cast<T>(a), mask));
    return mixed;
  }
};

// A pair of small whole numbers, so that sums of their products are exact in any order.
CLOZE_DEVICE float small_number(uint32_t bits) { return static_cast<float>(bits % 17) - 8.0f; }
CLOZE_DEVICE uint32_t small_pair(uint32_t bits) {
  return bf16_pair(small_number(bits), small_number(bits >> 5));
}

CLOZE_DEVICE uint64_t mixed_words(const uint32_t (&x)[4]) {
  uint64_t mixed = 0;
  for (const uint32_t word : x) mixed = mixed * 0x9e3779b97f4a7c15u + word;
  return mixed;
}

struct MultiplyAdd {
  CLOZE_DEVICE static uint64_t of(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t pairs[4] = {small_pair(a), small_pair(a >> 7), small_pair(a >> 14),
                               small_pair(a >> 21)};
    float sums[4] = {small_number(c), small_number(c >> 7), small_number(c >> 14),
                     small_number(c >> 21)};
    multiply_add(sums, pairs, small_pair(b), small_pair(b >> 13));
    return mixed_words({as_bits(sums[0]), as_bits(sums[1]), as_bits(sums[2]), as_bits(sums[3])});
  }
};

// The thread whose cell a thread reads: one of another warp for most.
CLOZE_DEVICE int partner() { return (thread() * 7 + 3) % kBlockThreads; }

struct Exchange {
  static constexpr int kThreads = kBlockThreads;
  struct Shared {
    Cell<uint32_t> cells[kThreads];
  };
  CLOZE_DEVICE static void run(const Operands& on) {
    Shared& shared = gpu::shared<Shared>();
    const int64_t i = global_thread<Exchange>();
    shared.cells[thread()].put(on.a.load(i));
    sync_block();
    on.y.store(i, static_cast<uint64_t>(shared.cells[partner()].get()));
  }
};

// Matrices whose rows are those of other threads.
template <bool kIsTransposed>
struct LoadMatrices {
  static constexpr int kThreads = kBlockThreads;
  static constexpr int kColumns = 8;
  struct Shared {
    alignas(16) Cell<bf16> rows[kThreads * kColumns];
  };
  CLOZE_DEVICE static void run(const Operands& on) {
    Shared& shared = gpu::shared<Shared>();
    const int64_t i = global_thread<LoadMatrices>();
    for (int column = 0; column < kColumns; ++column) {
      shared.rows[thread() * kColumns + column].put(
          {static_cast<uint16_t>((on.a.load(i) >> column) ^ on.b.load(i))});
    }
    sync_block();
    uint32_t x[4];
    if (kIsTransposed) {
      load_transposed_matrices(x, shared.rows[partner() * kColumns]);
    } else {
      load_matrices(x, shared.rows[partner() * kColumns]);
    }
    on.y.store(i, mixed_words(x));
  }
};

// Two groups of copies: a waited for while b is under way. Those of a thread whose c is odd are zeros.
struct Copies {
  static constexpr int kThreads = kBlockThreads;
  static constexpr int kWords = 4;  // of a copy
  struct Shared {
    alignas(16) Cell<uint32_t> a[kThreads];
    alignas(16) Cell<uint32_t> b[kThreads];
  };
  CLOZE_DEVICE static void run(const Operands& on) {
    Shared& shared = gpu::shared<Shared>();
    const int64_t i = global_thread<Copies>();
    const bool begins = thread() % kWords == 0;
    const bool is_there = on.c.load(i) % 2 == 0;
    if (begins) shared.a[thread()].begin_copy(on.a, i, is_there);
    commit_copies();
    if (begins) shared.b[thread()].begin_copy(on.b, i, is_there);
    commit_copies();
    wait_for_copies<1>();
    sync_block();
    const uint64_t first = shared.a[partner()].get();
    wait_for_copies<0>();
    sync_block();
    on.y.store(i, first << 32 | shared.b[partner()].get());
  }
};

template <typename Function>
Primitive each(const char* name, Compared compared = Compared::kFloat, uint64_t units = 0) {
  return {name, compared, units, launch<Each<Function>, 0>};
}

template <typename K>
Primitive of_block(const char* name) {
  return {name, Compared::kBits, 0, launch<K, sizeof(typename K::Shared)>};
}

}  // namespace

std::vector<Primitive> primitives() {
  // CUDA's and the host's are each within 1 or 2 of the exact value.
  constexpr uint64_t kLogarithmUnits = 3;
  return {each<Sum>("a + b"),
          each<Times>("a * b"),
          each<Quotient>("a / b"),
          each<Fused>("fused"),
          each<Larger>("larger"),
          each<Smaller>("smaller"),
          each<Magnitude>("magnitude"),
          each<WithSignOf>("with_sign_of"),
          each<SquareRoot>("square_root"),
          each<DoubleSquareRoot>("square_root, double", Compared::kDouble),
          each<Logarithm>("logarithm", Compared::kFloat, kLogarithmUnits),
          each<LogarithmOfOnePlus>("logarithm_of_one_plus", Compared::kFloat, kLogarithmUnits),
          each<RoundedToBf16>("to_bf16"),
          each<Exponential>("exponential"),
          each<HyperbolicTangent>("hyperbolic_tangent"),
          each<GeluErf>("gelu_erf"),
          each<GeluErfDerivative>("gelu_erf_derivative"),
          each<GeluTanh>("gelu_tanh"),
          each<GeluTanhDerivative>("gelu_tanh_derivative"),
          each<SwishDerivative>("swish_derivative"),
          each<Numbers>("thread, block", Compared::kBits),
          each<Ballot>("ballot", Compared::kBits),
          each<WarpLargest>("warp_largest"),
          each<WarpSum>("warp_sum"),
          each<Shuffles<uint32_t>>("shuffle_xor", Compared::kBits),
          each<Shuffles<double>>("shuffle_xor, double", Compared::kBits),
          each<PairOfBf16>("bf16_pair", Compared::kBits),
          each<MultiplyAdd>("multiply_add", Compared::kBits),
          of_block<LoadMatrices<false>>("load_matrices"),
          of_block<LoadMatrices<true>>("load_transposed_matrices"),
          of_block<Exchange>("sync_block"),
          of_block<Copies>("begin_copy, wait_for_copies")};
}

}  // namespace cloze::cuda_probe::CLOZE_PROBE_TARGET
