// packed_linear: a product whose B was packed when the weights were loaded. A call only has to lay
// out x and to multiply (packed_product.h). It runs in passes of one block of x per thread, so that
// the laid-out part of x is still in the cache when it is multiplied.
#include "backend/cpu/packed_linear.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/kernels.h"
#include "backend/cpu/packed_product.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "ops/packed_linear.h"

namespace cloze::backend::cpu {
namespace {

size_t float_bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

class PackedLinear final : public Kernel, ops::PackedLinear {
 public:
  explicit PackedLinear(const KernelRequest& request)
      : request_(request),
        M_(request.inputs[kX].shape[0]),
        K_(request.inputs[kX].shape[1]),
        N_(request.outputs[kY].shape[1]),
        attributes_(request.attributes_as<ops::PackedLinearAttributes>()),
        has_bias_(std::ssize(request.inputs) > 1 + attributes_.num_weights) {
    tile_ = register_tile();
    depth_block_ = divide_up(K_, divide_up(K_, PackedLinearPlan::kMostDepth));
    row_blocks_ = divide_up(M_, PackedLinearPlan::kMostRows);
    pass_blocks_ = std::min<int64_t>(row_blocks_, host::threads_of(request));
    block_rows_ = divide_up(M_, row_blocks_);
    block_tiles_ = divide_up(block_rows_, tile_.rows);
    share_columns();
  }

  size_t workspace_bytes() const override {
    return float_bytes(num_buffers() * buffer_floats() +
                       thread_floats() * host::threads_of(request_));
  }

  // The rows of a pass are laid out, then multiplied with all of the weight that has this depth. A
  // thread that finds no more columns lays out the next pass, in the other buffer.
  void run(const KernelArguments& arguments, Stream&) override {
    Pass pass = pass_of(arguments, 0);
    for_each_item(num_tiles(pass), host::threads_of(request_),
                  [&](int64_t tile, int) { pack(arguments, pass, tile); });
    for (int64_t index = 1; index <= num_passes(); ++index) {
      const Pass next = pass_of(arguments, index);
      const int64_t tasks = num_tasks(pass);
      const int64_t tiles = index < num_passes() ? num_tiles(next) : 0;
      for_each_item(tasks + tiles, host::threads_of(request_), [&](int64_t item, int thread) {
        if (item >= tasks) return pack(arguments, next, item - tasks);
        run_task(arguments, pass, item, thread);
      });
      pass = next;
    }
  }

 private:
  int64_t block_floats() const { return round_up(block_tiles_ * tile_.rows * depth_block_, 16); }
  int64_t buffer_floats() const { return pass_blocks_ * block_floats(); }
  int64_t num_buffers() const { return host::threads_of(request_) == 1 ? 1 : 2; }
  int64_t thread_floats() const { return depth_block_ * tile_.columns; }
  RowTiles tiles_of(int64_t block) const {
    const int64_t rows = std::min(block_rows_, M_ - block * block_rows_);
    return {rows, divide_up(rows, tile_.rows)};
  }

  // Wide tasks come first, as each reads x again; narrow ones come last, so that no thread waits
  // long for the last task.
  void share_columns() {
    const int64_t most = std::max<int64_t>(1, ProductPlan::kColumns / tile_.columns);
    const int64_t panels = divide_up(N_, tile_.columns);
    for (int64_t panel = 0; panel < panels;) {
      const int64_t share = (panels - panel) / host::threads_of(request_);
      const int64_t count = std::clamp<int64_t>(share, 1, most);
      columns_.push_back(
          {.begin = panel * tile_.columns, .end = std::min((panel + count) * tile_.columns, N_)});
      panel += count;
    }
  }

  // As many blocks of rows as there are threads, for some of the depth.
  struct Pass {
    Part blocks;
    Part depths;
    float* x = nullptr;  // laid out, block after block
  };

  int64_t depth_passes() const { return divide_up(K_, depth_block_); }
  int64_t num_passes() const { return divide_up(row_blocks_, pass_blocks_) * depth_passes(); }

  Pass pass_of(const KernelArguments& arguments, int64_t index) const {
    const int64_t block = index / depth_passes() * pass_blocks_;
    const int64_t depth = index % depth_passes() * depth_block_;
    float* workspace = arguments.workspace.as<float>();
    return {.blocks = {block, std::min(block + pass_blocks_, row_blocks_)},
            .depths = {depth, std::min(depth + depth_block_, K_)},
            .x = workspace + index % num_buffers() * buffer_floats()};
  }

  int64_t num_tiles(const Pass& pass) const { return pass.blocks.size() * block_tiles_; }
  int64_t num_tasks(const Pass& pass) const {
    return attributes_.num_weights * std::ssize(columns_) * pass.blocks.size();
  }

  void pack(const KernelArguments& arguments, const Pass& pass, int64_t item) const {
    const int64_t block = item / block_tiles_;
    const int64_t tile = item % block_tiles_;
    const RowTiles tiles = tiles_of(pass.blocks.begin + block);
    if (tile >= tiles.count) return;
    const int64_t row = (pass.blocks.begin + block) * block_rows_ + tiles.begin(tile);
    const int64_t depth = pass.depths.size();
    pack_rows({.x = arguments.input<float>(kX) + row * K_ + pass.depths.begin,
               .stride = K_,
               .rows = tiles.height(tile),
               .depth = depth,
               .tile = pass.x + block * block_floats() + tile * tile_.rows * depth});
  }

  // Blocks of rows follow each other for the same columns, whose weights are still in the cache.
  void run_task(const KernelArguments& arguments, const Pass& pass, int64_t item,
                int thread) const {
    const int64_t block = item % pass.blocks.size();
    const int64_t item_columns = item / pass.blocks.size();
    const int64_t weight = item_columns / std::ssize(columns_);
    const int64_t row = (pass.blocks.begin + block) * block_rows_;
    PackedTask task{.weight = arguments.input<void>(ops::packed_input(weight)),
                    .weight_dtype = request_.inputs[kPacked].dtype,
                    .K = K_,
                    .N = N_,
                    .depths = pass.depths,
                    .columns = columns_[item_columns % std::ssize(columns_)],
                    .tiles = tiles_of(pass.blocks.begin + block),
                    .x = pass.x + block * block_floats(),
                    .y = arguments.output<float>(static_cast<size_t>(weight)) + row * N_,
                    .activation = attributes_.activation};
    if (has_bias_) task.bias = arguments.input<float>(ops::bias_input(attributes_, weight));
    task.panel = arguments.workspace.as<float>() + num_buffers() * buffer_floats() +
                 thread * thread_floats();
    multiply(task);
  }

  KernelRequest request_;
  int64_t M_, K_, N_;
  ops::PackedLinearAttributes attributes_;
  bool has_bias_;
  TileSize tile_;
  int64_t depth_block_ = 0;
  int64_t row_blocks_ = 0, block_rows_ = 0, block_tiles_ = 0, pass_blocks_ = 0;
  std::vector<Part> columns_;  // of each task
};

std::optional<std::string> refuse(const KernelRequest& request) {
  const auto& layout = request.attributes_as<ops::PackedLinearAttributes>().layout;
  if (auto refusal = refuse_other_panels(layout)) return refusal;
  return refuse_unless_f32({.op = request.op, .inputs = {request.inputs[ops::PackedLinear::kX]}});
}

constexpr KernelRow kRows[] = {
    {&ops::kPackedLinear, "panels", refuse, create_kernel<PackedLinear>},
};

}  // namespace

KernelTable packed_linear_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
