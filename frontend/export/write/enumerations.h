#pragma once

#include <cstdint>
#include <string>

#include "c10/device/device.h"
#include "c10/process/error.h"
#include "c10/tensor/scalar_type.h"
#include "c10/tensor/tensor_options.h"
#include "frontend/export/write/json_writer.h"

// The numbers of PyTorch's schema.

namespace sy::exporting {

constexpr int64_t kStridedLayout = 7;

inline int64_t number_of(ScalarType t) {
  switch (t) {
    case kByte: return 1;
    case kChar: return 2;
    case kShort: return 3;
    case kInt: return 4;
    case kLong: return 5;
    case kHalf: return 6;
    case kFloat: return 7;
    case kDouble: return 8;
    case kBool: return 12;
    case kBFloat16: return 13;
    default: break;
  }
  fail(ErrorKind::Type, "[export_program] expected a dtype of PyTorch, got {}",
       t);
}

inline int64_t number_of(MemoryFormat f) {
  switch (f) {
    case MemoryFormat::Contiguous: return 1;
    case MemoryFormat::ChannelsLast: return 2;
    case MemoryFormat::ChannelsLast3d: return 3;
    case MemoryFormat::Preserve: return 4;
  }
  return 0;
}

inline void write_device(JsonWriter& out, Device d) {
  const std::string text = to_string(d);
  out.begin_object().key("type").text(text.substr(0, text.find(':')));
  out.key("index");
  if (d.is_cpu()) {
    out.null();
  } else {
    out.integer(d.index());
  }
  out.end_object();
}

}  // namespace sy::exporting
