#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c10/process/fork.h"
#include "frontend/compile/credit.h"
#include "frontend/compile/effects.h"
#include "frontend/compile/function.h"
#include "frontend/compile/session.h"
#include "frontend/compile/walk.h"
#include "frontend/compile/watch.h"

namespace sy::compiling {

// The state of a compiled callable: its variants, which of them fits a call,
// and what becomes of a call that was recorded. Thread-safe.
class FunctionState {
 public:
  explicit FunctionState(CompileOptions options);
  // Virtual, so that searches of the program's memory (search.h) know its
  // class.
  virtual ~FunctionState() = default;
  FunctionState(const FunctionState&) = delete;
  FunctionState& operator=(const FunctionState&) = delete;

  // The decision about how a call runs.
  struct Found {
    // The variant that fits. nullptr: the call is captured.
    std::shared_ptr<const Variant> variant;
    // It is recorded once more, to compare.
    bool checked = false;
    // Why nobody knows whether it still is what the code does; "" for a check
    // that nothing asked for.
    std::string doubt{};
    // The variant and those that begin as it does, if the code looks at
    // elements. The walk of the call shows which one it is.
    Variants paths{};
    // The steps that had run when a look saw something new.
    size_t depth = 0;
    // The code runs, and nothing is kept of it (Credit).
    bool spared = false;
  };
  Found find(const Arguments& a);
  // Whether guards and watches of a variant hold.
  bool fits(const Arguments& a, const Variant& v);
  // The call has walked along paths to one, or to none.
  void note_walk(const Walk& walk, std::shared_ptr<const Variant> end,
                 Found* found);

  bool capture(capture::Engine& engine, const Arguments& a, Device device,
               Body body, void* context, Outputs* out, const Found& found);
  bool run_spared(capture::Engine& engine, const Arguments& a, Device device,
                  Body body, void* context, Outputs* out);

  std::string explain();
  std::string graph_text();
  void reset();
  CompileCounters now();
  void count_plain(const char* why);

 private:
  // The same calls on tensors of several sizes; most have one.
  struct Family {
    std::string structure;
    int64_t fits = 0, sizes = 1;
  };
  struct Entry {
    std::shared_ptr<const Variant> variant;
    std::string why;
    std::shared_ptr<Family> family;
    // The last used one is in front.
    std::list<std::unique_ptr<Watch>> watches{};
    int64_t replays = 0;

    bool holds(const Arguments& a);
    // The graph is also that of the state that `now` has seen.
    void accept(const Arguments& a, std::unique_ptr<Watch> now);
    bool looks() const { return !variant->steps.empty(); }
  };

  Entry* entry_of(const Variant& v);
  bool spares();
  std::string reason(const Arguments& a);
  std::string why_captured(const Arguments& a, const Found& found);
  // Variants whose guards hold.
  Variants related(const Arguments& a) const;
  // `effects`: nullptr if something was known before the call.
  void drop_if_writing(const Effects* effects, Captured* c);
  void note_breaks(const Captured& c);
  bool note_looks(const Captured& c);
  // Compares a recorded call, which a graph fits or which began as `others` do,
  // with the variants that are known.
  void compare(const Found& found, const Variants& others, const Arguments& a,
               Captured* now, std::unique_ptr<Watch> watch);
  void end_replays(const std::string& how);
  // The entry whose calls these are on tensors of another size; nullptr: none.
  const Entry* resized_of(const Variant& v) const;
  void add(std::shared_ptr<Variant> v, const Variants& others,
           std::unique_ptr<Watch> watch, std::string why,
           const Entry* resized = nullptr);
  void evict(const Entry& fresh);

  const CompileOptions options_;
  ForkMutex mutex_;
  std::list<Entry> entries_;  // the last used one is in front
  std::map<std::pair<std::string, std::string>, int64_t> breaks_;
  CompileCounters counters_;
  const std::shared_ptr<std::atomic<int64_t>> backwards_ =
      std::make_shared<std::atomic<int64_t>>(0);
  // The code has done what no guard told: each call is recorded.
  bool always_ = false;
  std::string untold_;
  // The memory that code which looks at elements writes beside tensors
  // (Effects): if there is any, no call that looks is kept. Then the places
  // where such code has added one at its first call.
  std::string writes_;
  std::optional<std::vector<const char*>> counters_of_code_;
  // The call that was recorded last has looked at elements.
  bool looking_ = false;
  Credit credit_;
  Pace pace_;
  int64_t spared_ = 0;
  int64_t walks_ = 0;  // that led to a variant
};

// Whether each call is recorded and compared (set_check).
bool checks_all();

}  // namespace sy::compiling
