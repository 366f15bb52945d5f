#include "backends/cpu/onednn/common.h"

#include <omp.h>

namespace sy::cpu {

const dnnl::engine& onednn_engine() {
  static const auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

dnnl::memory::data_type onednn_type(OneDnnType t) {
  switch (t) {
    case OneDnnType::bf16: return dnnl::memory::data_type::bf16;
    case OneDnnType::f16: return dnnl::memory::data_type::f16;
    default: return dnnl::memory::data_type::f32;
  }
}

dnnl::memory onednn_memory(const dnnl::memory::desc& d, const void* data) {
  return dnnl::memory(d, onednn_engine(), const_cast<void*>(data));
}

OneDnnThreads::OneDnnThreads(int n) : before_(omp_get_max_threads()) {
  if (n != before_) omp_set_num_threads(n);
}
OneDnnThreads::~OneDnnThreads() { omp_set_num_threads(before_); }

}  // namespace sy::cpu
