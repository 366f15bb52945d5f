#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/sy.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/frontend/compile/samples.h"

// A tensor in a container of the program is replaced while others keep the old
// one, which has as many owners as before. Varied: the container, where it is,
// which element, when, the thread. Never: the dtype, the size of the
// containers.

namespace sy {

namespace {

using test::expect_same;
using test::kKnowsBlocks;
using test::sample;

constexpr int kCalls = 40;

// `code(x)` reads the tensor of the handle `at()` leads to. How many calls were
// replayed of three times 40: what lies in memory by chance may take some.
template <class Code, class At>
int64_t replaced(const Code& code, const At& at) {
  int64_t replays = 0;
  for (const int when : {3, 6, 20}) {
    auto f = compile(code);
    std::vector<Tensor> kept;
    for (int i = 0; i < kCalls; ++i) {
      if (i == when) {
        Tensor next = sample({4}, 100 + i);
        std::swap(at(), next);
        kept.push_back(std::move(next));
      }
      const Tensor x = sample({4}, i);
      expect_same(f(x), code(x));
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "replaced before call " << when << ", call " << i
                      << "\n"
                      << f.explain();
        return 0;
      }
    }
    EXPECT_EQ(f.counters().untold, 0) << f.explain();
    replays += f.counters().replays;
  }
  return replays;
}

// In a variable of the stack, in one on the heap, there behind a variable.
template <class Container, class At>
void replaced_in(const std::function<Container()>& make, const At& at) {
  if (!kKnowsBlocks) GTEST_SKIP() << "malloc is not glibc's";
  int64_t replays = 0;
  Container c = make();
  replays += replaced([&c, at](const Tensor& x) { return x * at(c); },
                      [&]() -> Tensor& { return at(c); });
  const auto heap = std::make_unique<Container>(make());
  replays +=
      replaced([p = heap.get(), at](const Tensor& x) { return x * at(*p); },
               [&]() -> Tensor& { return at(*heap); });
  replays += replaced([&heap, at](const Tensor& x) { return x * at(*heap); },
                      [&]() -> Tensor& { return at(*heap); });
  struct {
    double numbers[12] = {};
    Container c;
  } w;
  w.c = make();
  replays += replaced([&w, at](const Tensor& x) { return x * at(w.c); },
                      [&]() -> Tensor& { return at(w.c); });
  const auto shared = std::make_shared<Container>(make());
  replays += replaced([shared, at](const Tensor& x) { return x * at(*shared); },
                      [&]() -> Tensor& { return at(*shared); });
  EXPECT_GT(replays, 5 * kCalls);
}

TEST(Containers, Vector) {
  using C = std::vector<Tensor>;
  replaced_in<C>(
      [] {
        return C{sample({4}, 1), sample({4}, 2)};
      },
      [](C& c) -> Tensor& { return c[1]; });
}

TEST(Containers, Array) {
  using C = std::array<Tensor, 3>;
  replaced_in<C>(
      [] {
        return C{sample({4}, 1), sample({4}, 2), sample({4}, 3)};
      },
      [](C& c) -> Tensor& { return c[2]; });
}

TEST(Containers, Optional) {
  using C = std::optional<Tensor>;
  replaced_in<C>([] { return C(sample({4}, 1)); },
                 [](C& c) -> Tensor& { return *c; });
}

template <class Map>
void replaced_in_map() {
  for (const char* name : {"a", "d", "g"}) {
    replaced_in<Map>(
        [] {
          Map c;
          for (const char* n : {"a", "b", "c", "d", "e", "f", "g"}) {
            c[n] = sample({4}, n[0]);
          }
          return c;
        },
        [name](Map& c) -> Tensor& { return c.at(name); });
  }
}

TEST(Containers, Map) { replaced_in_map<std::map<std::string, Tensor>>(); }

TEST(Containers, UnorderedMap) {
  replaced_in_map<std::unordered_map<std::string, Tensor>>();
}

TEST(Containers, Deque) {
  using C = std::deque<Tensor>;
  replaced_in<C>(
      [] {
        return C{sample({4}, 1), sample({4}, 2)};
      },
      [](C& c) -> Tensor& { return c[1]; });
}

TEST(Containers, List) {
  using C = std::list<Tensor>;
  replaced_in<C>(
      [] {
        return C{sample({4}, 1), sample({4}, 2), sample({4}, 3)};
      },
      [](C& c) -> Tensor& { return *std::next(c.begin()); });
}

TEST(Containers, VectorOfVectors) {
  using C = std::vector<std::vector<Tensor>>;
  replaced_in<C>(
      [] {
        return C{{sample({4}, 1)}, {sample({4}, 2), sample({4}, 3)}};
      },
      [](C& c) -> Tensor& { return c[1][1]; });
}

// The way over the first pointer ends at an object of which a part could not be
// looked at any more; the second pointer leads to it, too.
TEST(Containers, BehindTooMuchForOnePointer) {
  if (!kKnowsBlocks) GTEST_SKIP() << "malloc is not glibc's";
  struct Leaf {
    double numbers[6] = {};
  };
  struct Holder {
    double numbers[12] = {};
    Tensor weight = sample({4}, 1);
  };
  struct Branch {
    Leaf* leaves[20];
    Holder* holder;
  };
  struct Root {
    Leaf* leaves[115];
    Branch* branch;
  };
  std::vector<std::unique_ptr<Leaf>> all;
  const auto leaf = [&] {
    return all.emplace_back(std::make_unique<Leaf>()).get();
  };
  const auto holder = std::make_unique<Holder>();
  const auto branch = std::make_unique<Branch>();
  const auto root = std::make_unique<Root>();
  std::generate_n(root->leaves, std::size(root->leaves), leaf);
  std::generate_n(branch->leaves, std::size(branch->leaves), leaf);
  branch->holder = holder.get();
  root->branch = branch.get();
  struct {
    const Root* root;
    const Branch* branch;
    Tensor operator()(const Tensor& x) const {
      return x * branch->holder->weight;
    }
  } const code{root.get(), branch.get()};
  EXPECT_GT(replaced(code, [&]() -> Tensor& { return holder->weight; }),
            kCalls / 2);
}

// Its elements lie elsewhere at some calls, and one is replaced later.
TEST(Containers, AVectorThatGrows) {
  struct World {
    double numbers[12] = {};
    std::vector<std::vector<Tensor>> all{{sample({4}, 1), sample({4}, 2)}};
    std::unique_ptr<std::vector<Tensor>> own =
        std::make_unique<std::vector<Tensor>>(2, sample({4}, 3));
    Tensor step(const Tensor& x) const { return x * all[0][1] + (*own)[1]; }
  };
  for (const int when : {5, 9, 13, 22, 31}) {
    World w;
    std::vector<std::vector<Tensor>> old;  // so that nobody else has the memory
    std::vector<Tensor> kept;
    const auto code = [&w](const Tensor& x) { return w.step(x); };
    auto f = compile(code);
    for (int i = 0; i < kCalls; ++i) {
      if (i % 4 == 3) {
        auto& grows = i % 8 == 3 ? w.all[0] : *w.own;
        old.push_back(grows);
        std::swap(old.back(), grows);
      }
      if (i >= when && (i - when) % 9 == 0) {
        Tensor& changed = i % 2 == 0 ? w.all[0][1] : (*w.own)[1];
        kept.push_back(std::exchange(changed, sample({4}, 100 + i)));
      }
      const Tensor x = sample({4}, i);
      expect_same(f(x), code(x));
      ASSERT_FALSE(testing::Test::HasFailure())
          << "replaced from call " << when << ", call " << i << "\n"
          << f.explain();
    }
    EXPECT_EQ(f.counters().untold, 0) << f.explain();
  }
}

struct Layer {
  std::string name = "a layer with a name that lies on the heap";
  Tensor weight = sample({4}, 1), bias = sample({4}, 2);
};

TEST(Containers, VectorOfObjects) {
  using C = std::vector<Layer>;
  replaced_in<C>([] { return C(3); },
                 [](C& c) -> Tensor& { return c[2].bias; });
}

TEST(Containers, VectorOfPointers) {
  using C = std::vector<std::shared_ptr<Layer>>;
  replaced_in<C>(
      [] {
        C c;
        for (int i = 0; i < 3; ++i) c.push_back(std::make_shared<Layer>());
        return c;
      },
      [](C& c) -> Tensor& { return c[2]->bias; });
}

TEST(Containers, MapOfPairs) {
  using C = std::map<int, std::pair<Tensor, Tensor>>;
  replaced_in<C>(
      [] {
        C c;
        for (int i = 0; i < 3; ++i) c[i] = {sample({4}, i), sample({4}, i + 5)};
        return c;
      },
      [](C& c) -> Tensor& { return c.at(1).second; });
}

// Its blocks lie elsewhere than those of the first thread.
TEST(Containers, OfAThread) {
  std::thread([] {
    using Map = std::map<int, Tensor>;
    replaced_in<Map>(
        [] {
          Map c;
          for (int i = 0; i < 7; ++i) c[i] = sample({4}, i);
          return c;
        },
        [](Map& c) -> Tensor& { return c.at(5); });
    using Vector = std::vector<std::vector<Tensor>>;
    replaced_in<Vector>(
        [] {
          return Vector{{sample({4}, 1), sample({4}, 2)}};
        },
        [](Vector& c) -> Tensor& { return c[0][1]; });
  }).join();
}

Tensor of_the_program = sample({4}, 7);

TEST(Containers, AGlobalVariable) {
  const int64_t replays =
      replaced([](const Tensor& x) { return x * of_the_program; },
               []() -> Tensor& { return of_the_program; });
  EXPECT_GT(replays, kCalls);
}

TEST(Containers, AStaticVariable) {
  static Tensor own = sample({4}, 7);
  const int64_t replays = replaced([](const Tensor& x) { return x * own; },
                                   []() -> Tensor& { return own; });
  EXPECT_GT(replays, kCalls);
}

}  // namespace

}  // namespace sy
