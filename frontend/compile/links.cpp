#include "frontend/compile/links.h"

#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "c10/dispatch/capture.h"
#include "frontend/compile/heap.h"
#include "frontend/compile/stack.h"

namespace sy::compiling {

namespace {

// Links drops a way once a pointer on it has changed so often, with calls of
// one graph, and few calls between.
constexpr int kMostChanges = 8;

}  // namespace

Links::Links(const Search& search) {
  std::map<int, int> of;  // object -> the link to it
  const auto add = [&](const void* at, const void* was, int from, bool own) {
    const bool on_stack =
        own && is_on_stack(at, sizeof at, __builtin_frame_address(0));
    links_.push_back({at, was, from, own, on_stack});
    return static_cast<int>(links_.size()) - 1;
  };
  const std::function<int(int)> link_to = [&](int object) {
    if (object < 0) return -1;
    const Search::Object& o = search.object(object);
    if (o.pointer == nullptr) return -1;
    const auto known = of.find(object);
    if (known != of.end()) return known->second;
    const int from = link_to(o.from);
    return of[object] = add(o.pointer, o.at, from, o.from < 0);
  };
  for (const Search::Found& f : search.found()) {
    const int from = link_to(f.object);
    add(f.at, f.tensor, from, f.object < 0);
    links_.back().is_tensor = true;
  }
}

void Links::look_at(Link* l, const void* frame,
                    const MainHeap& heap) const noexcept {
  l->differs = l->from >= 0 && links_[size_t(l->from)].differs;
  l->changed = false;
  // Nobody uses the stack of another thread, or of a function that has
  // returned.
  if (l->differs || (l->on_stack && !is_on_stack(l->at, sizeof l->at, frame))) {
    return;
  }
  const void* now = nullptr;
  // The memory that a pointer leads to is there.
  if (l->is_variable || l->from >= 0 || heap.has(l->at, sizeof now)) {
    WatchedBytes::take(l->at, &now, sizeof now);
  } else if (!read_memory(l->at, &now, sizeof now)) {
    now = nullptr;
  }
  l->differs = l->changed = now != l->was;
}

bool Links::hold() noexcept {
  if (links_.empty()) return true;
  const MainHeap heap = main_heap();
  const void* const frame = __builtin_frame_address(0);
  bool all = true;
  for (Link& l : links_) {
    look_at(&l, frame, heap);
    all = all && !l.differs;
  }
  return all;
}

// The same graph reads the same tensors. A word that has another tensor now is
// not where the code has it, nor is one that had another tensor before, unless
// a pointer on the way there has changed.
void Links::follow(const Links& before) {
  Links old = before;
  old.hold();
  std::vector<bool> stays(old.links_.size());
  std::unordered_map<const void*, int> moved;  // pointers, and how often
  // Words on a way that has changed, which may not be the only one.
  std::unordered_map<const void*, const void*> lost;
  for (size_t i = 0; i < stays.size(); ++i) {
    const Link &now = old.links_[i], &was = before.links_[i];
    stays[i] = now.is_tensor && !now.differs && !was.differs;
    if (now.is_tensor && !stays[i] && !now.changed && !was.changed) {
      lost.emplace(now.at, now.was);
    }
    if (!now.is_tensor && (now.changed || was.changed)) {
      moved.emplace(now.at, now.changes + 1);
    }
  }
  std::vector<bool> is_new(links_.size()), is_restless(links_.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    Link& l = links_[i];
    if (l.from >= 0) {
      is_new[i] = is_new[size_t(l.from)];
      is_restless[i] = is_restless[size_t(l.from)];
    }
    if (l.is_tensor) {
      const auto found = lost.find(l.at);
      const bool is_lost = found != lost.end() && found->second == l.was;
      is_new[i] = (is_new[i] || is_lost) && !is_restless[i];
      continue;
    }
    const auto found = moved.find(l.at);
    if (found == moved.end()) continue;
    l.changes = found->second;
    is_new[i] = true;
    is_restless[i] = is_restless[i] || l.changes >= kMostChanges;
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    is_new[i] = is_new[i] && links_[i].is_tensor;
  }
  std::vector<Link> left;
  old.move_to(&left, std::move(stays));
  move_to(&left, std::move(is_new));
  links_ = std::move(left);
}

// Adds the links that are `wanted`, and those that lead there, to `to`.
void Links::move_to(std::vector<Link>* to, std::vector<bool> wanted) const {
  for (size_t i = links_.size(); i-- > 0;) {
    if (wanted[i] && links_[i].from >= 0) wanted[size_t(links_[i].from)] = true;
  }
  std::vector<int> places(links_.size(), -1);
  for (size_t i = 0; i < links_.size(); ++i) {
    if (!wanted[i]) continue;
    places[i] = static_cast<int>(to->size());
    Link l = links_[i];
    if (l.from >= 0) l.from = places[size_t(l.from)];
    to->push_back(l);
  }
}

void Links::rest() noexcept {
  for (Link& l : links_) l.changes = 0;
}

}  // namespace sy::compiling
