// The most multiply-adds this machine does: what matrix products are measured against.
#pragma once

namespace cloze::bench {

// f32 GFLOP/s (multiply-add = 2) of `num_threads` threads that do nothing but fused multiply-adds
// in registers, in the widest vectors there are. The threads are the team of the kernels
// (platform/thread_team.h): others would go on spinning for a while during the next measurement.
// Takes less than a thousandth of a second.
double fma_peak_gflops(int num_threads);

}  // namespace cloze::bench
