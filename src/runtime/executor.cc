#include "runtime/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "runtime/value_slices.h"

namespace cloze::runtime {
namespace {

using backend::DeviceAddress;
using backend::DeviceMemory;
using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;

std::string describe_output(const ValueInfo& info) {
  return info.kind == ValueKind::kVariable ? info.name : "its output " + info.type.to_string();
}

std::string parameters_read_by(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  for (const Value input : node.inputs) {
    const ValueInfo& info = graph.info(input);
    if (info.kind != ValueKind::kVariable) continue;
    if (info.role == VariableRole::kParameter) names.push_back(info.name);
    if (info.role == VariableRole::kComputeCopy) names.push_back(graph.info(info.master).name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Says whether nothing in the arena outlives a run, so that it may be another program's, if that is
// no smaller. A program with fewer slots may have a worse layout and need more.
bool holds_for_a_run(plan::Arena arena) {
  return arena == plan::Arena::kActivations || arena == plan::Arena::kWorkspace;
}

}  // namespace

int64_t input_image_bytes(const plan::Program& program) {
  return InputImages::kCount * program.bytes_of(plan::Arena::kInputs);
}

Executor::Executor(plan::Program program, backend::Device& device)
    : Executor(std::move(program), device, SharedMemory{.stream = device.make_stream()}) {}

Executor::Executor(plan::Program program, backend::Device& device, SharedMemory shared)
    : program_(std::move(program)),
      device_(device),
      stream_(std::move(shared.stream)),
      is_written_(static_cast<size_t>(program_.graph.num_values()), false) {
  place_arenas(std::move(shared.arenas));
  bind();
}

Executor::~Executor() {
  try {
    finish();
  } catch (const std::exception&) {  // whoever wants the results has been told
  }
}

void Executor::place_arenas(Arenas shared) {
  for (size_t i = 0; i < arenas_.size(); ++i) {
    const auto bytes = static_cast<size_t>(program_.arena_bytes[i]);
    const auto arena = static_cast<plan::Arena>(i);
    arenas_[i] = std::move(shared[arena]);
    const bool is_usable =
        arenas_[i] != nullptr && (!holds_for_a_run(arena) || arenas_[i]->bytes() >= bytes);
    if (!is_usable) arenas_[i] = device_.allocate(bytes);
    CLOZE_CHECK(arenas_[i]->bytes() == bytes || holds_for_a_run(arena), "{} bytes of {}, not {}",
                arenas_[i]->bytes(), name_of(arena), bytes);
  }
  const DeviceMemory& inputs = *arenas_[static_cast<size_t>(plan::Arena::kInputs)];
  inputs_.emplace(device_, *stream_, inputs.start(), inputs.bytes());
}

SharedMemory Executor::memory_beside_inputs() const {
  SharedMemory shared{.stream = stream_};
  for (size_t i = 0; i < arenas_.size(); ++i) {
    shared.arenas[static_cast<plan::Arena>(i)] = arenas_[i];
  }
  shared.arenas.erase(plan::Arena::kInputs);
  return shared;
}

SharedMemory Executor::memory_beside_a_batch() const {
  SharedMemory shared = memory_beside_inputs();
  shared.arenas.erase(plan::Arena::kActivations);
  return shared;
}

void Executor::bind() {
  const DeviceAddress workspace = address({.arena = plan::Arena::kWorkspace, .offset = 0});
  for (const std::vector<plan::Launch>& launches : program_.phases) {
    Phase& phase = phases_.emplace_back();
    phase.name = graph().phases()[phases_.size() - 1];
    for (const plan::Launch& launch : launches) {
      backend::BoundLaunch bound{.kernel = launch.kernel.get(), .workspace = workspace};
      for (const plan::Location& input : launch.inputs) bound.inputs.push_back(address(input));
      for (const plan::Location& output : launch.outputs) bound.outputs.push_back(address(output));
      phase.launches.push_back(std::move(bound));
    }
  }
  std::vector<size_t> launches(phases_.size(), 0);
  for (const Node& node : graph().nodes()) {
    const auto phase = static_cast<size_t>(node.phase.index);
    for (const Value value : node.inputs) {
      const ValueInfo& info = graph().info(value);
      if (info.kind != ValueKind::kInput || info.is_optional) continue;
      phases_[phase].inputs.push_back({launches[phase], value});
    }
    ++launches[phase];
  }
}

DeviceAddress Executor::address(const plan::Location& location) const {
  return arenas_[static_cast<size_t>(location.arena)]->start() + location.offset;
}

DeviceAddress Executor::address(Value value) const { return address(location_of(value)); }

const Executor::Phase& Executor::phase_named(std::string_view name) const {
  const auto found = graph().find_phase(name);
  CLOZE_CHECK(found.has_value(), "the program has no phase {}", name);
  return phases_[static_cast<size_t>(found->index)];
}

Executor::Phase& Executor::phase_named(std::string_view name) {
  return const_cast<Phase&>(std::as_const(*this).phase_named(name));
}

bool Executor::is_in_image(Value value) const {
  return location_of(value).arena == plan::Arena::kInputs;
}

void Executor::require_inputs(std::string_view name, size_t end) {
  Phase& phase = phase_named(name);
  size_t& written = phase.written_inputs;
  for (; written < phase.inputs.size() && phase.inputs[written].launch < end; ++written) {
    const Value input = phase.inputs[written].value;
    CLOZE_CHECK(is_written_[static_cast<size_t>(input.index)],
                "phase {} reads {}, which nobody has written", name, graph().info(input).name);
  }
}

void Executor::run(std::string_view phase) { run_part(phase, 0, num_launches(phase)); }

void Executor::run_part(std::string_view phase, size_t begin, size_t end) {
  Phase& ready = phase_named(phase);
  CLOZE_CHECK(begin <= end && end <= ready.launches.size(), "launches {} to {} of {} in {}", begin,
              end, ready.launches.size(), phase);
  require_inputs(phase, end);
  inputs_->send();
  if (profiled().profiling_began_) return run_and_time(ready, begin, end);
  stream_->launch(std::span(ready.launches).subspan(begin, end - begin), ready.name);
}

size_t Executor::num_launches(std::string_view phase) const {
  return phase_named(phase).launches.size();
}

void Executor::run_and_time(const Phase& phase, size_t begin, size_t end) {
  std::vector<std::unique_ptr<backend::Event>> borders;
  borders.push_back(stream_->record());
  for (size_t i = begin; i < end; ++i) {
    stream_->launch({&phase.launches[i], 1}, phase.name);
    borders.push_back(stream_->record());
  }
  Executor& profiled = this->profiled();
  for (size_t i = begin; i < end; ++i) {
    const backend::Event& started = *borders[i - begin];
    profiled.spans_.push_back(
        {.program = &program_,
         .phase = static_cast<size_t>(&phase - phases_.data()),
         .launch = i,
         .begin = device_.seconds_between(*profiled.profiling_began_, started),
         .seconds = device_.seconds_between(started, *borders[i - begin + 1])});
  }
}

void Executor::set_profiling(bool on) {
  if (on) spans_.clear();
  profiling_began_ = on ? stream_->record() : nullptr;
}

std::optional<NonFiniteOutput> Executor::run_until_non_finite(std::string_view phase) {
  require_inputs(phase, num_launches(phase));
  inputs_->send();
  const Phase& ready = phase_named(phase);
  auto launch = ready.launches.begin();
  for (const Node* node : graph().nodes_of(phase)) {
    stream_->launch({&*launch++, 1}, ready.name);
    if (auto found = find_non_finite_output(*node)) return found;
  }
  return std::nullopt;
}

std::optional<NonFiniteOutput> Executor::find_non_finite_output(const Node& node) {
  for (const Value value : node.written()) {
    const ValueInfo& info = graph().info(value);
    const auto element = find_non_finite(value);
    if (!element) continue;
    return NonFiniteOutput{.phase = graph().phases()[static_cast<size_t>(node.phase.index)],
                           .node = node.name(),
                           .reads = parameters_read_by(graph(), node),
                           .tensor = describe_output(info),
                           .element = *element};
  }
  return std::nullopt;
}

std::optional<NonFiniteElement> Executor::find_non_finite(Value value) {
  for (ValueSlices slices(*this, value); slices.next();) {
    auto found = runtime::find_non_finite(slices.read<std::byte>(), graph().type(value).dtype);
    if (!found) continue;
    found->index += slices.first();
    return found;
  }
  return std::nullopt;
}

void Executor::write(Value value, std::span<const std::byte> bytes) {
  const ValueInfo& info = graph().info(value);
  CLOZE_CHECK(std::ssize(bytes) == info.type.bytes(), "{}: {} bytes written to {}", info.name,
              bytes.size(), info.type.bytes());
  write_part(value, 0, bytes);
  is_written_[static_cast<size_t>(value.index)] = true;
}

void Executor::read(Value value, std::span<std::byte> bytes) {
  const ValueInfo& info = graph().info(value);
  CLOZE_CHECK(std::ssize(bytes) == info.type.bytes(), "{}: {} bytes read of {}", info.name,
              bytes.size(), info.type.bytes());
  read_part(value, 0, bytes);
}

void Executor::read_part(Value value, int64_t offset, std::span<std::byte> bytes) {
  const ValueInfo& info = graph().info(value);
  CLOZE_CHECK(offset >= 0 && offset + std::ssize(bytes) <= info.type.bytes(),
              "{}: bytes {} to {} read of {}", info.name, offset, offset + std::ssize(bytes),
              info.type.bytes());
  if (is_in_image(value)) inputs_->send();
  stream_->copy_out(address(value) + offset, bytes);
}

void Executor::write_part(Value value, int64_t offset, std::span<const std::byte> bytes) {
  const ValueInfo& info = graph().info(value);
  CLOZE_CHECK(offset >= 0 && offset + std::ssize(bytes) <= info.type.bytes(),
              "{}: bytes {} to {} written of {}", info.name, offset, offset + std::ssize(bytes),
              info.type.bytes());
  if (is_in_image(value)) {
    inputs_->write(location_of(value).offset + offset, bytes);
  } else {
    stream_->copy_in(address(value) + offset, bytes);
  }
}

void Executor::clear(plan::Arena arena) {
  if (arena == plan::Arena::kInputs) {
    inputs_->clear();
    is_written_.assign(is_written_.size(), true);
    return;
  }
  const DeviceMemory& memory = *arenas_[static_cast<size_t>(arena)];
  stream_->fill_with_zeros(memory.start(), memory.bytes());
}

void Executor::clear(Value value) {
  CLOZE_CHECK(!is_in_image(value), "{} is an input", graph().info(value).name);
  stream_->fill_with_zeros(address(value), graph().type(value).bytes());
}

// Checks that the arena is read or written whole.
DeviceAddress Executor::start_of(plan::Arena arena, size_t bytes) const {
  CLOZE_CHECK(arena != plan::Arena::kInputs, "inputs are written one by one");
  CLOZE_CHECK(static_cast<int64_t>(bytes) == program_.bytes_of(arena), "{} bytes of {}, not {}",
              bytes, name_of(arena), program_.bytes_of(arena));
  return address({.arena = arena, .offset = 0});
}

void Executor::read(plan::Arena arena, std::span<std::byte> bytes) {
  stream_->copy_out(start_of(arena, bytes.size()), bytes);
}

void Executor::write(plan::Arena arena, std::span<const std::byte> bytes) {
  stream_->copy_in(start_of(arena, bytes.size()), bytes);
}

std::unique_ptr<backend::Event> Executor::begin_read(plan::Arena arena,
                                                     std::span<std::byte> block) {
  stream_->begin_copy_out(start_of(arena, block.size()), block);
  return stream_->record();
}

std::vector<LaunchProfile> Executor::profile() const {
  std::vector<size_t> first_row;
  std::vector<LaunchProfile> rows;
  for (const std::vector<plan::Launch>& launches : program_.phases) {
    first_row.push_back(rows.size());
    for (const plan::Launch& launch : launches) {
      rows.push_back({launch.name, launch.op->name, launch.kernel_name, launch.flops});
    }
  }
  for (const LaunchSpan& span : spans_) {
    if (span.program != &program_) continue;
    LaunchProfile& row = rows[first_row[span.phase] + span.launch];
    row.seconds += span.seconds;
    ++row.calls;
  }
  return rows;
}

}  // namespace cloze::runtime
