#include "backends/cpu/onednn/convolution.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "backends/cpu/onednn/common.h"

namespace sy::cpu {

namespace {

using dnnl::memory;
using Forward = dnnl::convolution_forward;
using ByInput = dnnl::convolution_backward_data;
using ByWeight = dnnl::convolution_backward_weights;

// All that a primitive is made for; compared as bytes.
struct Key {
  int64_t dims, batch, in, out, groups;
  int64_t x[3], y[3], kernel[3], stride[3], padding[3], dilation[3];
  OneDnnPart part;
  OneDnnType type, w_type;
  uint32_t channels_last, w_channels_last, bias;
  int32_t threads;
  uint32_t unused;
};

// Operands as they are given, and as the primitive takes them.
struct Operand {
  memory::desc given, taken;
  std::optional<dnnl::reorder> reorder;  // from one to the other
  size_t room() const { return reorder ? taken.get_size() : 0; }
};

struct Prepared {
  bool supported = false;
  Operand x, w, y;
  memory::desc bias, scratch;
  dnnl::primitive primitive;
  uint64_t layout = 0;  // of w, as it is taken
};

// Row-major, or with dim 1 (`channel`) moved behind all.
memory::desc plain(const memory::dims& sizes, memory::data_type type,
                   size_t channel, bool channels_last) {
  memory::dims strides(sizes.size());
  int64_t step = 1;
  if (channels_last) {
    strides[channel] = step;
    step *= sizes[channel];
  }
  for (size_t d = sizes.size(); d-- > 0;) {
    if (channels_last && d == channel) continue;
    strides[d] = step;
    step *= sizes[d];
  }
  return memory::desc(sizes, type, strides);
}

memory::desc any(const memory::desc& d) {
  return memory::desc(d.get_dims(), d.get_data_type(), memory::format_tag::any);
}

// The layout of d in blocks of 16 channels.
memory::desc blocked(const memory::desc& d) {
  constexpr memory::format_tag kTags[] = {memory::format_tag::nCw16c,
                                          memory::format_tag::nChw16c,
                                          memory::format_tag::nCdhw16c};
  return memory::desc(d.get_dims(), d.get_data_type(),
                      kTags[d.get_dims().size() - 3]);
}

// One channel each, row by row: oneDNN would take channels last, and bringing
// them there and back takes longer than what it does with them.
bool prefers_blocks(const Key& k) {
  return k.part == OneDnnPart::forward && k.channels_last == 0 &&
         k.groups == k.in && k.groups == k.out && k.groups % 16 == 0;
}

void join(Operand& o, const memory::desc& taken, bool is_result) {
  o.taken = taken;
  if (taken == o.given) return;
  const memory::desc& from = is_result ? o.taken : o.given;
  const memory::desc& to = is_result ? o.given : o.taken;
  o.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(onednn_engine(), from,
                                                          onednn_engine(), to));
}

// Sets the padding on both sides of dim d; behind, only as much as the result
// needs.
void set_padding(const Key& k, size_t d, memory::dims* before,
                 memory::dims* behind) {
  const int64_t reach = (k.kernel[d] - 1) * k.dilation[d] + 1;
  const int64_t p = k.padding[d];
  before->push_back(p);
  const bool even = (k.x[d] + 2 * p - reach) / k.stride[d] + 1 == k.y[d];
  behind->push_back(even ? p : (k.y[d] - 1) * k.stride[d] + reach - k.x[d] - p);
}

// Loops that only say what is right; own kernels are faster.
bool is_reference(const dnnl::primitive_desc_base& d) {
  return std::string_view(d.impl_info_str()).starts_with("ref");
}

Prepared prepare_supported(const Key& k, bool in_blocks) {
  const memory::data_type t = onednn_type(k.type);
  memory::dims x{k.batch, k.in}, y{k.batch, k.out}, w;
  if (k.groups == 1) {
    w = {k.out, k.in};
  } else {
    w = {k.groups, k.out / k.groups, k.in / k.groups};
  }
  const size_t w_channel = w.size() - 1;
  memory::dims stride, before, behind, dilation;
  for (size_t d = static_cast<size_t>(3 - k.dims); d < 3; ++d) {
    x.push_back(k.x[d]);
    y.push_back(k.y[d]);
    w.push_back(k.kernel[d]);
    stride.push_back(k.stride[d]);
    dilation.push_back(k.dilation[d] - 1);
    set_padding(k, d, &before, &behind);
  }
  Prepared p;
  p.x.given = plain(x, t, 1, k.channels_last != 0);
  p.y.given = plain(y, t, 1, k.channels_last != 0);
  p.w.given =
      plain(w, onednn_type(k.w_type), w_channel, k.w_channels_last != 0);
  // Operands that lie channels last are taken as they are: the kernels for them
  // are as good.
  const bool as_given = k.channels_last != 0;
  const auto layout = [&](const memory::desc& d) {
    return as_given ? d : in_blocks ? blocked(d) : any(d);
  };
  const memory::desc dx = layout(p.x.given), dy = layout(p.y.given);
  const memory::desc dw = any(p.w.given);
  p.bias = k.bias == 0 ? memory::desc()
                       : memory::desc({k.out}, t, memory::format_tag::a);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = onednn_engine();
  // The layout of w here is only a hint to the others, in the type of x.
  const memory::desc forward_w(w, t, memory::format_tag::any);
  const bool trains = k.part != OneDnnPart::forward;
  const Forward::primitive_desc forward(
      engine,
      trains ? dnnl::prop_kind::forward_training
             : dnnl::prop_kind::forward_inference,
      algorithm, dx, forward_w, p.bias, dy, stride, dilation, before, behind,
      attr);
  switch (k.part) {
    case OneDnnPart::forward: {
      if (is_reference(forward)) return {};
      join(p.x, forward.src_desc(), false);
      join(p.w, forward.weights_desc(), false);
      join(p.y, forward.dst_desc(), true);
      p.scratch = forward.scratchpad_desc();
      p.primitive = Forward(forward);
      break;
    }
    case OneDnnPart::by_input: {
      const ByInput::primitive_desc desc(engine, algorithm, dx, dw, dy, stride,
                                         dilation, before, behind, forward,
                                         attr);
      if (is_reference(desc)) return {};
      join(p.x, desc.diff_src_desc(), true);
      join(p.w, desc.weights_desc(), false);
      join(p.y, desc.diff_dst_desc(), false);
      p.scratch = desc.scratchpad_desc();
      p.primitive = ByInput(desc);
      break;
    }
    case OneDnnPart::by_weight: {
      const ByWeight::primitive_desc desc(engine, algorithm, dx, dw, dy, stride,
                                          dilation, before, behind, forward,
                                          attr);
      if (is_reference(desc)) return {};
      join(p.x, desc.src_desc(), false);
      join(p.w, desc.diff_weights_desc(), true);
      join(p.y, desc.diff_dst_desc(), false);
      p.scratch = desc.scratchpad_desc();
      p.primitive = ByWeight(desc);
      break;
    }
  }
  p.supported = true;
  p.layout = onednn_layout(p.w.taken);
  return p;
}

// The cache also remembers that a key is not supported.
Prepared prepare(const Key& k) {
  for (const bool in_blocks : {true, false}) {
    if (in_blocks && !prefers_blocks(k)) continue;
    try {
      const Prepared p = prepare_supported(k, in_blocks);
      if (p.supported) return p;
    } catch (const dnnl::error& e) {
      if (e.status == dnnl_out_of_memory) throw;
    }
  }
  return {};
}

Key key_of(const OneDnnConvolution& c, int64_t batch) {
  Key k;
  std::memset(&k, 0, sizeof k);
  k.dims = c.dims;
  k.batch = batch;
  k.in = c.in;
  k.out = c.out;
  k.groups = c.groups;
  for (int d = 0; d < 3; ++d) {
    k.x[d] = c.x_size[d];
    k.y[d] = c.y_size[d];
    k.kernel[d] = c.kernel[d];
    k.stride[d] = c.stride[d];
    k.padding[d] = c.padding[d];
    k.dilation[d] = c.dilation[d];
  }
  k.part = c.part;
  k.type = c.type;
  k.w_type = c.w_type;
  k.channels_last = c.channels_last;
  k.w_channels_last = c.w_channels_last;
  k.bias = c.bias != nullptr;
  k.threads = c.threads;
  return k;
}

Prepared& prepared(const Key& key) {
  thread_local OneDnnCache<Key, Prepared> cache;
  return cache.get(key, prepare);
}

void copy(const Operand& o, dnnl::stream& stream, memory from, memory to) {
  o.reorder->execute(stream, from, to);
}

struct Call {
  const OneDnnConvolution& c;
  dnnl::stream& stream;
  char* room;  // for reordered operands, then for the primitive

  // The operand as the primitive takes it; reordered, if it is read.
  memory take(const Operand& o, const void* data, bool is_result) {
    if (!o.reorder) return onednn_memory(o.given, data);
    const memory m = onednn_memory(o.taken, room);
    room += aligned(o.room());
    if (!is_result) {
      copy(o, stream, onednn_memory(o.given, data), m);
    }
    return m;
  }

  // Computes the images from `x` and `y` on.
  void run(const Prepared& p, const char* x, const memory& w, const char* y) {
    char* const begin = room;
    const OneDnnPart part = c.part;
    const memory mx = take(p.x, x, part == OneDnnPart::by_input);
    const memory my = take(p.y, y, part == OneDnnPart::forward);
    const bool forward = part == OneDnnPart::forward;
    const bool by_input = part == OneDnnPart::by_input;
    const bool by_weight = part == OneDnnPart::by_weight;
    std::unordered_map<int, memory> args = {
        {by_input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, mx},
        {by_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w},
        {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, my},
        {DNNL_ARG_SCRATCHPAD, onednn_memory(p.scratch, room)}};
    if (c.bias != nullptr) {
      args.emplace(DNNL_ARG_BIAS, onednn_memory(p.bias, c.bias));
    }
    p.primitive.execute(stream, args);
    if (by_input && p.x.reorder) {
      copy(p.x, stream, mx, onednn_memory(p.x.given, x));
    }
    if (forward && p.y.reorder) {
      copy(p.y, stream, my, onednn_memory(p.y.given, y));
    }
    room = begin;
  }
};

// Images at a time: what is reordered of them stays in the second cache.
constexpr int64_t kChunkBytes = 1 << 20;

int64_t images_at_a_time(const OneDnnConvolution& c) {
  if (c.part == OneDnnPart::by_weight || c.channels_last) return c.batch;
  int64_t xs = c.in, ys = c.out;
  for (int d = 0; d < 3; ++d) {
    xs *= c.x_size[d];
    ys *= c.y_size[d];
  }
  const int64_t bytes =
      (xs + ys) * static_cast<int64_t>(onednn_item(c.type)) + 1;
  const int64_t n =
      std::max<int64_t>(1, kChunkBytes / bytes) * std::max(1, c.threads);
  return std::min(c.batch, n);
}

bool run(const OneDnnConvolution& c) {
  const OneDnnThreads threads(c.threads);
  thread_local dnnl::stream stream(onednn_engine());
  const int64_t chunk = images_at_a_time(c);
  // Copies share what oneDNN holds: the next look-up may drop the first.
  const Prepared p = prepared(key_of(c, chunk));
  if (!p.supported) return false;
  const int64_t rest = c.batch % chunk;
  const Prepared last = rest == 0 ? Prepared() : prepared(key_of(c, rest));
  if (rest != 0 && (!last.supported || last.w.taken != p.w.taken)) return false;
  const bool by_weight = c.part == OneDnnPart::by_weight;
  const bool packs = c.packed != nullptr && !by_weight && p.w.reorder;
  bool filled = false;
  void* const packed =
      packs ? c.packed(c.packed_context, p.layout, p.w.room(), &filled)
            : nullptr;
  const size_t bytes =
      (packed != nullptr ? 0 : aligned(p.w.room())) +
      aligned(std::max(p.x.room(), last.x.room())) +
      aligned(std::max(p.y.room(), last.y.room())) +
      std::max(p.scratch.get_size(),
               rest == 0 ? size_t{0} : last.scratch.get_size());
  Call call{
      c, stream,
      static_cast<char*>(bytes == 0 ? nullptr : c.allocate(c.context, bytes))};
  memory w;
  if (packed == nullptr) {
    w = call.take(p.w, c.w, by_weight);
  } else {
    w = onednn_memory(p.w.taken, packed);
    if (!filled) copy(p.w, stream, onednn_memory(p.w.given, c.w), w);
  }
  const size_t x_image = p.x.given.get_size() / static_cast<size_t>(chunk);
  const size_t y_image = p.y.given.get_size() / static_cast<size_t>(chunk);
  for (int64_t n = 0; n < c.batch; n += chunk) {
    const auto at = static_cast<size_t>(n);
    call.run(c.batch - n < chunk ? last : p,
             static_cast<const char*>(c.x) + at * x_image, w,
             static_cast<const char*>(c.y) + at * y_image);
  }
  if (by_weight && p.w.reorder) {
    copy(p.w, stream, w, onednn_memory(p.w.given, c.w));
  }
  stream.wait();
  return true;
}

}  // namespace

bool onednn_convolution(const OneDnnConvolution* problem) {
  try {
    return run(*problem);
  } catch (const dnnl::error&) {
    return false;  // not supported on this machine
  }
}

}  // namespace sy::cpu
