#pragma once

#include <string_view>
#include <vector>

#include "c10/dispatch/dispatcher.h"
#include "tools/sy/cases/arguments.h"

// The arguments of a call on a device.

namespace sy::tools {

// An argument or a result, by number, that lies on the CPU whatever the device,
// as in PyTorch; -1 if there is none.
struct OnHost {
  std::string_view op;
  int argument = -1, result = -1;
};
OnHost on_host(OperatorHandle op);

// Copies on a device: of tensors the same bytes and views, of a device argument
// that names the CPU the device. A tensor that the operator wants on the CPU
// stays there.
std::vector<Value> moved(OperatorHandle op, const Arguments& in, Device device);

}  // namespace sy::tools
