#include "fma_peak.h"

#include <cstdint>
#include <vector>

#include "bench_clock.h"
#include "platform/thread_team.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cloze::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten chains hide the latency of two units. Returns the operations of one lane times the lanes.
double run_chains(int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, result[0]);
  auto a0 = hn::Set(d, 1.0f), a1 = hn::Set(d, 2.0f), a2 = hn::Set(d, 3.0f), a3 = hn::Set(d, 4.0f),
       a4 = hn::Set(d, 5.0f), a5 = hn::Set(d, 6.0f), a6 = hn::Set(d, 7.0f), a7 = hn::Set(d, 8.0f),
       a8 = hn::Set(d, 9.0f), a9 = hn::Set(d, 10.0f);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, factor);
    a1 = hn::MulAdd(a1, factor, factor);
    a2 = hn::MulAdd(a2, factor, factor);
    a3 = hn::MulAdd(a3, factor, factor);
    a4 = hn::MulAdd(a4, factor, factor);
    a5 = hn::MulAdd(a5, factor, factor);
    a6 = hn::MulAdd(a6, factor, factor);
    a7 = hn::MulAdd(a7, factor, factor);
    a8 = hn::MulAdd(a8, factor, factor);
    a9 = hn::MulAdd(a9, factor, factor);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
                           hn::Add(hn::Add(a4, a5), hn::Add(hn::Add(a6, a7), hn::Add(a8, a9))));
  result[0] = hn::GetLane(hn::SumOfLanes(d, sum));
  return 2.0 * 10.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::bench {

HWY_EXPORT(run_chains);

namespace {

struct Chains {
  double operations = 0.0;
  float result = 0.5f;  // before that the factor
};

}  // namespace

double fma_peak_gflops(int num_threads) {
  constexpr int64_t kRounds = 200000;
  std::vector<Chains> chains(static_cast<size_t>(num_threads));
  const double start = seconds(num_threads);
  const auto run = [&](int64_t item, int) {
    Chains& own = chains[static_cast<size_t>(item)];
    own.operations = HWY_DYNAMIC_DISPATCH(run_chains)(kRounds, &own.result);
  };
  platform::share_items(num_threads, num_threads, platform::ItemBody(run));
  const double elapsed = seconds(num_threads) - start;
  double operations = 0.0;
  float results = 0.0f;
  for (const Chains& one : chains) {
    operations += one.operations;
    results += one.result;
  }
  // The result is used, so that the work cannot be left out.
  return results > 0.0f ? operations / elapsed * 1e-9 : 0.0;
}

}  // namespace cloze::bench
#endif
