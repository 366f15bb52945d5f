#include "backends/cpu/onednn/convolution.h"
#include "backends/cpu/onednn/lstm.h"
#include "backends/cpu/onednn/matmul.h"
#include "c10/macros.h"

// The one symbol of libswitchyard_onednn.so; see backends/cpu/onednn/api.h.
extern "C" SY_API const sy::cpu::OneDnnApi* switchyard_onednn_api() {
  static constexpr sy::cpu::OneDnnApi kApi = {
      sy::cpu::OneDnnApi::kVersion, &sy::cpu::onednn_matmul,
      &sy::cpu::onednn_convolution, &sy::cpu::onednn_lstm};
  return &kApi;
}
