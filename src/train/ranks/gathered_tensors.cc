#include "train/ranks/gathered_tensors.h"

#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::train {
namespace {

using formats::TensorSource;
using graph::VariableRole;

constexpr VariableRole kRoles[] = {VariableRole::kParameter, VariableRole::kOptimizerState};
constexpr int kFirst = 0;

std::string announcement_of(const std::vector<TensorSource>& tensors, VariableRole role) {
  formats::Json all = formats::Json::array();
  for (const TensorSource& tensor : tensors) {
    std::vector<int64_t> dimensions;
    for (int i = 0; i < tensor.shape.rank(); ++i) dimensions.push_back(tensor.shape[i]);
    all.push_back({tensor.name, static_cast<int>(tensor.dtype), dimensions});
  }
  return formats::Json{{"role", static_cast<int>(role)}, {"tensors", all}}.dump();
}

TensorSource announced_tensor(const formats::Json& tensor) {
  const auto dimensions = tensor.at(2).get<std::vector<int64_t>>();
  return {.name = tensor.at(0).get<std::string>(),
          .dtype = static_cast<DType>(tensor.at(1).get<int>()),
          .shape = Shape(dimensions),
          .read = {}};
}

}  // namespace

std::vector<TensorSource> tensors_of(engine::Session& session, VariableRole role) {
  std::vector<TensorSource> sources;
  for (const graph::Value value : session.graph().variables(role)) {
    const graph::ValueInfo& info = session.graph().info(value);
    sources.push_back({.name = info.name,
                       .dtype = info.type.dtype,
                       .shape = info.type.shape,
                       .read = [&session, value](int64_t offset, std::span<std::byte> target) {
                         session.executor().read_part(value, offset, target);
                       }});
  }
  return sources;
}

GatheredTensors::GatheredTensors(comm::Communicator& ranks, engine::Session& session)
    : ranks_(ranks) {
  std::set<std::string> names;
  std::vector<int64_t> count(static_cast<size_t>(ranks.size()), 0);  // that a rank has announced
  for (const VariableRole role : kRoles) {
    std::vector<TensorSource> own = tensors_of(session, role);
    const std::vector<std::string> all = ranks.all_gather(announcement_of(own, role));
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const formats::Json announcement = formats::Json::parse(all[static_cast<size_t>(rank)]);
      for (const formats::Json& tensor : announcement.at("tensors")) {
        const int64_t place = count[static_cast<size_t>(rank)]++;
        TensorSource source = announced_tensor(tensor);
        if (!names.insert(source.name).second) continue;
        announced_.push_back({rank, place, role, std::move(source)});
      }
    }
    std::move(own.begin(), own.end(), std::back_inserter(own_));
  }
}

GatheredTensors::~GatheredTensors() {
  if (ranks_.rank() != kFirst) return;
  const Request done{.tensor = -1};
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    try {
      ranks_.send(std::as_bytes(std::span(&done, 1)), rank);
    } catch (const std::exception&) {
      // The rank is gone; the next communication with it will report that.
    }
  }
}

std::vector<TensorSource> GatheredTensors::tensors(VariableRole role) {
  std::vector<TensorSource> sources;
  for (const Announced& announced : announced_) {
    if (announced.role != role) continue;
    sources.push_back(announced.owner == kFirst ? own_[static_cast<size_t>(announced.tensor)]
                                                : read_from_owner(announced));
  }
  return sources;
}

TensorSource GatheredTensors::read_from_owner(const Announced& announced) {
  TensorSource source = announced.source;
  source.read = [this, owner = announced.owner, tensor = announced.tensor](
                    int64_t offset, std::span<std::byte> target) {
    const Request request{.tensor = tensor, .offset = offset, .bytes = std::ssize(target)};
    ranks_.send(std::as_bytes(std::span(&request, 1)), owner);
    ranks_.receive(target, owner);
  };
  return source;
}

void GatheredTensors::serve() {
  std::vector<std::byte> part;
  while (true) {
    Request request;
    ranks_.receive(std::as_writable_bytes(std::span(&request, 1)), kFirst);
    if (request.tensor < 0) return;
    CLOZE_CHECK(request.tensor < std::ssize(own_), "tensor {} of {}", request.tensor, own_.size());
    part.resize(static_cast<size_t>(request.bytes));
    own_[static_cast<size_t>(request.tensor)].read(request.offset, part);
    ranks_.send(part, kFirst);
  }
}

}  // namespace cloze::train
