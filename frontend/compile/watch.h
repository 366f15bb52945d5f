#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/capture.h"
#include "frontend/compile/guards.h"
#include "frontend/compile/kept.h"
#include "frontend/compile/links.h"
#include "frontend/compile/path.h"
#include "frontend/compile/places.h"
#include "frontend/compile/window.h"

namespace sy::compiling {

// A tensor that calls were given, or that such a one is a view of; no result.
// Some go with the call.
struct Sighted {
  weak_intrusive_ptr<TensorImpl> tensor;
  // It is an argument, or what one is a view of, and no call had another view.
  bool by_argument;
};

// Signs that the code of a capture may do something else now. Guards say that a
// graph does not fit; a sign only that nobody knows: the call is recorded once
// more, and if that gives the same graph, the sign is no sign any more
// (accept()). Signs are
//
//   - what modules, optimizers and others have told (Dependence);
//   - memory that the callable refers to: variables captured by reference that
//     are on the stack of the calling thread, and the places where it keeps the
//     tensors that the graph reads;
//   - how many owners these tensors have: a variable that gets another one
//     lets the old one go;
//   - captured views, and tensors that no call read: where they lie, what code
//     can see of them without their elements, that they are still there;
//   - arguments that lie elsewhere than those of the capture: what was the
//     argument may have been a tensor that the code captures too;
//   - places that had an argument (Places) and have another tensor now.
//
// Signs that were told count together with memory: evaluating with any rate,
// and training with rate 0, may be one graph, training with another rate is
// not.
// So a graph has a Watch for each state that was seen to give it.
//
// One thread at a time may use it.
class Watch {
 public:
  // Looks at memory before the call. `backwards` counts the runs of the call's
  // backward graph.
  Watch(const Arguments& a, std::shared_ptr<std::atomic<int64_t>> backwards);

  const std::shared_ptr<std::atomic<int64_t>> backwards;

  // Finds the places of arguments, also before the call, if a graph is to be
  // kept. `code` is a function of the library that has the callable.
  void find_places(const Arguments& a, const void* code);
  void add(intrusive_ptr<Dependence> d);
  // Takes, after the call, the tensors of the program that the variant keeps,
  // which must outlive this, and all others that calls were given and that are
  // still there.
  void settle(const Arguments& a, const void* code,
              const std::vector<Outer>& outer,
              const std::vector<Sighted>& others);

  bool holds(const Arguments& a);
  // Brings tensors up to date that hold numbers of optimizers, for a capture.
  void refresh() { reads_hold(); }
  // The difference, after holds() was false.
  const std::string& difference() const { return difference_; }
  // Whether what has been told and memory are as they were.
  bool has_same_state() const { return same_state_; }
  void accept(const Arguments& a);
  // Follows a watch of the same graph, which did not hold. Restless signs are
  // not looked at any more (Window::kRestless).
  void follow(const Watch& before);
  // Follows a watch of the same calls on tensors of another size, which knows
  // which arguments may lie elsewhere, and which views come and go.
  void follow_arguments(const Watch& other);
  // A call has found nothing that differs. Several of them begin the count of
  // changes anew.
  void rest();

 private:
  struct Argument {
    const StorageImpl* storage = nullptr;
    int64_t offset = 0;
    weak_intrusive_ptr<StorageImpl> kept;  // so that no other has its address
    bool any = false;  // others were seen to give the same graph
    // The code reaches the argument, or memory of it, in another way too:
    // nobody knows what it would have for another argument.
    bool pinned = false;

    bool lies_at(const StorageImpl* s, int64_t first) const {
      return storage == s && offset == first;
    }
    // Whether it may lie elsewhere, as it did in a call with the same graph.
    bool moves(const Argument& was) const {
      return !pinned && (was.any || !was.lies_at(storage, offset));
    }
  };
  // The number of owners of a tensor that captures keep alive, or a view.
  struct Owners {
    const TensorImpl* impl = nullptr;
    Kept kept;
    std::vector<uint32_t> seen;
    uint32_t now = 0;
  };
  struct View {
    const TensorImpl* impl;
    weak_intrusive_ptr<TensorImpl> tensor;
    TensorGuard guard;
    const StorageImpl* storage = nullptr;
    int64_t offset = 0;
    std::vector<uint32_t> seen{};  // numbers of owners
    uint32_t now = 0;
    // Nobody knows whether the code sees it: a variable beside those that the
    // code refers to may have it.
    bool may_go = false;
    bool holds();
  };
  // The elements of a std::vector whose header is in memory that is watched.
  struct List {
    // A tensor of the program.
    struct Element {
      size_t index;
      const void* was;
      bool differs = false;
      int changes = 0;
      bool restless = false;  // it is not looked at any more
    };
    const void* header;
    const void *begin, *end;
    WatchedBytes elements;
    std::vector<Element> tensors;
    bool differs = false;
    int changes = 0;
    // It changes with calls as a whole. Its tensors are looked at still.
    bool restless = false;
    // The difference; "" if there is none.
    std::string_view difference();
    void follow(const List& before);
  };
  // A place in an object on the heap. It is there while the path leads there.
  struct Object {
    Window place;
    Path path;
    bool moved = false;
    int moves = 0;
    bool holds();
  };
  struct Read {
    intrusive_ptr<Dependence> of;
    bool held = true;
    int changes = 0;
  };

  void watch_references(const Arguments& a);
  void forget_new_views(const Watch& before);
  void watch_objects(const Arguments& a);
  void watch_view(const Tensor& t);
  void watch_lists(const Arguments& a);
  void pin(const Arguments& a);
  bool is_target(const void* p) const;
  bool reads_hold();
  bool references_hold();
  bool owners_hold();
  bool arguments_hold(const Arguments& a);
  // Keeps the first difference.
  bool differs(std::string_view what);

  std::vector<Argument> arguments_;
  Places places_;
  std::vector<Read> reads_;
  std::vector<Window> stack_;
  std::vector<Object> heap_;
  Links links_;
  std::vector<List> lists_;
  std::vector<Owners> owners_;
  std::vector<View> views_;
  std::vector<const void*> targets_;
  std::string difference_;
  bool same_state_ = true, restless_ = false, views_hold_ = true;
  int view_changes_ = 0, calm_ = 0;
  bool new_views_count_ = true;
};

}  // namespace sy::compiling
