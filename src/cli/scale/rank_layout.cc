#include "cli/scale/rank_layout.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "comm/communicator.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

// How many more forward than backward passes a stage has begun, at most.
int64_t forwards_ahead(const RankLayout& layout, int64_t stage) {
  if (stage + 1 == layout.stages) return 1;  // nothing to wait for
  switch (layout.schedule) {
    case PipelineSchedule::kGrouped:
      return layout.micro_batches;
    case PipelineSchedule::kInterleaved:
      return std::min(layout.stages - stage, layout.micro_batches);
    case PipelineSchedule::kSequential:
      return 1;
  }
  throw InternalError("unknown schedule");
}

std::vector<int64_t> even_layers(int64_t stages, int64_t layers) {
  if (stages < 1 || stages > layers) {
    throw_user_error("pipeline_stages is {}, and the model has {} layers; choose from 1 to {}",
                     stages, layers, layers);
  }
  std::vector<int64_t> counts;
  for (int stage = 0; stage < static_cast<int>(stages); ++stage) {
    const comm::Share share = comm::share_of(layers, stage, static_cast<int>(stages));
    counts.push_back(share.end - share.begin);
  }
  return counts;
}

std::vector<int64_t> listed_layers(const std::string& stages, int64_t layers) {
  const auto lists = formats::parse_json(stages);
  std::vector<int64_t> counts;
  int64_t total = 0;
  for (const auto& list : lists && lists->is_array() ? *lists : nlohmann::json::array()) {
    const bool is_list = list.is_array();
    counts.push_back(is_list ? std::ranges::count(list, nlohmann::json("hid")) : 0);
    total += counts.back();
    if (!is_list) return {};
  }
  if (!counts.empty() && total != layers) {
    throw_user_error("pipeline_stages has {} \"hid\", and the model has {} layers; one is a layer",
                     total, layers);
  }
  return counts;
}

}  // namespace

std::vector<StageTask> RankLayout::tasks(int64_t stage) const {
  const int64_t ahead = forwards_ahead(*this, stage);
  std::vector<StageTask> tasks;
  int64_t forward = 0;
  for (int64_t backward = 0; backward < micro_batches; ++backward) {
    while (forward < std::min(backward + ahead, micro_batches)) tasks.push_back({false, forward++});
    tasks.push_back({true, backward});
  }
  return tasks;
}

int64_t RankLayout::in_flight(int64_t stage) const { return forwards_ahead(*this, stage); }

std::vector<int64_t> layers_of_stages(const std::string& stages, int64_t layers) {
  int64_t count = 0;
  const char* end = stages.data() + stages.size();
  const auto [rest, error] = std::from_chars(stages.data(), end, count);
  if (error == std::errc() && rest == end) return even_layers(count, layers);
  std::vector<int64_t> counts = listed_layers(stages, layers);
  if (counts.empty()) {
    throw_user_error(
        "pipeline_stages is {}; give a number, or lists as [[\"emb\", \"hid\"], [\"hid\", "
        "\"mlm\", \"nsp\"]]",
        stages);
  }
  return counts;
}

}  // namespace cloze::cli
