#include "aten/engine/foreach.h"

#include "aten/engine/guard.h"
#include "aten/engine/operator_steps.h"

namespace sy::generated {

void check_foreach(const char* op, const char* argument, size_t size) {
  SY_CHECK(size > 0, Value, "[{}] {}: expected at least one tensor, got none",
           op, argument);
}

void check_length(const char* op, const char* argument, size_t size,
                  size_t expected) {
  SY_CHECK(size == expected, Value,
           "[{}] {}: expected {} elements, one for each tensor, got {}", op,
           argument, expected, size);
}

void store_each(const OperatorEntry& op, const std::vector<Tensor>& results,
                TensorList out) {
  check_outs_apart(op, out);
  for (size_t i = 0; i < results.size(); ++i) {
    check_out_dtype(op, out[i], results[i].scalar_type());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor to = out[i];
    store_result(op, results[i], to);
  }
}

void name_writers(const OperatorEntry& op, TensorList written) {
  for (const Tensor& t : written) name_writer(t, &op);
}

}  // namespace sy::generated
