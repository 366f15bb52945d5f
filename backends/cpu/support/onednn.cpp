#include "backends/cpu/onednn/api.h"
#include "backends/cpu/support/optional_library.h"
#include "c10/process/fork.h"

namespace sy::cpu {

namespace {

constexpr OptionalLibrary kLibrary = {
    "libswitchyard_onednn.so", "switchyard_onednn_api", "SWITCHYARD_ONEDNN"};

}  // namespace

const OneDnnApi* onednn() {
  const ForkSection section;
  static const OneDnnApi* const api = load_table<OneDnnApi>(kLibrary);
  return api;
}

std::string why_no_onednn() { return why_not_loaded(kLibrary); }

}  // namespace sy::cpu
