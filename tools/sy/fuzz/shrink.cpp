#include "tools/sy/fuzz/shrink.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace sy::tools {

namespace {

// The length of a call, which a shorter call has less of.
double length(const FuzzCall& call) {
  double out = static_cast<double>(dump(call.json()).size());
  for (const auto& [key, s] : call.storages.items()) {
    out += 0.01 * s["elements"].get<double>();
  }
  return out;
}

class Shrinker {
 public:
  Shrinker(FuzzCall call, const std::function<bool(const FuzzCall&)>& fails,
           int questions)
      : call_(std::move(call)), fails_(fails), questions_(questions) {}

  FuzzCall run() {
    for (bool shorter = true; shorter && questions_ > 0;) {
      shorter = false;
      shorter |= simplify_storages();
      shorter |= simplify_tensors();
      shorter |= simplify_numbers(Json::json_pointer(), 0);
    }
    return std::move(call_);
  }

 private:
  bool attempt(FuzzCall shorter) {
    if (questions_ <= 0 || !fit_storages(shorter) ||
        length(shorter) >= length(call_)) {
      return false;
    }
    --questions_;
    if (!fails_(shorter)) return false;
    call_ = std::move(shorter);
    return true;
  }

  bool attempt(const Json::json_pointer& at, Json v) {
    FuzzCall shorter = call_;
    shorter.arguments[at] = std::move(v);
    return attempt(std::move(shorter));
  }

  bool simplify_storages() {
    bool any = false;
    const Json all = call_.storages;
    for (const auto& [key, s] : all.items()) {
      for (const char* field : {"values", "seed", "fill"}) {
        if (!call_.storages.contains(key) ||
            !call_.storages[key].contains(field)) {
          continue;
        }
        FuzzCall shorter = call_;
        shorter.storages[key].erase(field);
        any |= attempt(std::move(shorter));
      }
    }
    return any;
  }

  bool simplify_tensors() {
    bool any = false;
    for (const auto& at : places_of_tensors(call_.arguments)) {
      // An attempt before may have taken it away.
      const auto now = [&]() -> const Json& { return call_.arguments[at]; };
      if (!call_.arguments.contains(at) || !is_view(now())) continue;
      any |= attempt(at, nullptr);
      if (!is_view(now())) continue;
      for (const char* field : {"requires_grad", "copy"}) {
        Json v = now();
        if (v.erase(field) != 0) any |= attempt(at, std::move(v));
      }
      Json v = now();
      v["offset"] = 0;
      any |= attempt(at, v);
      any |= simplify_sizes(at);
    }
    return any;
  }

  bool simplify_sizes(const Json::json_pointer& at) {
    bool any = false;
    const auto with = [&](const std::vector<int64_t>& sizes) {
      Json v = call_.arguments[at];
      v["sizes"] = sizes;
      v["strides"] = dense_strides(sizes);
      return attempt(at, std::move(v));
    };
    const auto sizes_now = [&] {
      return call_.arguments[at]["sizes"].get<std::vector<int64_t>>();
    };
    any |= with(sizes_now());
    for (size_t d = 0; d < sizes_now().size();) {
      std::vector<int64_t> less = sizes_now();
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(d));
      if (with(less)) {
        any = true;
        continue;
      }
      for (const int64_t n :
           {int64_t{1}, sizes_now()[d] / 2, sizes_now()[d] - 1}) {
        less = sizes_now();
        if (n < 0 || n >= less[d]) continue;
        less[d] = n;
        any |= with(less);
        // The same with other strides.
        Json v = call_.arguments[at];
        if (v["sizes"][d] <= n) continue;
        v["sizes"][d] = n;
        any |= attempt(at, std::move(v));
      }
      ++d;
    }
    return any;
  }

  // Simplifies values that are no tensors, at `at` and in lists there.
  bool simplify_numbers(const Json::json_pointer& at, int depth) {
    const Json v = call_.arguments[at];
    bool any = false;
    if (v.is_array()) {
      for (size_t i = v.size(); i-- > 0;) {
        FuzzCall shorter = call_;
        Json& list = shorter.arguments[at];
        if (i >= list.size()) continue;
        // An argument has its place; only the last may go.
        if (depth > 0 || i + 1 == list.size()) {
          list.erase(i);
          if (attempt(std::move(shorter))) {
            any = true;
            continue;
          }
        }
        any |= simplify_numbers(at / i, depth + 1);
      }
      return any;
    }
    if (is_view(v) || v.is_null()) return false;
    if (depth == 1 && attempt(at, nullptr)) return true;
    if (v.is_number_integer()) {
      const auto n = v.get<int64_t>();
      return attempt(at, 0) || attempt(at, 1) || attempt(at, n / 2);
    }
    if (v.is_number_float()) return attempt(at, 0.5);
    return false;
  }

  FuzzCall call_;
  const std::function<bool(const FuzzCall&)>& fails_;
  int questions_;
};

}  // namespace

FuzzCall shrink(FuzzCall call,
                const std::function<bool(const FuzzCall&)>& fails,
                int most_questions) {
  return Shrinker(std::move(call), fails, most_questions).run();
}

}  // namespace sy::tools
