#include "aten/engine/geometry.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "aten/contract/pooling_windows.h"
#include "c10/tensor/tensor_impl.h"
#include "lang/index.h"
#include "lang/index_eval.h"
#include "lang/parser.h"

// aten/engine/geometry.h, which generated code and loaded operators
// call, and eval_index are two implementations of one language.

namespace sy {
namespace {

using List = std::vector<int64_t>;

struct Outcome {
  List value;
  bool failed = false;
  std::string message;
};

template <class F>
Outcome compiled(F&& f) {
  try {
    const auto v = f();
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Dims>) {
      return {IntArrayRef(v).vec(), false, {}};
    } else {
      return {{static_cast<int64_t>(v)}, false, {}};
    }
  } catch (const Error& e) {
    return {{}, true, e.what()};
  }
}

Outcome evaluated(const std::string& text, const lang::IndexValues& values) {
  try {
    const auto v = lang::eval_index(lang::parse(text), values, "op");
    if (const auto* l = std::get_if<List>(&v)) return {*l, false, {}};
    if (const auto* b = std::get_if<bool>(&v)) return {{*b}, false, {}};
    return {{std::get<int64_t>(v)}, false, {}};
  } catch (const std::exception& e) {
    return {{}, true, e.what()};
  }
}

class ShapesTest : public testing::Test {
 protected:
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  List list(int64_t most, int64_t low, int64_t high) {
    List out(static_cast<size_t>(number(0, most)));
    for (int64_t& v : out) v = number(low, high);
    return out;
  }

  template <class F>
  void compare(const std::string& text, const lang::IndexValues& values,
               F&& f) {
    const Outcome a = compiled(f);
    const Outcome b = evaluated(text, values);
    EXPECT_EQ(a.failed, b.failed) << text << ": " << a.message << b.message;
    if (!a.failed && !b.failed) {
      EXPECT_EQ(a.value, b.value) << text;
    }
  }

  std::mt19937 rng_{1};
};

TEST_F(ShapesTest, CompiledAndEvaluatedAgree) {
  using namespace geometry;
  const char* op = "op";
  for (int round = 0; round < 3000; ++round) {
    const List a = list(4, 0, 4), b = list(4, -1, 4), c = list(4, -3, 3);
    const int64_t i = number(-5, 5), j = number(-5, 5), k = number(0, 4);
    const std::optional<int64_t> o =
        round % 3 ? std::optional<int64_t>(i) : std::nullopt;
    lang::IndexValues v = {{"a", a}, {"b", b}, {"c", c},
                           {"i", i}, {"j", j}, {"k", k}};
    if (o) v["o"] = *o;
    compare("i // j", v, [&] { return floor_div(op, i, j); });
    compare("i % j", v, [&] { return mod(op, i, j); });
    compare("ceil_div(i, j)", v, [&] { return ceil_div(op, i, j); });
    compare("a[i]", v, [&] { return at(op, IntArrayRef(a), i); });
    compare("a[i:j]", v, [&] { return slice(a, i, j); });
    compare("wrap_dim(i, k)", v, [&] { return geometry::wrap_dim(op, i, k); });
    compare("wrap_dims(c, k)", v, [&] { return wrap_dims(op, c, k); });
    compare("with(a, i, k)", v, [&] { return with(op, a, i, k); });
    compare("without(a, i)", v, [&] { return without(op, a, i); });
    compare("without(a, c)", v, [&] { return without(op, a, IntArrayRef(c)); });
    compare("inserted(a, i, k)", v, [&] { return inserted(op, a, i, k); });
    compare("swapped(a, i, j)", v, [&] { return swapped(op, a, i, j); });
    compare("permuted(a, c)", v, [&] { return permuted(op, a, c); });
    compare("inverse_permutation(c)", v,
            [&] { return inverse_permutation(op, c); });
    compare("is_permutation(c, k)", v, [&] { return is_permutation(c, k); });
    compare("broadcast(a, a[1:])", v,
            [&] { return broadcast(op, a, slice(a, 1, INT64_MAX)); });
    compare("infer_size(b, prod(a))", v,
            [&] { return geometry::infer_size(op, b, prod(a)); });
    compare("expand_sizes(a, b)", v, [&] { return expand_sizes(op, a, b); });
    compare("expand_strides(a, contiguous_strides(a), b)", v, [&] {
      return expand_strides(op, a, geometry::contiguous_strides(a), b);
    });
    compare("is_expandable_to(a, b)", v,
            [&] { return is_expandable_to(a, b); });
    compare("slice_start(k, o)", v, [&] { return slice_start(k, o); });
    compare("slice_size(k, o, j, i)", v,
            [&] { return slice_size(op, k, o, j, i); });
    compare("reduced_sizes(a, c, i > 0)", v,
            [&] { return reduced_sizes(op, a, IntArrayRef(c), i > 0); });
    compare("reduced_sizes(a, o, i > 0)", v,
            [&] { return reduced_sizes(op, a, o, i > 0); });
    compare("diagonal_sizes(a, i, j, k)", v,
            [&] { return diagonal_sizes(op, a, i, j, k); });
    compare("diagonal_strides(a, j, k)", v,
            [&] { return diagonal_strides(op, a, j, k); });
    compare("unfold_sizes(a, i, k, j)", v,
            [&] { return unfold_sizes(op, a, i, k, j); });
    compare("window_counts(a, b, c, b, a)", v,
            [&] { return window_counts(op, a, b, c, b, a); });
    compare("pooled_sizes(2, a, b, c, [1], [k], i > 0)", v, [&] {
      const List one = {1}, apart = {k};
      return pooled_sizes(op, 2, a, b, c, one, apart, i > 0);
    });
    compare("unfold_strides(a, i, j)", v,
            [&] { return unfold_strides(op, a, i, j); });
    compare("unsqueezed_stride(a, contiguous_strides(a), i)", v, [&] {
      return unsqueezed_stride(op, a, geometry::contiguous_strides(a), i);
    });
    // A view of some of the sizes of a transposed tensor.
    compare(
        "view_strides(a, reversed(contiguous_strides(reversed(a))), "
        "infer_size(b, prod(a)))",
        v, [&] {
          const Dims strides =
              reversed(geometry::contiguous_strides(reversed(a)));
          return geometry::view_strides(op, a, strides,
                                        geometry::infer_size(op, b, prod(a)));
        });
  }
}

// Ends of the number range: no sum or product goes beyond it.
TEST(Geometry, EndsOfTheNumberRange) {
  using namespace geometry;
  EXPECT_EQ(ceil_div("op", INT64_MIN, 3), INT64_MIN / 3);
  EXPECT_EQ(ceil_div("op", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(floor_div("op", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(ceil_div("op", INT64_MAX, INT64_MIN), 0);
  const int64_t strides[] = {1, 1};
  EXPECT_EQ(diagonal_offset("op", strides, INT64_MAX, 0, 1), 0);
  EXPECT_EQ(diagonal_offset("op", strides, INT64_MIN + 1, 0, 1), 0);
}

}  // namespace
}  // namespace sy
