#include "backends/cpu/onednn/matmul.h"

#include <omp.h>

#include <cstring>
#include <list>
#include <unordered_map>

#include "dnnl.hpp"

namespace sy::cpu {

namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

// All that a primitive is made for; compared as bytes.
struct Key {
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col, c_row;
  float alpha, beta;
  OneDnnType type;
  uint32_t bias;
  int32_t threads;
  int32_t unused;

  friend bool operator==(const Key& a, const Key& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};
static_assert(sizeof(Key) % sizeof(uint64_t) == 0 &&
              std::has_unique_object_representations_v<int64_t>);

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t words[sizeof(Key) / sizeof(uint64_t)];
    std::memcpy(words, &key, sizeof words);
    uint64_t h = 0;
    for (const uint64_t w : words) {
      h = (h ^ w) * 0x9E3779B97F4A7C15u;
      h ^= h >> 32;
    }
    return h;
  }
};

struct Prepared {
  memory::desc a, b, c, bias, scratch;
  dnnl::matmul primitive;
};

memory::data_type type_of(OneDnnType t) {
  switch (t) {
    case OneDnnType::bf16: return memory::data_type::bf16;
    case OneDnnType::f16: return memory::data_type::f16;
    default: return memory::data_type::f32;
  }
}

Prepared prepare(const Key& key) {
  const memory::data_type t = type_of(key.type);
  Prepared p;
  p.a = memory::desc({key.m, key.k}, t, {key.a_row, key.a_col});
  p.b = memory::desc({key.k, key.n}, t, {key.b_row, key.b_col});
  p.c = memory::desc({key.m, key.n}, t, {key.c_row, 1});
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
  const auto desc =
      key.bias != 0
          ? dnnl::matmul::primitive_desc(engine(), p.a, p.b, p.bias, p.c, attr)
          : dnnl::matmul::primitive_desc(engine(), p.a, p.b, p.c, attr);
  p.scratch = desc.scratchpad_desc();
  p.primitive = dnnl::matmul(desc);
  return p;
}

// The primitives last used by this thread: making one costs as much as a
// product of matrices of 256.
class Cache {
 public:
  const Prepared& get(const Key& key) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    order_.emplace_front(key, prepare(key));
    index_[key] = order_.begin();
    if (order_.size() > kMost) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }
  void* scratch(size_t bytes) {
    if (bytes > scratch_.get_desc().get_size()) {
      scratch_ = memory({{static_cast<memory::dim>(bytes)},
                         memory::data_type::u8,
                         memory::format_tag::a},
                        engine());
    }
    return scratch_.get_data_handle();
  }

 private:
  static constexpr size_t kMost = 256;
  using Order = std::list<std::pair<Key, Prepared>>;
  Order order_;
  std::unordered_map<Key, Order::iterator, KeyHash> index_;
  memory scratch_{{{1}, memory::data_type::u8, memory::format_tag::a},
                  engine()};
};

// oneDNN asks OpenMP for its number of threads.
class Threads {
 public:
  explicit Threads(int n) : before_(omp_get_max_threads()) {
    if (n != before_) omp_set_num_threads(n);
  }
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

void run(const OneDnnMatmul& x) {
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

  const Threads threads(x.threads);
  thread_local Cache cache;
  thread_local dnnl::stream stream(engine());
  const Prepared& p = cache.get(key);
  const auto over = [](const memory::desc& d, const void* data) {
    return memory(d, engine(), const_cast<void*>(data));
  };
  const size_t item = x.type == OneDnnType::f32 ? 4 : 2;
  for (int64_t i = 0; i < x.batch; ++i) {
    const auto at = [&](const void* data, int64_t step) {
      return static_cast<const char*>(data) +
             i * step * static_cast<int64_t>(item);
    };
    std::unordered_map<int, memory> args = {
        {DNNL_ARG_SRC, over(p.a, at(x.a, x.a_batch))},
        {DNNL_ARG_WEIGHTS, over(p.b, at(x.b, x.b_batch))},
        {DNNL_ARG_DST, over(p.c, at(x.c, x.c_batch))},
        {DNNL_ARG_SCRATCHPAD,
         over(p.scratch, cache.scratch(p.scratch.get_size()))}};
    if (x.bias != nullptr) args.emplace(DNNL_ARG_BIAS, over(p.bias, x.bias));
    p.primitive.execute(stream, args);
  }
  stream.wait();
}

}  // namespace

bool onednn_matmul(const OneDnnMatmul* problem) {
  // A bias is added before what scales.
  if (problem->bias != nullptr && problem->alpha != 1) return false;
  try {
    run(*problem);
    return true;
  } catch (const dnnl::error&) {
    return false;  // not supported on this machine
  }
}

}  // namespace sy::cpu
