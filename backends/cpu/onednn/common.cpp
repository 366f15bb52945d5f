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
    case OneDnnType::s8: return dnnl::memory::data_type::s8;
    case OneDnnType::u8: return dnnl::memory::data_type::u8;
    default: return dnnl::memory::data_type::f32;
  }
}

dnnl::memory onednn_memory(const dnnl::memory::desc& d, const void* data) {
  return dnnl::memory(d, onednn_engine(), const_cast<void*>(data));
}

uint64_t onednn_layout(const dnnl::memory::desc& d) {
  uint64_t hash = 14695981039346656037ull;  // FNV-1a
  const auto add = [&](const dnnl::memory::dims& values) {
    hash = (hash ^ values.size()) * 1099511628211ull;
    for (const dnnl::memory::dim v : values) {
      hash = (hash ^ static_cast<uint64_t>(v)) * 1099511628211ull;
      hash ^= hash >> 29;
    }
  };
  add(d.get_dims());
  add(d.get_padded_dims());
  add(d.get_strides());
  add(d.get_inner_blks());
  add(d.get_inner_idxs());
  add({static_cast<dnnl::memory::dim>(d.get_data_type())});
  return hash;
}

OneDnnThreads::OneDnnThreads(int n) : before_(omp_get_max_threads()) {
  if (n != before_) omp_set_num_threads(n);
}
OneDnnThreads::~OneDnnThreads() { omp_set_num_threads(before_); }

}  // namespace sy::cpu
