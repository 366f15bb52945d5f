#include "backends/cpu/onednn/lstm.h"

#include <string_view>

#include "backends/cpu/onednn/common.h"

namespace sy::cpu {

namespace {

using dnnl::memory;
using Forward = dnnl::lstm_forward;

// All that a primitive is made for; compared as bytes.
struct Key {
  int64_t steps, rows, in, hidden;
  uint32_t reverse;
  int32_t threads;
};

// A weight as it is given, and as the primitive takes it.
struct Operand {
  memory::desc given, taken;
  dnnl::reorder reorder;
  uint64_t layout = 0;
};

struct Prepared {
  bool supported = false;
  memory::desc x, h, bias, y, scratch;
  Operand w_x, w_h;
  Forward primitive;
};

Operand join(const memory::dims& sizes, const memory::desc& taken) {
  Operand o;
  o.given =
      memory::desc(sizes, memory::data_type::f32, memory::format_tag::ldgoi);
  o.taken = taken;
  o.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(
      onednn_engine(), o.given, onednn_engine(), taken));
  o.layout = onednn_layout(taken);
  return o;
}

Prepared prepare_supported(const Key& k) {
  using tag = memory::format_tag;
  const memory::data_type t = memory::data_type::f32;
  const memory::dims w_x = {1, 1, k.in, 4, k.hidden};
  const memory::dims w_h = {1, 1, k.hidden, 4, k.hidden};
  Prepared p;
  p.x = memory::desc({k.steps, k.rows, k.in}, t, tag::tnc);
  p.y = memory::desc({k.steps, k.rows, k.hidden}, t, tag::tnc);
  p.h = memory::desc({1, 1, k.rows, k.hidden}, t, tag::ldnc);
  p.bias = memory::desc({1, 1, 4, k.hidden}, t, tag::ldgo);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const Forward::primitive_desc d(
      onednn_engine(), dnnl::prop_kind::forward_inference,
      k.reverse != 0 ? dnnl::rnn_direction::unidirectional_right2left
                     : dnnl::rnn_direction::unidirectional_left2right,
      p.x, p.h, p.h, memory::desc(w_x, t, tag::any),
      memory::desc(w_h, t, tag::any), p.bias, p.y, p.h, p.h, attr);
  // A primitive that has no layout of its own has no kernel either that is
  // faster than products of matrices.
  const memory::desc taken_x = d.weights_layer_desc();
  const memory::desc taken_h = d.weights_iter_desc();
  if (std::string_view(d.impl_info_str()).starts_with("ref") ||
      taken_x.get_format_kind() != memory::format_kind::blocked ||
      taken_h.get_format_kind() != memory::format_kind::blocked) {
    return {};
  }
  p.w_x = join(w_x, taken_x);
  p.w_h = join(w_h, taken_h);
  p.scratch = d.scratchpad_desc();
  p.primitive = Forward(d);
  p.supported = true;
  return p;
}

// The cache also remembers that a key is not supported.
Prepared prepare(const Key& k) {
  try {
    return prepare_supported(k);
  } catch (const dnnl::error& e) {
    if (e.status == dnnl_out_of_memory) throw;
    return {};
  }
}

// The weight as it is taken: kept by the caller, or in `room`.
memory weight(const Operand& o, const OneDnnLstmWeight& w, char* room,
              dnnl::stream& stream) {
  bool filled = false;
  void* const kept =
      w.packed == nullptr
          ? nullptr
          : w.packed(w.packed_context, o.layout, o.taken.get_size(), &filled);
  memory taken = onednn_memory(o.taken, kept != nullptr ? kept : room);
  if (!filled) {
    memory given = onednn_memory(o.given, w.data);
    o.reorder.execute(stream, given, taken);
  }
  return taken;
}

bool run(const OneDnnLstm& c) {
  Key key;
  std::memset(&key, 0, sizeof key);
  key.steps = c.steps;
  key.rows = c.rows;
  key.in = c.in;
  key.hidden = c.hidden;
  key.reverse = c.reverse;
  key.threads = c.threads;
  const OneDnnThreads threads(c.threads);
  thread_local OneDnnCache<Key, Prepared> cache;
  thread_local dnnl::stream stream(onednn_engine());
  const Prepared& p = cache.get(key, prepare);
  if (!p.supported) return false;
  const size_t for_x = aligned(p.w_x.taken.get_size());
  const size_t for_h = aligned(p.w_h.taken.get_size());
  auto* const room = static_cast<char*>(
      c.allocate(c.context, for_x + for_h + p.scratch.get_size()));
  const memory w_x = weight(p.w_x, c.w_x, room, stream);
  const memory w_h = weight(p.w_h, c.w_h, room + for_x, stream);
  p.primitive.execute(
      stream,
      {{DNNL_ARG_SRC_LAYER, onednn_memory(p.x, c.x)},
       {DNNL_ARG_SRC_ITER, onednn_memory(p.h, c.h)},
       {DNNL_ARG_SRC_ITER_C, onednn_memory(p.h, c.c)},
       {DNNL_ARG_WEIGHTS_LAYER, w_x},
       {DNNL_ARG_WEIGHTS_ITER, w_h},
       {DNNL_ARG_BIAS, onednn_memory(p.bias, c.bias)},
       {DNNL_ARG_DST_LAYER, onednn_memory(p.y, c.y)},
       {DNNL_ARG_DST_ITER, onednn_memory(p.h, c.last_h)},
       {DNNL_ARG_DST_ITER_C, onednn_memory(p.h, c.last_c)},
       {DNNL_ARG_SCRATCHPAD, onednn_memory(p.scratch, room + for_x + for_h)}});
  stream.wait();
  return true;
}

}  // namespace

bool onednn_lstm(const OneDnnLstm* problem) {
  try {
    return run(*problem);
  } catch (const dnnl::error&) {
    return false;  // not supported on this machine
  }
}

}  // namespace sy::cpu
