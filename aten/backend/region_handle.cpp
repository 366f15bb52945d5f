#include <utility>

#include "aten/backend/region.h"
#include "c10/device/backend.h"
#include "c10/device/backend_service.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/dispatch/thread_state.h"
#include "c10/plugin/library_token.h"

namespace sy {

RegionEngine* region_engine(DeviceType device) noexcept {
  return static_cast<RegionEngine*>(
      backend_service(device, BackendService::kRegions));
}

namespace {

// The engines of linked libraries are there from the first look-up on.
RegionEngine* engine_of(DeviceType device) {
  RegionEngine* engine = region_engine(device);
  if (SY_LIKELY(engine != nullptr)) return engine;
  init();
  return region_engine(device);
}

bool takes(RegionEngine* engine, DeviceType device, const Region& region,
           RegionReason* why) {
  if (engine == nullptr) {
    why->say("backend %s has no region engine",
             backend_key_name(device).c_str());
    return false;
  }
  return engine->supports(region, why);
}

}  // namespace

bool supports_region(DeviceType device, const Region& region,
                     RegionReason* why) {
  check_region(region);
  RegionReason unread;
  const CallScope in_call;
  return takes(engine_of(device), device, region,
               why == nullptr ? &unread : why);
}

RegionHandle prepare_region(DeviceType device, const Region& region) {
  check_region(region);
  const CallScope in_call;
  RegionEngine* const engine = engine_of(device);
  RegionReason why;
  SY_CHECK(takes(engine, device, region, &why), NotImplemented,
           "[region] expected one that device '{}' takes: {}",
           backend_device_name(device), why.text);
  RegionHandle handle;
  handle.device_ = device;
  handle.prepared_ = engine->prepare(region);
  handle.owner_ = owner_of_service(device, BackendService::kRegions);
  if (handle.owner_ != nullptr) handle.owner_->hold(LibraryToken::kObject);
  return handle;
}

RegionHandle::RegionHandle(const RegionHandle& o) noexcept
    : prepared_(o.prepared_), owner_(o.owner_), device_(o.device_) {
  if (owner_ != nullptr) owner_->hold(LibraryToken::kObject);
}
RegionHandle::RegionHandle(RegionHandle&& o) noexcept
    : prepared_(std::move(o.prepared_)),
      owner_(std::exchange(o.owner_, nullptr)),
      device_(o.device_) {}
RegionHandle& RegionHandle::operator=(RegionHandle o) noexcept {
  std::swap(prepared_, o.prepared_);
  std::swap(owner_, o.owner_);
  std::swap(device_, o.device_);
  return *this;
}
RegionHandle::~RegionHandle() {
  prepared_.reset();
  if (owner_ != nullptr) owner_->drop(LibraryToken::kObject);
}

void RegionHandle::run(const RegionCall& call) const {
  SY_CHECK(defined(), Value,
           "[region] expected a prepared one, got an empty handle");
  check_call(region(), call);
  const CallScope in_call;
  region_engine(device_)->run(*prepared_, call);
}

}  // namespace sy
