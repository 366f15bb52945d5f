#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// Arguments of histogram_searchsorted.cu. Rows lie one after the other.
struct SearchParams {
  LaunchHead head;
  long long n;      // elements of a row
  long long count;  // values
  long long width;  // values for each row
  const void* rows;
  const void* values;
  const void* order;  // int64: where the elements of a row are, or nullptr
  void* out;
  int right;   // behind equals
  int narrow;  // the results are of int32
};

}  // namespace sy::cuda
