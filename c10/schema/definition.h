#pragma once

#include <cstdint>

// Numbers of an operator's definition (c10/dispatch/operator_def.h) which the
// generator writes and the library reads.

namespace sy {

// The facts of a definition beyond the signature: bits of OperatorDef::flags.
struct OperatorFlags {
  enum Flag : uint16_t {
    kNoDeviceCheck = 1,  // arguments may lie on any mix of devices
    kView = 2,           // results are views of an argument
    kInplace = 4,
    kOut = 8,
    kRandom = 16,
    kDifferentiable = 32,
    kExactOut = 64,        // out= must have exactly the dtype of the result
    kNoDeviceGuard = 128,  // kernels run without a guard for the device
    // Writes an argument, even one that the signature does not mark. kInplace
    // and kOut imply it.
    kWrites = 256,
    // Results may share memory with an argument. kView implies it.
    kAliases = 512,
    kGeometry = 1024,  // writes sizes, strides or storage, but no element
  };
};

// The sources of the arguments that a functional operator has and its form that
// writes does not: in FunctionalForm::args, beside positions.
struct FormPlaces {
  enum Place : int8_t {
    kDefault = -1,  // its default in the schema
    kDtype = -2,    // the dtype of the first written argument
    kDevice = -3,   // the device of the first written argument
  };
};

}  // namespace sy
