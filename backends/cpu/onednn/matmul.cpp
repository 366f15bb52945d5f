#include "backends/cpu/onednn/matmul.h"

#include "backends/cpu/onednn/common.h"

namespace sy::cpu {

namespace {

using dnnl::memory;

// All that a primitive is made for; compared as bytes.
struct Key {
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col, c_row;
  float alpha, beta;
  OneDnnType type;
  uint32_t bias;
  int32_t threads;
  uint32_t packed;
};

struct Prepared {
  memory::desc a, b, c, bias, scratch;
  dnnl::matmul primitive;
  // A packed b: its layout as it is taken, and the reorder from b as it lies.
  memory::desc packed;
  uint64_t layout = 0;
  dnnl::reorder pack;
};

bool is_whole(OneDnnType t) {
  return t == OneDnnType::s8 || t == OneDnnType::u8;
}

// Older instructions add pairs of products in 16 bits, which may not hold them.
bool has_exact_whole_products() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx2_vnni_2:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_fp16:
    case dnnl::cpu_isa::avx512_core_amx:
    case dnnl::cpu_isa::avx512_core_amx_fp16: return true;
    default: return false;
  }
}

Prepared prepare(const Key& key) {
  const memory::data_type t = onednn_type(key.type);
  Prepared p;
  p.a = memory::desc({key.m, key.k}, t, {key.a_row, key.a_col});
  const bool whole = is_whole(key.type);
  const memory::data_type bt = whole ? memory::data_type::s8 : t;
  const memory::data_type ct = whole ? memory::data_type::s32 : t;
  p.b = memory::desc({key.k, key.n}, bt, {key.b_row, key.b_col});
  p.c = memory::desc({key.m, key.n}, ct, {key.c_row, 1});
  if (key.bias != 0) {
    p.bias = memory::desc({1, key.n}, t, memory::format_tag::ab);
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops post;
  if (key.alpha != 1) {
    post.append_eltwise(dnnl::algorithm::eltwise_linear, key.alpha, 0);
  }
  if (key.beta != 0) post.append_sum(key.beta);
  attr.set_post_ops(post);
  const memory::desc b = key.packed != 0 ? memory::desc({key.k, key.n}, bt,
                                                        memory::format_tag::any)
                                         : p.b;
  const auto desc =
      key.bias != 0
          ? dnnl::matmul::primitive_desc(onednn_engine(), p.a, b, p.bias, p.c,
                                         attr)
          : dnnl::matmul::primitive_desc(onednn_engine(), p.a, b, p.c, attr);
  if (key.packed != 0) {
    p.packed = desc.weights_desc();
    p.layout = onednn_layout(p.packed);
    p.pack = dnnl::reorder(dnnl::reorder::primitive_desc(
        onednn_engine(), p.b, onednn_engine(), p.packed));
  }
  p.scratch = desc.scratchpad_desc();
  p.primitive = dnnl::matmul(desc);
  return p;
}

// Memory that primitives work in.
class Scratch {
 public:
  void* get(size_t bytes) {
    if (bytes > room_.get_desc().get_size()) {
      room_ = memory({{static_cast<memory::dim>(bytes)},
                      memory::data_type::u8,
                      memory::format_tag::a},
                     onednn_engine());
    }
    return room_.get_data_handle();
  }

 private:
  memory room_{{{1}, memory::data_type::u8, memory::format_tag::a},
               onednn_engine()};
};

bool run(const OneDnnMatmul& x) {
  Key key;
  std::memset(&key, 0, sizeof key);
  key.m = x.m;
  key.n = x.n;
  key.k = x.k;
  key.a_row = x.a_row;
  key.a_col = x.a_col;
  key.b_row = x.b_row;
  key.b_col = x.b_col;
  key.c_row = x.c_row;
  key.alpha = x.alpha;
  key.beta = x.beta;
  key.type = x.type;
  key.bias = x.bias != nullptr;
  key.threads = x.threads;
  key.packed = x.packed != nullptr;

  const OneDnnThreads threads(x.threads);
  thread_local OneDnnCache<Key, Prepared> cache;
  thread_local Scratch scratch;
  thread_local dnnl::stream stream(onednn_engine());
  const Prepared& p = cache.get(key, prepare);
  const size_t item = onednn_item(x.type);
  memory weight;
  if (x.packed != nullptr) {
    bool filled = false;
    void* const room =
        x.packed(x.packed_context, p.layout, p.packed.get_size(), &filled);
    if (room == nullptr) return false;
    weight = onednn_memory(p.packed, room);
    if (!filled) {
      memory b = onednn_memory(p.b, x.b);
      p.pack.execute(stream, b, weight);
    }
  }
  for (int64_t i = 0; i < x.batch; ++i) {
    const auto at = [&](const void* data, int64_t step) {
      return static_cast<const char*>(data) +
             i * step * static_cast<int64_t>(item);
    };
    std::unordered_map<int, memory> args = {
        {DNNL_ARG_SRC, onednn_memory(p.a, at(x.a, x.a_batch))},
        {DNNL_ARG_WEIGHTS,
         x.packed != nullptr ? weight : onednn_memory(p.b, at(x.b, x.b_batch))},
        {DNNL_ARG_DST, onednn_memory(p.c, at(x.c, x.c_batch))},
        {DNNL_ARG_SCRATCHPAD,
         onednn_memory(p.scratch, scratch.get(p.scratch.get_size()))}};
    if (x.bias != nullptr)
      args.emplace(DNNL_ARG_BIAS, onednn_memory(p.bias, x.bias));
    p.primitive.execute(stream, args);
  }
  stream.wait();
  return true;
}

}  // namespace

bool onednn_matmul(const OneDnnMatmul* problem) {
  // A bias is added before what scales.
  if (problem->bias != nullptr && problem->alpha != 1) return false;
  if (problem->batch != 1 &&
      (problem->packed != nullptr || is_whole(problem->type))) {
    return false;
  }
  if (is_whole(problem->type) && !has_exact_whole_products()) return false;
  try {
    return run(*problem);
  } catch (const dnnl::error&) {
    return false;  // not supported on this machine
  }
}

}  // namespace sy::cpu
