#include "backends/cuda/engine/pointwise_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>

#include "backends/cuda/compile/hash.h"
#include "backends/cuda/compile/jit.h"
#include "backends/cuda/engine/interpret.h"

namespace sy::cuda {

using print::PointwiseKernel;
using program::Program;

namespace {

// The facts that stand for a kernel beside the arrays of its program.
struct Facts {
  uint64_t word[5];

  explicit Facts(const PointwiseKernel& k) {
    const Program& p = *k.program;
    word[0] = uint64_t{p.n_steps} | uint64_t{p.n_inputs} << 16 |
              uint64_t{p.n_uniforms} << 24 | uint64_t{p.n_results} << 32 |
              static_cast<uint64_t>(k.type) << 40 |
              static_cast<uint64_t>(k.index) << 48 | uint64_t{k.rank} << 52 |
              uint64_t{k.packs} << 60;
    word[1] = 0;
    for (int i = 0; i < k.operands(); ++i) {
      word[1] = word[1] << 4 | static_cast<uint64_t>(k.dtypes[i]);
    }
    // There are at most 10 operands.
    word[2] = k.immediate | k.single << 16 | k.transposed << 32;
    word[3] = p.bool_inputs;
    word[4] = p.bool_uniforms;
  }
};

uint64_t fold(uint64_t x, uint64_t y) {
  const auto wide = static_cast<unsigned __int128>(x) * y;
  return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64);
}

uint64_t hash_bytes(const void* data, size_t bytes, uint64_t h) {
  const char* at = static_cast<const char*>(data);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    h = fold(h ^ word, 0x9E3779B97F4A7C15u);
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < bytes; ++i) {
    rest |= uint64_t{static_cast<uint8_t>(at[i])} << (8 * i);
  }
  return fold(h ^ rest, 0xD6E8FEB86659FD93u);
}

uint64_t hash_of(const PointwiseKernel& k, int device) {
  const Facts facts(k);
  uint64_t h = fold(facts.word[0] ^ static_cast<uint64_t>(device) << 56,
                    0x9E3779B97F4A7C15u) ^
               fold(facts.word[1] + 0x243F6A8885A308D3u, 0xD6E8FEB86659FD93u);
  h ^= fold(facts.word[2] ^ facts.word[3] << 48, 0xA0761D6478BD642Fu);
  h ^= std::rotl(facts.word[4], 24);
  const Program& p = *k.program;
  h = hash_bytes(p.steps, p.n_steps * sizeof(program::Step), h);
  return hash_bytes(p.results, p.n_results * sizeof(program::Result), h);
}

static_assert(std::has_unique_object_representations_v<program::Step> &&
              std::has_unique_object_representations_v<program::Result>);

}  // namespace

// Open addressing. A table that is full is followed by one twice as large; the
// old one stays, as a reader may be in it. Leaked, as threads may outlive
// everything.
class PointwiseTable {
 public:
  static PointwiseTable& get() {
    static auto* const t = new PointwiseTable;
    return *t;
  }

  const PointwiseEntry* find(const PointwiseKernel& k, int device,
                             uint64_t hash) const noexcept {
    const Slots& s = *slots_.load(std::memory_order_acquire);
    for (uint64_t i = hash & s.mask;; i = (i + 1) & s.mask) {
      const PointwiseEntry* const e = s.at[i].load(std::memory_order_acquire);
      if (e == nullptr) return nullptr;
      if (e->hash_ == hash && e->is_for(k, device)) return e;
    }
  }

  const PointwiseEntry& add(const PointwiseKernel& k, int device, uint64_t hash,
                            const char* name) {
    const std::lock_guard lock(adding_);
    if (const PointwiseEntry* const e = find(k, device, hash)) return *e;
    auto fresh = std::make_unique<PointwiseEntry>(k, device, hash, name);
    const Slots* s = slots_.load(std::memory_order_relaxed);
    if (++used_ * 2 > s->mask) {
      auto more = std::make_unique<Slots>(2 * (s->mask + 1), s);
      for (uint64_t i = 0; i <= s->mask; ++i) {
        const PointwiseEntry* const e =
            s->at[i].load(std::memory_order_relaxed);
        if (e != nullptr) put(*more, e);
      }
      slots_.store(s = more.release(), std::memory_order_release);
    }
    put(*s, fresh.get());
    return *fresh.release();
  }

 private:
  struct Slots {
    explicit Slots(uint64_t n, const Slots* old = nullptr)
        : before(old),
          mask(n - 1),
          at(std::make_unique<std::atomic<const PointwiseEntry*>[]>(n)) {}
    const Slots* before;  // the old one, so that it counts as no leak
    uint64_t mask;
    std::unique_ptr<std::atomic<const PointwiseEntry*>[]> at;
  };
  static void put(const Slots& s, const PointwiseEntry* e) {
    uint64_t i = e->hash_ & s.mask;
    while (s.at[i].load(std::memory_order_relaxed) != nullptr) {
      i = (i + 1) & s.mask;
    }
    s.at[i].store(e, std::memory_order_release);
  }

  std::mutex adding_;
  uint64_t used_ = 0;
  std::atomic<const Slots*> slots_{new Slots(1024)};
};

PointwiseEntry::PointwiseEntry(const PointwiseKernel& k, int device,
                               uint64_t hash, const char* name)
    : hash_(hash),
      device_(device),
      program_(*k.program),
      steps_(program_.steps, program_.steps + program_.n_steps),
      results_(program_.results, program_.results + program_.n_results),
      dtypes_(k.dtypes, k.dtypes + k.operands()),
      kernel_(k),
      tile_(print::tile_of(k)) {
  program_.steps = steps_.data();
  program_.results = results_.data();
  kernel_.program = &program_;
  kernel_.dtypes = dtypes_.data();
  label_ = str("{} of {}", name, dtype_name(program::storage_of(kernel_.type)));
  special_ = needs_special_functions(program_, kernel_.type);
  const Facts facts(kernel_);
  Hasher h;
  h.add("pointwise");
  for (const uint64_t w : facts.word) h.add(w);
  h.add(std::string_view(reinterpret_cast<const char*>(steps_.data()),
                         steps_.size() * sizeof(program::Step)));
  h.add(std::string_view(reinterpret_cast<const char*>(results_.data()),
                         results_.size() * sizeof(program::Result)));
  const Hash made = h.end();
  key_ = {{made.a, made.b}};
}

bool PointwiseEntry::is_for(const PointwiseKernel& k,
                            int device) const noexcept {
  const Program& p = *k.program;
  const Facts a(k), b(kernel_);
  return device == device_ && std::memcmp(&a, &b, sizeof a) == 0 &&
         std::equal(steps_.begin(), steps_.end(), p.steps) &&
         std::equal(results_.begin(), results_.end(), p.results);
}

const Function* PointwiseEntry::ask() const {
  const Function* f = program(device_, key_, *this);
  // The program alone is there sooner if the interpreter would have to be
  // compiled first.
  if (f == nullptr && jit_mode() == JitMode::kBackground &&
      !has_interpreter(device_, kernel_.type, special_)) {
    finish_compiling();
    f = program(device_, key_, *this);
  }
  function_.store(f, std::memory_order_release);
  return f;
}

std::string PointwiseEntry::text(const std::string& name) const {
  return print::print_pointwise(kernel_, name);
}

std::string PointwiseEntry::label() const { return label_; }

const PointwiseEntry* find_pointwise_entry(const PointwiseKernel& k,
                                           int device) noexcept {
  return PointwiseTable::get().find(k, device, hash_of(k, device));
}

const PointwiseEntry& pointwise_entry(const PointwiseKernel& k, int device,
                                      const char* name) {
  const uint64_t hash = hash_of(k, device);
  PointwiseTable& t = PointwiseTable::get();
  const PointwiseEntry* const e = t.find(k, device, hash);
  return SY_LIKELY(e != nullptr) ? *e : t.add(k, device, hash, name);
}

}  // namespace sy::cuda
