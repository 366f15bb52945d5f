#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <latch>
#include <sstream>
#include <thread>

#include "aten/backend/pending.h"
#include "aten/dlpack.h"
#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/storage.h"
#include "aten/ops/view.h"
#include "aten/ops/view_inplace.h"
#include "aten/print.h"
#include "autograd/api.h"
#include "frontend/distributed/operators/collectives.h"
#include "frontend/io/npy.h"
#include "frontend/io/safetensors.h"
#include "frontend/io/torch_file.h"
#include "test/aten/tensor_values.h"
#include "test/frontend/distributed/ranks.h"

// Every way to the elements of a result that is under way: it waits, and if the
// collective failed it throws, each time the same.

namespace sy::distributed {
namespace {

using Values = std::vector<double>;

// A file of one process and thread, gone in the end.
class OwnFile {
 public:
  explicit OwnFile(const char* ending) {
    static std::atomic<int> count{0};
    path = str("{}/collectives_{}_{}{}", testing::TempDir(), int{getpid()},
               count++, ending);
  }
  ~OwnFile() { std::remove(path.c_str()); }
  std::string path;
};

Values floats(const void* data, int64_t n) {
  const auto* const p = static_cast<const float*>(data);
  return {p, p + n};
}

Tensor three(double value) { return full({3}, value, TensorOptions(kFloat)); }

struct Access {
  const char* name;
  std::function<Values(Tensor)> get;
};

const Access kAccesses[] = {
    {"an operator", [](const Tensor& t) { return values(t + 0); }},
    {"data_ptr",
     [](const Tensor& t) { return floats(t.data_ptr<float>(), 3); }},
    {"const_data_ptr",
     [](const Tensor& t) { return floats(t.const_data_ptr(), 3); }},
    {"mutable_data_ptr",
     [](const Tensor& t) { return floats(t.mutable_data_ptr(), 3); }},
    {"its storage",
     [](const Tensor& t) { return floats(t.storage()->const_data("a"), 3); }},
    {"accessor",
     [](const Tensor& t) {
       const auto a = t.accessor<float, 1>();
       return Values{a[0], a[1], a[2]};
     }},
    {"item",
     [](const Tensor& t) {
       return Values{t[0].item<float>(), t[1].item<float>(),
                     t[2].item<float>()};
     }},
    {"print",
     [](const Tensor& t) {
       std::ostringstream out;
       out << t;
       const bool right = out.str().find("3") != std::string::npos;
       return right ? Values{3, 3, 3} : Values{};
     }},
    {"dlpack",
     [](const Tensor& t) { return values(from_dlpack(to_dlpack(t))); }},
    {"versioned dlpack",
     [](const Tensor& t) {
       return values(from_dlpack(to_dlpack_versioned(t)));
     }},
    {"safetensors",
     [](const Tensor& t) {
       const OwnFile f(".safetensors");
       save_safetensors(f.path, {{"t", t}});
       return values(load_safetensors(f.path)["t"]);
     }},
    {"npy",
     [](const Tensor& t) {
       const OwnFile f(".npy");
       save_npy(f.path, t);
       return values(load_npy(f.path));
     }},
    {"a file of PyTorch",
     [](const Tensor& t) {
       const OwnFile f(".pt");
       write_torch_file(f.path, ArchiveValue(t));
       return values(read_torch_file(f.path).to_tensor());
     }},
    {"copy_",
     [](const Tensor& t) {
       Tensor other = empty({3});
       return values(other.copy_(t));
     }},
    {"to another dtype", [](const Tensor& t) { return values(t.to(kDouble)); }},
    {"equal",
     [](const Tensor& t) {
       return t.equal(three(3)) ? Values{3, 3, 3} : Values{};
     }},
    {"detach",
     [](const Tensor& t) { return floats(t.detach().data_ptr<float>(), 3); }},
    {"an alias",
     [](const Tensor& t) {
       return floats(Tensor(t.impl()->alias()).data_ptr<float>(), 3);
     }},
    {"a view",
     [](const Tensor& t) {
       return floats(t.view({3, 1}).data_ptr<float>(), 3);
     }},
    {"the only reference",
     [](Tensor t) {
       Tensor moved = std::move(t);
       moved.mul_(1);
       return floats(moved.data_ptr<float>(), 3);
     }},
    {"set_",
     [](const Tensor& t) {
       Tensor other = empty({0});
       set_(other, t);
       return floats(other.data_ptr<float>(), 3);
     }},
    {"resize_",
     [](Tensor t) {
       t.resize_({1, 3});
       return floats(t.data_ptr<float>(), 3);
     }},
    {"resize_ to more",
     [](Tensor t) {
       t.resize_({9});
       return floats(t.data_ptr<float>(), 3);
     }},
    {"a gradient",
     [](const Tensor& t) {
       const Tensor x = zeros({3}).requires_grad_();
       (x + 0).backward(t);
       return floats(x.grad().data_ptr<float>(), 3);
     }},
    {"a gradient that is added to",
     [](const Tensor& t) {
       Tensor x = zeros({3}).requires_grad_();
       x.mutable_grad() = t;
       (x * 0).sum().backward();
       return floats(x.grad().data_ptr<float>(), 3);
     }},
    {"a leaf",
     [](Tensor t) {
       t.requires_grad_();
       (t * t).sum().backward();
       return values(t.grad() / 2);
     }},
};

TEST(CollectiveAccess, EveryWayWaits) {
  for (const Access& a : kAccesses) {
    SCOPED_TRACE(a.name);
    std::latch called(1);
    Ranks(2, Milliseconds(20'000)).run([&](int rank) {
      if (rank == 1) called.wait();
      Tensor t = sy_dist::all_reduce(three(rank + 1));
      if (rank == 0) {
        EXPECT_TRUE(is_pending(t)) << a.name;
        called.count_down();
      }
      EXPECT_EQ(a.get(std::move(t)), Values(3, 3.0)) << a.name;
      sy_dist::barrier();
    });
  }
}

// Ranks that disagree.
TEST(CollectiveAccess, EveryWayThrowsTheSame) {
  Ranks(2, Milliseconds(20'000)).run([&](int rank) {
    for (const Access& a : kAccesses) {
      const Tensor t = sy_dist::all_reduce(three(1), rank ? "sum" : "max");
      std::string first;
      for (int i = 0; i < 3; ++i) {
        const std::string what = error_of([&] { a.get(t); });
        for (const char* const word : {"all_reduce", "rank 0", "rank 1"}) {
          EXPECT_NE(what.find(word), std::string::npos)
              << a.name << ": " << what;
        }
        if (i == 0) first = what;
        EXPECT_EQ(what, first) << a.name;
      }
      EXPECT_TRUE(is_pending(t)) << a.name;
    }
  });
}

TEST(CollectiveAccess, ErrorsOfOneCallDoNotGrow) {
  Ranks(2).run([&](int rank) {
    const std::vector<Tensor> parts = sy_dist::all_gather(ones({3 + rank}));
    const std::string one = error_of([&] { parts[0].data_ptr(); });
    EXPECT_NE(one, "");
    error_of([&] { parts[1].data_ptr(); });
    error_of([&] { parts[0].sum(); });
    EXPECT_EQ(error_of([&] { parts[0].data_ptr(); }), one);
  });
}

TEST(CollectiveAccess, SeveralThreadsAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const bool fails = round % 2 == 1;
    Ranks(2, Milliseconds(20'000)).run([&](int rank) {
      const Tensor t =
          sy_dist::all_reduce(three(1), fails && rank ? "max" : "sum");
      std::array<std::string, 4> errors;
      std::array<Values, 4> got;
      std::vector<std::thread> threads;
      for (size_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          errors[i] = error_of([&] {
            got[i] = i % 2 == 0 ? values(t * 1) : floats(t.const_data_ptr(), 3);
          });
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(errors[i].empty(), !fails) << errors[i];
        EXPECT_EQ(errors[i], errors[i % 2]);
        EXPECT_EQ(got[i], fails ? Values() : Values(3, 2.0));
      }
      sy_dist::barrier();
    });
  }
}

// A result that is dropped while it is under way, and one whose failure nobody
// looks at.
TEST(CollectiveAccess, NoneAtAll) {
  Ranks(2).run([&](int rank) {
    { const Tensor t = sy_dist::all_reduce(three(1)); }
    { const Tensor t = sy_dist::all_reduce(ones({3 + rank})); }
    Tensor t = sy_dist::all_reduce(ones({3 + rank}));
    t = sy_dist::all_reduce(three(1));
    EXPECT_EQ(values(t + 0), Values(3, 2.0));
  });
}

}  // namespace
}  // namespace sy::distributed
