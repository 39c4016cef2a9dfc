#include "train/ranks/gathered_tensors.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"

namespace cloze::train {
namespace {

using formats::TensorSource;
using graph::VariableRole;

constexpr VariableRole kRoles[] = {VariableRole::kParameter, VariableRole::kOptimizerState};
constexpr int kFirst = 0;

// A tensor as its owner announces it, beside its name.
struct Form {
  static constexpr size_t kMostAxes = 4;

  DType dtype = DType::kF32;
  size_t rank = 0;
  std::array<int64_t, kMostAxes> extents{};
};

std::vector<std::string> names_of(const std::vector<TensorSource>& tensors) {
  std::vector<std::string> names;
  for (const TensorSource& tensor : tensors) names.push_back(tensor.name);
  return names;
}

std::vector<Form> forms_of(const std::vector<TensorSource>& tensors) {
  std::vector<Form> forms;
  for (const TensorSource& tensor : tensors) {
    const std::vector<int64_t>& extents = tensor.shape.dims();
    CLOZE_CHECK(extents.size() <= Form::kMostAxes, "{} is {}", tensor.name,
                tensor.shape.to_string());
    Form& form = forms.emplace_back(Form{.dtype = tensor.dtype, .rank = extents.size()});
    std::ranges::copy(extents, form.extents.begin());
  }
  return forms;
}

TensorSource announced_tensor(const std::string& name, const Form& form) {
  const auto begin = form.extents.begin();
  const std::vector<int64_t> extents(begin, begin + static_cast<ptrdiff_t>(form.rank));
  return {.name = name, .dtype = form.dtype, .shape = Shape(extents), .read = {}};
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
    const std::vector<std::vector<std::string>> all_names = ranks.all_gather(names_of(own));
    const std::vector<std::vector<Form>> all_forms = ranks.all_gather(forms_of(own));
    for (size_t rank = 0; rank < all_names.size(); ++rank) {
      for (size_t i = 0; i < all_names[rank].size(); ++i) {
        const int64_t place = count[rank]++;
        TensorSource source = announced_tensor(all_names[rank][i], all_forms[rank][i]);
        if (!names.insert(source.name).second) continue;
        announced_.push_back({static_cast<int>(rank), place, role, std::move(source)});
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
