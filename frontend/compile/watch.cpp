#include "frontend/compile/watch.h"

#include <algorithm>
#include <utility>

#include "c10/process/error.h"
#include "frontend/compile/compile.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/lists.h"
#include "frontend/compile/reach.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

// The bytes of a variable that the callable refers to. Only the stack can
// always be read.
constexpr size_t kWindow = 64;
// The same as Window::kRestless for reads and for lists, whose changes are no
// sign more seldom.
constexpr int kRestlessRead = 4, kRestlessList = 8;

struct Span {
  const char *begin, *end;
};

// Joins spans that touch.
std::vector<Span> joined(std::vector<Span> all) {
  std::sort(all.begin(), all.end(),
            [](Span a, Span b) { return a.begin < b.begin; });
  std::vector<Span> spans;
  for (const Span s : all) {
    if (spans.empty() || spans.back().end < s.begin) {
      spans.push_back(s);
    } else {
      spans.back().end = std::max(spans.back().end, s.end);
    }
  }
  return spans;
}

}  // namespace

Watch::Watch(const Arguments& a,
             std::shared_ptr<std::atomic<int64_t>> backwards)
    : backwards(std::move(backwards)) {
  for (const Tensor& t : a.tensors) {
    Argument& to = arguments_.emplace_back();
    if (!t.defined()) continue;
    to.storage = t.storage().get();
    to.offset = t.storage_offset();
    to.kept = weak_intrusive_ptr<StorageImpl>(t.storage());
  }
  watch_references(a);
}

void Watch::find_places(const Arguments& a, const void* code) {
  places_ = Places(a, code);
}

void Watch::add(intrusive_ptr<Dependence> d) {
  const auto known =
      std::any_of(reads_.begin(), reads_.end(),
                  [&](const Read& r) { return r.of->of() == d->of(); });
  if (!known) reads_.push_back({std::move(d)});
}

void Watch::watch_references(const Arguments& a) {
  const void* const frame = __builtin_frame_address(0);
  std::vector<Span> spans;
  for (const uintptr_t word : words_of(a)) {
    const auto* const at = reinterpret_cast<const char*>(word);
    if (!may_be_pointer(word) || !is_on_stack(at, sizeof(void*), frame)) {
      continue;
    }
    size_t bytes = kWindow;
    while (!is_on_stack(at, bytes, frame)) bytes -= sizeof(void*);
    while (bytes > sizeof(void*) &&
           overlap(at, bytes, a.closure, a.closure_bytes)) {
      bytes -= sizeof(void*);
    }
    spans.push_back({at, at + bytes});
  }
  for (const Span s : joined(std::move(spans))) {
    const auto bytes = static_cast<size_t>(s.end - s.begin);
    stack_.emplace_back(s.begin, bytes & ~size_t{7});
  }
}

bool Watch::is_target(const void* p) const {
  return std::find(targets_.begin(), targets_.end(), p) != targets_.end();
}

// Watches objects on the heap, and tensors of which only properties may have
// been asked.
void Watch::watch_objects(const Arguments& a) {
  const Reach reach(a);
  for (const Reach::Image& image : reach.images()) {
    if (image.on_stack || image.at == a.closure || !image.has_size) continue;
    Path path(image.at, {});
    if (image.from >= 0) {
      path = Path(reach.source(image).at + image.word * sizeof(uintptr_t),
                  {{image.at, 0}});
    }
    heap_.push_back({Window(image.at, image.words.size() * sizeof(uintptr_t)),
                     std::move(path)});
  }
  for (TensorImpl* const t : reach.tensors()) {
    const auto is_argument = [&](const Tensor& x) { return x.impl() == t; };
    if (is_target(t) ||
        std::any_of(a.tensors.begin(), a.tensors.end(), is_argument)) {
      continue;
    }
    targets_.push_back(t);
    watch_view(Tensor(TensorBase(intrusive_ptr<TensorImpl>::retain(t))));
    views_.back().may_go = true;
  }
}

void Watch::watch_view(const Tensor& t) {
  views_.push_back({t.impl(), weak_intrusive_ptr<TensorImpl>(t.impl_ptr()),
                    TensorGuard(t), t.storage().get(), t.storage_offset()});
}

// Watches the lists that have tensors of the program among their elements.
void Watch::watch_lists(const Arguments& a) {
  for (const StackList& l : stack_lists(a)) {
    const std::vector<const void*> words = l.words();
    std::vector<List::Element> tensors;
    for (size_t i = 0; i < words.size(); ++i) {
      if (is_target(words[i])) tensors.push_back({i, words[i]});
    }
    if (tensors.empty()) continue;
    const auto* const first = reinterpret_cast<const void*>(l.begin);
    lists_.push_back({l.header, first, reinterpret_cast<const void*>(l.end),
                      WatchedBytes(first, l.end - l.begin),
                      std::move(tensors)});
  }
}

void Watch::settle(const Arguments& a, const void* code,
                   const std::vector<Outer>& outer,
                   const std::vector<Sighted>& others) {
  for (const Outer& o : outer) {
    targets_.push_back(o.tensor.impl());
    owners_.push_back({o.tensor.impl(), o.kept, {o.kept.other_owners()}});
  }
  for (const Sighted& other : others) {
    const intrusive_ptr<TensorImpl> impl = other.tensor.lock();
    const auto is_argument = [&](const Tensor& t) {
      return t.impl() == impl.get();
    };
    if (impl == nullptr || is_target(impl.get()) ||
        std::any_of(a.tensors.begin(), a.tensors.end(), is_argument)) {
      continue;
    }
    targets_.push_back(impl.get());
    const Tensor t{TensorBase(impl)};
    for (Argument& argument : arguments_) {
      argument.pinned =
          argument.pinned ||
          (!other.by_argument && argument.storage == t.storage().get());
    }
    watch_view(t);
    views_.back().seen.push_back(t.use_count() - 2);  // impl and t
  }
  watch_lists(a);
  links_ = Links(Search(targets_, a, code));
  watch_objects(a);
  pin(a);
}

// Pins the arguments that modules and optimizers have which the code uses.
void Watch::pin(const Arguments& a) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const TensorImpl* const impl = a.tensors[i].impl();
    const auto leads = [&](const Read& r) { return r.of->leads_to(impl); };
    if (impl != nullptr && std::any_of(reads_.begin(), reads_.end(), leads)) {
      arguments_[i].pinned = true;
    }
  }
}

bool Watch::View::holds() {
  const intrusive_ptr<TensorImpl> impl = tensor.lock();
  if (impl == nullptr) return may_go;
  now = impl.use_count() - 1;
  if (!seen.empty() && std::find(seen.begin(), seen.end(), now) == seen.end()) {
    return false;
  }
  const Tensor t{TensorBase(impl)};
  return t.storage().get() == storage && t.storage_offset() == offset &&
         guard.holds(t);
}

bool Watch::differs(std::string_view what) {
  if (difference_.empty()) difference_ = what;
  return false;
}

bool Watch::Object::holds() {
  const Path::State state = path.state();
  moved = state == Path::kMoved;
  return state == Path::kUnknown || (!moved && place.holds());
}

std::string_view Watch::List::difference() {
  const void* words[2];
  WatchedBytes::take(header, words, sizeof words);
  const bool lies = words[0] == begin && words[1] == end;
  std::string_view text;
  differs = !lies || !elements.hold();
  if (differs && !restless) {
    text = lies ? "an element of a list differs"
                : "a list that the code refers to differs";
  }
  if (!differs) {
    for (Element& e : tensors) e.differs = false;
    return text;
  }
  if (tensors.empty()) return text;
  // The elements that are there now. The memory may have no owner any more.
  const size_t bytes = reinterpret_cast<uintptr_t>(words[1]) -
                       reinterpret_cast<uintptr_t>(words[0]);
  std::vector<const void*> now(tensors.back().index + 1);
  now.resize(std::min(now.size(), bytes / sizeof(void*)));
  if (!read_memory(words[0], now.data(), now.size() * sizeof(void*))) {
    now.clear();
  }
  for (Element& e : tensors) {
    e.differs = e.index >= now.size() || now[e.index] != e.was;
    if (e.differs && !e.restless) text = "an element of a list differs";
  }
  return text;
}

void Watch::List::follow(const List& before) {
  changes = before.changes + int{before.differs};
  restless = before.restless || changes >= kRestlessList;
  for (Element& e : tensors) {
    for (const Element& was : before.tensors) {
      if (was.index != e.index) continue;
      e.changes = was.changes + int{was.differs};
      e.restless = was.restless || e.changes >= kRestlessList;
    }
  }
}

bool Watch::references_hold() {
  const void* const frame = __builtin_frame_address(0);
  bool same = true;
  for (Window& w : stack_) {
    // Nobody uses the stack of another thread, or of a function that has
    // returned.
    if (!is_on_stack(w.at(), w.size(), frame) || SY_LIKELY(w.holds())) continue;
    same = differs("a variable that the code refers to differs");
  }
  for (Object& o : heap_) {
    if (SY_LIKELY(o.holds())) continue;
    same = differs("an object that the code refers to differs");
  }
  if (SY_UNLIKELY(!links_.hold())) {
    same = differs("an object that the code refers to differs");
  }
  for (List& l : lists_) {
    if (!is_on_stack(l.header, 2 * sizeof(void*), frame)) continue;
    const std::string_view difference = l.difference();
    if (!difference.empty()) same = differs(difference);
  }
  return same;
}

bool Watch::owners_hold() {
  bool same = true;
  for (Owners& o : owners_) {
    o.now = o.kept.other_owners();
    const auto& seen = o.seen;
    if (SY_LIKELY(o.now == seen[0]) ||
        std::find(seen.begin(), seen.end(), o.now) != seen.end()) {
      continue;
    }
    same = differs("a tensor of the program has other owners");
  }
  views_hold_ = true;
  for (View& v : views_) {
    if (v.holds()) continue;
    views_hold_ = false;
    same = differs("a view of the program differs");
  }
  return same;
}

bool Watch::reads_hold() {
  bool same = true;
  for (Read& r : reads_) {
    r.held = r.of->holds();
    if (SY_UNLIKELY(!r.held)) same = differs(r.of->difference());
  }
  return same;
}

bool Watch::arguments_hold(const Arguments& a) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& was = arguments_[i];
    const Tensor& now = a.tensors[i];
    if (was.any || was.storage == nullptr) continue;
    if (was.lies_at(now.storage().get(), now.storage_offset())) continue;
    same_state_ = same_state_ && !was.pinned;
    return differs(str("tensor {} lies elsewhere", i));
  }
  return true;
}

// Looks at all of them, so that one more recording settles all.
bool Watch::holds(const Arguments& a) {
  difference_.clear();
  const bool reads = reads_hold(), owners = owners_hold(),
             references = references_hold();
  same_state_ = reads && references;
  const bool arguments = arguments_hold(a);
  if (arguments && SY_UNLIKELY(!places_.hold(a))) {
    return differs("a place that the code refers to has another argument");
  }
  return reads && owners && references && arguments;
}

void Watch::forget_new_views(const Watch& before) {
  std::erase_if(views_, [&](const View& v) {
    return std::none_of(before.views_.begin(), before.views_.end(),
                        [&](const View& was) { return was.impl == v.impl; });
  });
}

void Watch::follow(const Watch& before) {
  restless_ = true;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    arguments_[i].any = arguments_[i].moves(before.arguments_[i]);
  }
  const auto add = [](const std::vector<uint32_t>& from,
                      std::vector<uint32_t>* to) {
    for (const uint32_t n : from) {
      if (std::find(to->begin(), to->end(), n) == to->end()) to->push_back(n);
    }
  };
  std::erase_if(owners_, [&](Owners& o) {
    const auto was =
        std::find_if(before.owners_.begin(), before.owners_.end(),
                     [&](const Owners& w) { return w.impl == o.impl; });
    if (was != before.owners_.end()) add(was->seen, &o.seen);
    return was == before.owners_.end();  // not looked at any more
  });
  // Views that come and go with calls.
  view_changes_ = before.view_changes_ + int{!before.views_hold_};
  new_views_count_ =
      before.new_views_count_ && view_changes_ < Window::kRestless;
  if (!new_views_count_) forget_new_views(before);
  for (Window& w : stack_) {
    for (const Window& was : before.stack_) w.follow(was);
  }
  for (Object& o : heap_) {
    for (const Object& was : before.heap_) {
      o.place.follow(was.place);
      if (was.moved && o.path.is_same(was.path)) o.moves = was.moves + 1;
    }
  }
  std::erase_if(heap_,
                [](const Object& o) { return o.moves >= Window::kRestless; });
  links_.follow(before.links_);
  for (List& l : lists_) {
    for (const List& was : before.lists_) {
      if (was.header == l.header) l.follow(was);
    }
  }
  // Words that are no list now may be one again.
  for (const List& was : before.lists_) {
    const bool is_there =
        std::any_of(lists_.begin(), lists_.end(),
                    [&](const List& l) { return l.header == was.header; });
    if (!is_there && was.restless) lists_.push_back(was);
  }
  for (Read& r : reads_) {
    for (const Read& was : before.reads_) {
      if (was.of->of() != r.of->of()) continue;
      r.changes = was.changes + int{!was.held};
      if (was.held || r.changes < kRestlessRead) continue;
      was.of->accept();
      if (was.of->holds()) r.of = was.of;
    }
  }
}

void Watch::follow_arguments(const Watch& other) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& was = other.arguments_[i];
    arguments_[i].any = !was.pinned && arguments_[i].moves(was);
  }
  view_changes_ = other.view_changes_;
  new_views_count_ = other.new_views_count_;
  if (!new_views_count_) forget_new_views(other);
}

void Watch::rest() {
  constexpr int kLong = 8;
  if (!restless_ || ++calm_ < kLong) return;
  restless_ = false;
  for (Window& w : stack_) w.rest();
  for (Object& o : heap_) {
    o.place.rest();
    o.moves = 0;
  }
  links_.rest();
  for (List& l : lists_) {
    l.changes = 0;
    for (List::Element& e : l.tensors) e.changes = 0;
  }
  view_changes_ = 0;
  for (Read& r : reads_) r.changes = 0;
}

void Watch::accept(const Arguments& a) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument& was = arguments_[i];
    if (was.storage == nullptr) continue;
    const Tensor& now = a.tensors[i];
    const bool moved = !was.lies_at(now.storage().get(), now.storage_offset());
    was.any = was.any || (!was.pinned && moved);
  }
  // An owner that comes and goes says nothing.
  constexpr size_t kMost = 4;
  for (View& v : views_) {
    if (v.seen.empty()) continue;
    v.seen.push_back(v.now);
    if (v.seen.size() > 2 * kMost) v.seen.clear();
  }
  std::erase_if(views_, [](View& v) {
    const std::vector<uint32_t> seen = std::exchange(v.seen, {});
    const bool lies = v.holds();
    v.seen = seen;
    return !lies;
  });
  for (Owners& o : owners_) {
    if (std::find(o.seen.begin(), o.seen.end(), o.now) == o.seen.end()) {
      o.seen.push_back(o.now);
    }
  }
  std::erase_if(owners_, [](const Owners& o) { return o.seen.size() > kMost; });
  places_.accept(a);
  difference_.clear();
}

}  // namespace sy::compiling
