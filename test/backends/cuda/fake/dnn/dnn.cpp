#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>

#include "test/backends/cuda/fake/dnn/convolve.h"
#include "test/backends/cuda/fake/numbers.h"

// A double of libcudnn.so.9's backend interface: on the fake driver, in the
// order of the stream, with sums in float64 by the host. It holds callers to
// the library's rules: types and numbers of attributes, the order in which
// descriptors are finalized, sizes, alignment, ids and workspaces. Its first
// engines are such as callers must not take; their results are wrong.
//
// FAKE_DNN_VERSION is the version that it says, FAKE_DNN_ERROR what cudnnCreate
// answers. FAKE_DNN_REFUSES: `all` operations, `views` (what does not lie
// densely, or is not aligned to 16 bytes), channels that come `last`, or to
// `execute`.

namespace fake::dnn {
namespace {

// An engine, with the numerical notes of the header.
struct Engine {
  int index;
  int notes[2];
  int count;
  bool is_fallback;
};
enum Index { kAtomic = 3, kWinograd, kShort, kTf32, kRefuses, kLarge, kExact };
constexpr Engine kEngines[] = {
    {kAtomic, {4}, 1, false},   {kWinograd, {5, 6}, 2, false},
    {kShort, {0, 2}, 2, false}, {kTf32, {0}, 1, false},
    {kRefuses, {9}, 1, false},  {kLarge, {}, 0, false},
    {kExact, {}, 0, true},
};
const Engine& engine_of(int index) {
  return *std::find_if(std::begin(kEngines), std::end(kEngines),
                       [&](const Engine& e) { return e.index == index; });
}

int context;
void* current_stream = nullptr;

// Descriptors that the caller has.
std::mutex live_mutex;
std::set<const void*>& live() {
  static auto* const s = new std::set<const void*>;
  return *s;
}
bool is_live(const void* d) {
  const std::lock_guard lock(live_mutex);
  return live().count(d) != 0;
}

bool refuses(const char* what) {
  const char* const given = std::getenv("FAKE_DNN_REFUSES");
  return given != nullptr && std::strcmp(given, what) == 0;
}
Operation graph_operation(const Descriptor& graph) {
  return operation_of(*graph.values.at(801).at<const Descriptor*>(0));
}

bool is_dense(const Descriptor& t, bool last) {
  const int64_t dims = t.values.at(902).count;
  int64_t step = 1;
  bool dense = true;
  const auto look = [&](int64_t d) {
    dense = dense && (t.number(902, d) == 1 || t.number(903, d) == step);
    step *= t.number(902, d);
  };
  if (last) look(1);
  for (int64_t d = dims; d-- > 2;) look(d);
  if (!last) look(1);
  look(0);
  return dense;
}

// Whether the double does the operation at all.
bool is_taken(const Operation& o) {
  if (refuses("all")) return false;
  bool last = true, first = true, aligned = true;
  for (const Descriptor* const t : {o.x, o.w, o.y}) {
    last = last && is_dense(*t, true);
    first = first && is_dense(*t, false);
    aligned = aligned && t->number(900) == 16;
  }
  if (refuses("views") && ((!last && !first) || !aligned)) return false;
  return !refuses("last") || first;
}

int64_t room_of(const Descriptor& plan) {
  if (plan.engine == kLarge) return int64_t{1} << 40;
  const Operation o = graph_operation(*plan.graph);
  return o.y->number(902) * o.y->number(902, 1) > 16 ? 4096 : 0;
}

int finalize_plan(Descriptor& d) {
  const auto* const config = d.values.at(401).at<const Descriptor*>(0);
  d.engine = config->engine;
  d.graph = config->graph;
  if (d.engine == kRefuses) {
    return refuse("this engine does nothing", kNotSupported);
  }
  return is_taken(graph_operation(*d.graph))
             ? kDone
             : refuse("the double is told to refuse it", kNotSupported);
}

// A number that is read, of a type of the header.
template <class T>
int give(T value, int wanted, int type, int64_t most, int64_t* count,
         void* out) {
  if (type != wanted || most < 1) return refuse("it is read as another type");
  if (count != nullptr) *count = 1;
  std::memcpy(out, &value, sizeof value);
  return kDone;
}

int give_configs(const Descriptor& heuristics, int64_t most, int64_t* count,
                 void* out) {
  const bool fallback = heuristics.word(200) == 2;
  int64_t n = 0;
  for (const Engine& e : kEngines) {
    if (fallback && !e.is_fallback) continue;
    if (!fallback && e.is_fallback &&
        graph_operation(*heuristics.values.at(201).at<const Descriptor*>(0))
                .x->number(902) == 1) {
      continue;  // the fallback alone knows how to take one image
    }
    if (n < most) {
      Descriptor* const d = static_cast<Descriptor**>(out)[n];
      if (!is_live(d) || d->kind != kConfig || d->is_final) {
        return refuse("results go to new configurations of engines");
      }
      d->is_final = true;
      d->engine = e.index;
      d->graph = heuristics.values.at(201).at<const Descriptor*>(0);
    }
    ++n;
  }
  *count = most == 0 ? n : std::min(n, most);
  return kDone;
}

int give_engine(const Descriptor& config, int64_t most, int64_t* count,
                void* out) {
  Descriptor* const d = *static_cast<Descriptor**>(out);
  if (most != 1 || !is_live(d) || d->kind != kEngine || d->is_final) {
    return refuse("an engine goes to a new descriptor");
  }
  d->is_final = true;
  d->engine = config.engine;
  *count = 1;
  return kDone;
}

// The three tensors by their ids.
const void* pointer_of(const Descriptor& pack, const Descriptor* tensor) {
  const Value& ids = pack.values.at(1000);
  for (int64_t i = 0; i < ids.count; ++i) {
    if (ids.at<int64_t>(i) == tensor->number(906)) {
      return pack.values.at(1001).at<const void*>(i);
    }
  }
  return nullptr;
}

bool is_aligned(const void* p, int64_t bytes) {
  return p != nullptr &&
         reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) == 0;
}

int execute(const Descriptor& plan, const Descriptor& pack) {
  if (!is_live(plan.graph)) return refuse("the plan's graph is gone");
  const Operation o = graph_operation(*plan.graph);
  for (const Descriptor* const d : {o.x, o.w, o.y, o.convolution}) {
    if (!is_live(d)) return refuse("a part of the plan's graph is gone");
  }
  if (pack.values.at(1000).count != 3) return refuse("a tensor is too many");
  for (const Descriptor* const t : {o.x, o.w, o.y}) {
    if (!is_aligned(pointer_of(pack, t), t->number(900))) {
      return refuse("a tensor is missing, or aligned less than was said");
    }
  }
  const int64_t room = room_of(plan);
  void* const work = pack.values.at(1003).at<void*>(0);
  if (room != 0 && !is_aligned(work, 128)) {
    return refuse("the workspace is missing, or not aligned");
  }
  if (refuses("execute")) {
    return refuse("the double is told not to run", kFailed);
  }
  const Convolution convolution(o, plan.engine == kTf32 && o.x->word(901) == 0);
  const bool is_wrong = plan.engine != kTf32 && plan.engine != kExact;
  const void* const x = pointer_of(pack, o.x);
  const void* const w = pointer_of(pack, o.w);
  auto* const y = const_cast<void*>(pointer_of(pack, o.y));
  const int r = put_work(current_stream, [=] {
    if (room != 0) std::memset(work, 0xa5, static_cast<size_t>(room));
    if (!is_wrong) convolution.run(x, w, y);
  });
  return r == 0 ? kDone : kFailed;
}

}  // namespace
}  // namespace fake::dnn

#define FAKE_DNN_API extern "C" __attribute__((visibility("default")))

using namespace fake::dnn;  // NOLINT: these are its functions

FAKE_DNN_API size_t cudnnGetVersion() {
  return static_cast<size_t>(fake::setting("FAKE_DNN_VERSION", 91900));
}

FAKE_DNN_API const char* cudnnGetErrorString(int status) {
  return status == kNotSupported ? "not supported, says the double"
                                 : "an error of the double";
}

FAKE_DNN_API void cudnnGetLastErrorString(char* text, size_t size) {
  std::snprintf(text, size, "%s", last_refusal().c_str());
}

FAKE_DNN_API int cudnnCreate(void** handle) {
  *handle = &context;
  return fake::setting("FAKE_DNN_ERROR", kDone);
}

FAKE_DNN_API int cudnnSetStream(void* handle, void* stream) {
  if (handle != &context) return refuse("there is no such handle");
  current_stream = stream;
  return kDone;
}

FAKE_DNN_API int cudnnBackendCreateDescriptor(int kind, void** out) {
  auto* const d = new Descriptor{static_cast<Kind>(kind), false, {}, -1, {}};
  const std::lock_guard lock(live_mutex);
  live().insert(d);
  *out = d;
  return kDone;
}

FAKE_DNN_API int cudnnBackendDestroyDescriptor(void* descriptor) {
  if (!is_live(descriptor)) return refuse("it is destroyed twice");
  const std::lock_guard lock(live_mutex);
  live().erase(descriptor);
  delete static_cast<Descriptor*>(descriptor);
  return kDone;
}

FAKE_DNN_API int cudnnBackendSetAttribute(void* descriptor, int attribute,
                                          int type, int64_t count,
                                          const void* elements) {
  auto& d = *static_cast<Descriptor*>(descriptor);
  if (!is_live(descriptor) || d.is_final || elements == nullptr) {
    return refuse("nothing can be set any more");
  }
  const int64_t size = type == 1 || type == 4 || type == 7 || type == 8 ? 4 : 8;
  Value v = {type, count, {}};
  if (const int r = check_value(d.kind, attribute, v); r != kDone) return r;
  v.bytes.resize(static_cast<size_t>(count * size));
  std::memcpy(v.bytes.data(), elements, v.bytes.size());
  for (int64_t i = 0; type == 15 && i < count; ++i) {
    const auto* const part = v.at<const Descriptor*>(i);
    if (!is_live(part) || !part->is_final) {
      return refuse("a part is not finalized");
    }
  }
  if (type == 0 && v.at<const void*>(0) != &context) {
    return refuse("there is no such handle");
  }
  d.values[attribute] = v;
  return kDone;
}

FAKE_DNN_API int cudnnBackendFinalize(void* descriptor) {
  auto& d = *static_cast<Descriptor*>(descriptor);
  if (!is_live(descriptor) || d.is_final) return refuse("it is final already");
  if (d.kind == kConfig || d.kind == kEngine) {
    return refuse("the library itself finalizes it");
  }
  int r = check_whole(d);
  if (r == kDone && d.kind == kPlan) r = finalize_plan(d);
  d.is_final = r == kDone;
  return r;
}

FAKE_DNN_API int cudnnBackendGetAttribute(void* descriptor, int attribute,
                                          int type, int64_t most,
                                          int64_t* count, void* elements) {
  const auto& d = *static_cast<Descriptor*>(descriptor);
  if (!is_live(descriptor) || !d.is_final) return refuse("it is not final");
  if (d.kind == kHeuristics && attribute == 202 && type == 15) {
    return give_configs(d, most, count, elements);
  }
  if (d.kind == kConfig && attribute == 300 && type == 15) {
    return give_engine(d, most, count, elements);
  }
  if (d.kind == kEngine && attribute == 1301) {
    return give(int64_t{d.engine}, 3, type, most, count, elements);
  }
  if (d.kind == kEngine && attribute == 1303 && type == 11) {
    const Engine& e = engine_of(d.engine);
    *count = e.count;
    std::memcpy(
        elements, e.notes,
        sizeof(int) * static_cast<size_t>(std::min<int64_t>(most, e.count)));
    return kDone;
  }
  if (d.kind == kPlan && attribute == 402) {
    return give(room_of(d), 3, type, most, count, elements);
  }
  return refuse("there is nothing such to read");
}

FAKE_DNN_API int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  if (handle != &context) return refuse("there is no such handle");
  const auto* const p = static_cast<const Descriptor*>(plan);
  const auto* const v = static_cast<const Descriptor*>(pack);
  if (!is_live(p) || !is_live(v) || !p->is_final || !v->is_final ||
      p->kind != kPlan || v->kind != kPack) {
    return refuse("a plan and a pack of pointers run, both final");
  }
  return execute(*p, *v);
}
