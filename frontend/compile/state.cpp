#include "frontend/compile/state.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "c10/dispatch/trace.h"
#include "c10/process/environment.h"
#include "c10/process/error.h"

namespace sy::compiling {

namespace {

std::atomic<bool>& check_flag() {
  static std::atomic<bool> on = [] {
    const char* const what = environment("SWITCHYARD_CHECK");
    return what != nullptr && what == std::string_view("capture");
  }();
  return on;
}

// Whether a call that a graph fits is recorded again to compare: the first is,
// then ever fewer are.
bool is_checked(int64_t fits) {
  return checks_all() || (fits & (fits - 1)) == 0;
}

// The same for code that looks at elements: each of its variants is checked at
// its first calls, then one call of all of them, which is now an even one and
// now an odd one, since branches often take turns.
bool is_walk_checked(int64_t fits, int64_t all_walks) {
  constexpr int64_t kFirst = 8;
  if (fits <= kFirst || checks_all()) return is_checked(fits);
  bool odd = false;
  for (int64_t n = kFirst; n <= all_walks; n *= 4, odd = !odd) {
    if (all_walks == n + int64_t{odd}) return true;
  }
  return false;
}

// Whether the code has looked at elements.
bool has_looked(const Captured& c) {
  return std::any_of(c.breaks.begin(), c.breaks.end(),
                     [](const capture::Break& b) { return b.repeats; });
}

CompileOptions with_backend(CompileOptions options) {
  const char* const name = environment("SWITCHYARD_COMPILE_BACKEND");
  if (options.backend.empty() && name != nullptr) options.backend = name;
  return options;
}

}  // namespace

void set_check(bool on) { check_flag() = on; }
bool checks_all() { return check_flag(); }

FunctionState::FunctionState(CompileOptions options)
    : options_(with_backend(std::move(options))) {}

// ---- entries

bool FunctionState::Entry::holds(const Arguments& a) {
  for (auto w = watches.begin(); w != watches.end(); ++w) {
    if (!(*w)->holds(a)) continue;
    if (w != watches.begin()) watches.splice(watches.begin(), watches, w);
    watches.front()->rest();
    return true;
  }
  return false;
}

void FunctionState::Entry::accept(const Arguments& a,
                                  std::unique_ptr<Watch> now) {
  constexpr size_t kMostStates = 4;
  const auto same =
      std::find_if(watches.begin(), watches.end(),
                   [](const auto& w) { return w->has_same_state(); });
  if (same != watches.end()) {
    (*same)->accept(a);
    return watches.splice(watches.begin(), watches, same);
  }
  now->follow(*watches.front());
  watches.push_front(std::move(now));
  if (watches.size() > kMostStates) watches.pop_back();
}

FunctionState::Entry* FunctionState::entry_of(const Variant& v) {
  const auto e =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const Entry& x) { return x.variant.get() == &v; });
  return e == entries_.end() ? nullptr : &*e;
}

const FunctionState::Entry* FunctionState::resized_of(const Variant& v) const {
  if (!v.steps.empty()) return nullptr;
  const std::string structure = v.structure();
  const auto e =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& x) {
        return !x.looks() && x.family->structure == structure &&
               v.arguments.is_but_for_sizes(x.variant->arguments) &&
               v.has_same_tensors(*x.variant);
      });
  return e == entries_.end() ? nullptr : &*e;
}

void FunctionState::add(std::shared_ptr<Variant> v, const Variants& others,
                        std::unique_ptr<Watch> watch, std::string why,
                        const Entry* resized) {
  for (const auto& other : others) share_steps(*other, v.get());
  if (resized != nullptr) watch->follow_arguments(*resized->watches.front());
  auto family = resized != nullptr
                    ? resized->family
                    : std::make_shared<Family>(Family{v->structure()});
  entries_.push_front({std::move(v), std::move(why), std::move(family)});
  entries_.front().watches.push_back(std::move(watch));
  evict(entries_.front());
}

// Keeps more variants that look at elements, since each value has its own, and
// more sizes.
void FunctionState::evict(const Entry& fresh) {
  constexpr size_t kMore = 8, kSizes = 64;
  const auto end = [&](const auto& is_one, size_t most) {
    const auto n = std::count_if(entries_.begin(), entries_.end(), is_one);
    if (static_cast<size_t>(n) <= most) return;
    entries_.erase(std::prev(
        std::find_if(entries_.rbegin(), entries_.rend(), is_one).base()));
    ++counters_.evicted;
  };
  const auto variants = static_cast<size_t>(std::max(options_.max_variants, 1));
  if (fresh.looks()) {
    return end([](const Entry& e) { return e.looks(); }, kMore * variants);
  }
  const Family* const mine = fresh.family.get();
  end([&](const Entry& e) { return e.family.get() == mine; }, kSizes);
  std::vector<const Family*> all;  // the last used one is in front
  for (const Entry& e : entries_) {
    const Family* const f = e.family.get();
    if (!e.looks() && std::find(all.begin(), all.end(), f) == all.end()) {
      all.push_back(f);
    }
  }
  if (all.size() <= variants) return;
  counters_.evicted += static_cast<int64_t>(std::erase_if(
      entries_, [&](const Entry& e) { return e.family.get() == all.back(); }));
}

// ---- before a call

bool FunctionState::spares() {
  return !checks_all() && !options_.fullgraph && credit_.spares();
}

FunctionState::Found FunctionState::find(const Arguments& a) {
  const std::lock_guard lock(mutex_);
  ++counters_.calls;
  Found found;
  bool looks = looking_;
  auto e = entries_.begin();
  for (; e != entries_.end(); ++e) {
    if (!e->variant->matches(a)) continue;
    if (found.variant == nullptr) looks = e->looks();
    if (e->holds(a)) break;
    if (found.variant != nullptr) continue;
    found = {e->variant, true, e->watches.front()->difference()};
  }
  if (e != entries_.end()) {
    if (e != entries_.begin()) entries_.splice(entries_.begin(), entries_, e);
    found = {e->variant};
    looks = e->looks();
  }
  if (looks && spares()) {
    found.spared = true;
  } else if (found.variant == nullptr) {
    for (Entry& entry : entries_) {
      for (const auto& w : entry.watches) w->refresh();
    }
  } else if (found.checked) {
    ++counters_.checked;
  } else if (looks) {
    const auto& first = found.variant->steps[0];
    for (const Entry& other : entries_) {
      if (other.looks() && other.variant->steps[0] == first) {
        found.paths.push_back(other.variant);
      }
    }
  } else if (is_checked(++e->family->fits)) {
    found.checked = true;
    ++counters_.checked;
  } else {
    ++counters_.replays;
    ++e->replays;
  }
  return found;
}

bool FunctionState::fits(const Arguments& a, const Variant& v) {
  const std::lock_guard lock(mutex_);
  Entry* const e = entry_of(v);
  return e != nullptr && v.matches(a) && e->holds(a);
}

void FunctionState::note_walk(const Walk& walk,
                              std::shared_ptr<const Variant> end,
                              Found* found) {
  const std::lock_guard lock(mutex_);
  if (end == nullptr) {
    found->variant = walk.last();
    found->depth = walk.depth();
    return;
  }
  credit_.hit();
  found->variant = std::move(end);
  Entry* const e = entry_of(*found->variant);
  ++walks_;
  found->checked = e != nullptr && is_walk_checked(++e->family->fits, walks_);
  if (found->checked) {
    ++counters_.checked;
  } else {
    ++counters_.replays;
    if (e != nullptr) ++e->replays;
  }
}

// ---- a call is recorded

std::string FunctionState::reason(const Arguments& a) {
  if (always_) return "a difference that no guard sees";
  if (entries_.empty()) return "the first call";
  return entries_.front().variant->difference(a);
}

std::string FunctionState::why_captured(const Arguments& a,
                                        const Found& found) {
  if (found.variant == nullptr) return reason(a);
  if (!found.doubt.empty()) return found.doubt;
  if (found.depth == 0) return "a check";
  return str("{} saw something new",
             found.variant->steps[found.depth - 1]->look->text());
}

Variants FunctionState::related(const Arguments& a) const {
  Variants all;
  for (const Entry& e : entries_) {
    if (e.variant->matches(a)) all.push_back(e.variant);
  }
  return all;
}

void FunctionState::note_breaks(const Captured& c) {
  for (const capture::Break& b : c.breaks) {
    ++counters_.breaks;
    ++breaks_[{b.reason, b.place}];
  }
}

bool FunctionState::note_looks(const Captured& c) {
  const bool looks = has_looked(c);
  if (looks || c.variant != nullptr) looking_ = looks;
  return looks;
}

// Code that looks at elements and writes what it sees (adds to a sum, fills a
// list) must run, whatever it looks at. So must code that counts in one branch
// and not in another.
void FunctionState::drop_if_writing(const Effects* effects, Captured* c) {
  if (!has_looked(*c)) return;
  std::string written;
  {
    Effects::Found found;
    if (effects != nullptr) found = effects->found();
    const std::lock_guard lock(mutex_);
    if (writes_.empty()) {
      writes_ = found.written;
      if (!counters_of_code_) counters_of_code_ = found.counters;
      if (writes_.empty() && *counters_of_code_ != found.counters) {
        writes_ = "a counter, but not at each call";
      }
      if (writes_.empty()) return;
      entries_.remove_if([](const Entry& e) { return e.looks(); });
    }
    written = writes_;
  }
  if (c->variant == nullptr) return;
  c->variant.reset();
  c->breaks.push_back(
      {str("the code looks at elements, and writes {}", written), ""});
}

bool FunctionState::capture(capture::Engine& engine, const Arguments& a,
                            Device device, Body body, void* context,
                            Outputs* out, const Found& found) {
  std::string why;
  Variants others;
  bool is_kept = false, looks = false, writes = false;
  {
    const std::lock_guard lock(mutex_);
    why = why_captured(a, found);
    if (found.variant != nullptr) others = related(a);
    is_kept = !always_;
    looks = is_kept && !options_.fullgraph;
    writes = !writes_.empty();
  }
  const TraceSpan span("capture",
                       [&] { return str("{}: {}", options_.name, why); });
  auto watch = std::make_unique<Watch>(a, backwards_);
  const auto* const code = reinterpret_cast<const void*>(body);
  if (is_kept) watch->find_places(a, code);
  std::optional<const Effects> effects;
  if (looks && !writes) effects.emplace(a, out);
  Captured c = capture_call(engine, device, options_.backend, looks, a, body,
                            context, out, watch.get());
  if (looks) drop_if_writing(effects ? &*effects : nullptr, &c);
  if (c.variant != nullptr) watch->settle(a, code, c.variant->outer, c.sighted);
  std::string broken;
  {
    const std::lock_guard lock(mutex_);
    note_breaks(c);
    const bool looked = note_looks(c);
    if (!c.breaks.empty()) {
      broken = c.breaks[0].reason;
      if (!c.breaks[0].place.empty()) broken += " at " + c.breaks[0].place;
    }
    if (found.variant == nullptr) {
      const Entry* const resized =
          c.variant == nullptr ? nullptr : resized_of(*c.variant);
      // The first other size is a capture as others are.
      const bool varies = resized != nullptr && ++resized->family->sizes > 2;
      ++(varies ? counters_.sizes : counters_.captures);
      if (looked) credit_.miss();
      if (c.variant != nullptr && !always_) {
        add(std::move(c.variant), {}, std::move(watch), std::move(why),
            resized);
      }
    }
  }
  SY_CHECK(broken.empty() || !options_.fullgraph, Value,
           "[compile] {}: expected a call that can be replayed as a whole, "
           "got one that cannot: {}",
           options_.name, broken);
  const bool own_result = c.own_result;
  if (found.variant != nullptr) {
    compare(found, others, a, &c, std::move(watch));
  }
  return !own_result;
}

void FunctionState::compare(const Found& found, const Variants& others,
                            const Arguments& a, Captured* now,
                            std::unique_ptr<Watch> watch) {
  const std::shared_ptr<Variant> v = std::move(now->variant);
  std::string how;
  Kinship kin = Kinship::kOther;
  if (v != nullptr) {
    kin = kinship(*v, *found.variant, &how);
  } else {
    how = now->breaks.empty() ? "a break" : now->breaks[0].reason;
    // The code after a new value may do what no graph repeats.
    if (found.depth > 0) kin = Kinship::kBranch;
  }
  const bool is_told = !found.doubt.empty() || kin == Kinship::kBranch;
  std::shared_ptr<const Variant> same;
  if (kin == Kinship::kSame) same = found.variant;
  for (const auto& other : others) {
    std::string ignored;
    if (same != nullptr || v == nullptr || !is_told) break;
    if (kinship(*v, *other, &ignored) == Kinship::kSame) same = other;
  }
  const std::unique_lock lock(mutex_);
  const bool missed = found.depth > 0;
  if (missed || (looking_ && same == nullptr)) credit_.miss();
  if (same != nullptr) {
    if (missed) ++counters_.checked;
    if (Entry* const e = entry_of(*same)) e->accept(a, std::move(watch));
    return;
  }
  if (!is_told) return end_replays(how);
  ++counters_.captures;
  if (v == nullptr) return;
  add(v, others, std::move(watch),
      found.doubt.empty() ? why_captured(a, found) : found.doubt);
}

// Nothing has told that the code would do something else.
void FunctionState::end_replays(const std::string& how) {
  ++counters_.untold;
  if (untold_.empty()) untold_ = how;
  always_ = true;
  entries_.clear();
  SY_CHECK(!checks_all() && !options_.fullgraph, Value,
           "[compile] {}: expected the calls that are replayed, but the code "
           "now makes others: {}; it depends on what no guard sees",
           options_.name, how);
}

bool FunctionState::run_spared(capture::Engine& engine, const Arguments& a,
                               Device device, Body body, void* context,
                               Outputs* out) {
  bool in_pieces = false;
  {
    const std::lock_guard lock(mutex_);
    ++counters_.plain;
    ++spared_;
    in_pieces = pace_.in_pieces();
  }
  const auto begin = std::chrono::steady_clock::now();
  bool own_result = true;
  if (in_pieces) {
    Watch ignored(a, backwards_);
    const Captured c = capture_call(engine, device, options_.backend, false, a,
                                    body, context, out, &ignored);
    own_result = c.own_result;
  } else {
    body(context, out);
  }
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  const std::lock_guard lock(mutex_);
  pace_.note(in_pieces, time.count());
  return !own_result;
}

void FunctionState::reset() {
  std::list<Entry> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(entries_);
  breaks_.clear();
  always_ = looking_ = false;
  writes_.clear();
  counters_of_code_.reset();
  untold_.clear();
  credit_ = {};
  pace_ = {};
  spared_ = walks_ = 0;
}

CompileCounters FunctionState::now() {
  const std::lock_guard lock(mutex_);
  CompileCounters c = counters_;
  c.variants = static_cast<int64_t>(entries_.size());
  c.backwards = backwards_->load();
  return c;
}

void FunctionState::count_plain(const char* why) {
  const std::lock_guard lock(mutex_);
  ++counters_.calls;
  ++counters_.plain;
  if (why != nullptr) ++breaks_[{why, ""}];
}

}  // namespace sy::compiling
