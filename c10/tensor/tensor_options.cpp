#include "c10/tensor/tensor_options.h"

namespace sy {

std::string to_string(MemoryFormat f) {
  switch (f) {
    case MemoryFormat::Contiguous: return "contiguous";
    case MemoryFormat::Preserve: return "preserve";
    case MemoryFormat::ChannelsLast: return "channels_last";
    case MemoryFormat::ChannelsLast3d: return "channels_last_3d";
  }
  return "no memory format";
}

}  // namespace sy
