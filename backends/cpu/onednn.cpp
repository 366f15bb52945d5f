#include "backends/cpu/onednn_api.h"
#include "backends/cpu/optional_library.h"

namespace sy::cpu {

const OneDnnApi* onednn() {
  static const OneDnnApi* const api =
      load_table<OneDnnApi>({"libswitchyard_onednn.so", "switchyard_onednn_api",
                             "SWITCHYARD_ONEDNN"});
  return api;
}

}  // namespace sy::cpu
