#include "backend/cuda/cuda_device.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backend/cuda/card_device.h"
#include "backend/cuda/cuda_backend.h"
#include "base/error.h"
#include "base/whole_number.h"

namespace cloze::backend::cuda {
namespace {

// A card that the machine need not have: programs are compiled for it, and nothing runs.
class PlannedDevice final : public Device {
 public:
  PlannedDevice(const Backend& backend, std::string kind)
      : backend_(backend), kind_(std::move(kind)) {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<DeviceMemory> allocate(size_t) override { refuse(); }
  std::unique_ptr<HostBlock> allocate_host(size_t) override { refuse(); }
  std::unique_ptr<Stream> make_stream() override { refuse(); }
  double seconds_between(const Event&, const Event&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw_user_error(
        "cuda:{} is a card to plan for, and nothing runs on it; to run, choose `device` cuda or "
        "cpu",
        kind_);
  }

  const Backend& backend_;
  std::string kind_;
};

// Nothing where no card of the machine has it.
std::optional<int> number_in_machine(std::string_view which) {
  const auto number = which.empty() ? std::optional<int>(0) : number_in<int>(which);
  const bool is_there = number && *number >= 0 && *number < std::ssize(cards().cards);
  return is_there ? number : std::nullopt;
}

int number_of(std::string_view which) {
  const Cards& found = cards();
  if (!found.can_be_used()) {
    throw_environment_error("{}; {}, or choose `device` cpu; cloze plan takes {} without a card",
                            found.refusal, found.advice, kCardsToPlanFor);
  }
  const std::optional<int> number = number_in_machine(which);
  if (!number) {
    throw_user_error(
        "there is no card cuda:{}: this machine has {}, numbered from 0; cloze plan takes {} as "
        "well",
        which, found.cards.size(), kCardsToPlanFor);
  }
  return *number;
}

class Devices {
 public:
  Device& find(std::string_view which) {
    const std::lock_guard lock(mutex_);
    if (const auto planned = card_to_plan_for(which)) {
      return add(std::string(which), *planned, [&](const Backend& backend) {
        return std::make_unique<PlannedDevice>(backend, std::string(which));
      });
    }
    const int number = number_of(which);
    const Card& card = cards().cards[static_cast<size_t>(number)];
    if (const std::string refusal = card.refusal(); !refusal.empty()) {
      throw_environment_error(
          "card cuda:{}, {}, cannot be used: {}; choose another, or `device` cpu", number,
          card.name, refusal);
    }
    return add(std::to_string(number), card, [&](const Backend& backend) {
      return std::make_unique<CardDevice>(backend, number);
    });
  }

 private:
  template <typename Make>
  Device& add(const std::string& name, const Card& card, const Make& make) {
    auto& [backend, device] = devices_[name];
    if (!device) {
      backend = std::make_unique<CudaBackend>(card);
      device = make(*backend);
    }
    return *device;
  }

  std::mutex mutex_;
  std::map<std::string, std::pair<std::unique_ptr<CudaBackend>, std::unique_ptr<Device>>> devices_;
};

}  // namespace

std::optional<Card> find_card(std::string_view which) {
  if (const auto planned = card_to_plan_for(which)) return planned;
  const std::optional<int> number = number_in_machine(which);
  if (!number || !cards().has_products) return std::nullopt;
  const Card& card = cards().cards[static_cast<size_t>(*number)];
  return card.refusal().empty() ? std::optional(card) : std::nullopt;
}

Device& device(std::string_view which) {
  static Devices devices;
  return devices.find(which);
}

}  // namespace cloze::backend::cuda
