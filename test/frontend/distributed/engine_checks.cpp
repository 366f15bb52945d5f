#include "test/frontend/distributed/engine_checks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>

#include "c10/process/error.h"
#include "test/frontend/distributed/thread_transfer.h"

namespace sy::distributed {

namespace {

constexpr int64_t kSizes[] = {0, 1, 7, 1000};
constexpr auto kNap = std::chrono::microseconds(20);

constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::PRODUCT, ReduceOp::MIN,
                             ReduceOp::MAX, ReduceOp::BAND,    ReduceOp::BOR,
                             ReduceOp::BXOR};

// Small whole numbers, so that sums and products are exact in every order.
template <class T>
T value_of(int rank, int64_t i) {
  const int v = static_cast<int>((rank * 3 + i * 7) % 5);
  if constexpr (std::is_same_v<T, bool>) return v % 2 == 0;
  return static_cast<T>(static_cast<float>(v));
}

using Bytes = std::vector<char>;

// `count` elements of what rank `rank` gives, from element `first` on.
Bytes data_of(ScalarType dtype, int rank, int64_t first, int64_t count) {
  Bytes bytes(static_cast<size_t>(count) * element_size(dtype));
  switch (dtype) {
#define SY_CASE(cpp, Enum)                                                 \
  case ScalarType::Enum:                                                   \
    for (int64_t i = 0; i < count; ++i) {                                  \
      const cpp v = value_of<cpp>(rank, first + i);                        \
      std::memcpy(bytes.data() + i * int64_t{sizeof(cpp)}, &v, sizeof(v)); \
    }                                                                      \
    break;
    SY_FORALL_SCALAR_TYPES(SY_CASE)
#undef SY_CASE
    case ScalarType::Undefined: break;
  }
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// One collective, and what it must give.
struct Item {
  const char* name;
  Transfer t;
  Bytes in, out, expected;
  std::vector<int64_t> in_counts, out_counts;
  void* request = nullptr;
};

enum Place { kBeside, kInPlace };

class Checks {
 public:
  Checks(Communicator& c, bool exact)
      : c_(c), more_(exact ? 0 : 5), me_(c.rank()), n_(c.size()) {}

  void run() {
    for (const int64_t count : kSizes) {
      for (int d = 0; d < kNumScalarTypes; ++d) {
        const auto dtype = static_cast<ScalarType>(d);
        for (const ReduceOp op : kOps) reductions(dtype, op, count);
        moves(dtype, count);
        finish_all();
      }
      messages(count);
    }
    order_of_messages();
    barriers();
  }
  std::vector<std::string> failures;

 private:
  // Begins a collective, if there is such. In place, `out` is its input. The
  // result's first elements must be `expected`.
  Item* add(const char* name, const Transfer& t, Place place, Bytes in,
            Bytes out, Bytes expected) {
    if (!c_.supports(t.what, t.dtype, t.op)) return nullptr;
    Item& item = items_.emplace_back(Item{
        name, t, std::move(in), std::move(out), std::move(expected), {}, {}});
    item.t.out = item.out.data();
    item.t.in = place == kInPlace ? item.t.out : item.in.data();
    if (t.what != Collective::kAllToAll) item.request = c_.begin(item.t);
    return &item;
  }

  // The last one first: all may be under way at once.
  void finish_all() {
    while (!items_.empty()) {
      Item& item = items_.back();
      finish(c_, item.request);
      item.out.resize(item.expected.size());
      if (item.out != item.expected) wrong(item.name, item.t, "wrong elements");
      items_.pop_back();
    }
  }

  void wrong(const char* name, const Transfer& t, const std::string& why) {
    failures.push_back("rank " + std::to_string(me_) + " of " +
                       std::to_string(n_) + ": " + name + " " +
                       dtype_name(t.dtype) + "[" + std::to_string(t.count) +
                       "] " + name_of(t.op) + ": " + why);
  }

  Bytes reduced(ScalarType dtype, ReduceOp op, int64_t first, int64_t count) {
    Bytes sum = data_of(dtype, 0, first, count);
    for (int r = 1; r < n_; ++r) {
      const Bytes x = data_of(dtype, r, first, count);
      thread_reduce(sum.data(), x.data(), count, dtype, op);
    }
    return sum;
  }

  void reductions(ScalarType dtype, ReduceOp op, int64_t count) {
    const bool bits =
        op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
    if (bits && is_floating_type(dtype)) return;
    Transfer t;
    t.dtype = dtype;
    t.op = op;
    t.count = count;
    const Bytes mine = data_of(dtype, me_, 0, count);
    const Bytes sum = reduced(dtype, op, 0, count);
    const Bytes none(mine.size(), 'z');
    t.what = Collective::kAllReduce;
    add("all_reduce", t, kBeside, mine, none, sum);
    add("all_reduce in place", t, kInPlace, {}, mine, sum);
    t.what = Collective::kReduce;
    t.peer = static_cast<int>(count + static_cast<int>(op)) % n_;
    const bool root = me_ == t.peer;
    add("reduce", t, kBeside, mine, none, root ? sum : none);
    add("reduce in place", t, kInPlace, {}, mine, root ? sum : mine);
    t.what = Collective::kReduceScatter;
    t.peer = 0;
    const Bytes all = data_of(dtype, me_, 0, count * n_);
    const Bytes part = reduced(dtype, op, count * me_, count);
    add("reduce_scatter", t, kBeside, all, none, part);
    add("reduce_scatter in place", t, kInPlace, {}, all, part);
  }

  void moves(ScalarType dtype, int64_t count) {
    Transfer t;
    t.dtype = dtype;
    t.count = count;
    const Bytes mine = data_of(dtype, me_, 0, count);
    const Bytes none(mine.size(), 'z');
    Bytes all, own;  // own: only this rank's part is there
    for (int r = 0; r < n_; ++r) {
      all = all + data_of(dtype, r, 0, count);
      own = own + (r == me_ ? mine : none);
    }
    for (int root = 0; root < n_; ++root) {
      t.peer = root;
      const bool mine_is = me_ == root;
      const Bytes theirs = data_of(dtype, root, 0, count);
      t.what = Collective::kBroadcast;
      add("broadcast", t, kBeside, mine, none, theirs);
      add("broadcast in place", t, kInPlace, {}, mine, theirs);
      t.what = Collective::kGather;
      const Bytes room(mine_is ? all.size() : 0);
      const Bytes gathered = mine_is ? all : Bytes();
      add("gather", t, kBeside, mine, room, gathered);
      add("gather in place", t, mine_is ? kInPlace : kBeside, mine,
          mine_is ? own : Bytes(), gathered);
      t.what = Collective::kScatter;
      const Bytes given = data_of(dtype, root, 0, count * n_);
      const Bytes part = data_of(dtype, root, count * me_, count);
      add("scatter", t, kBeside, mine_is ? given : Bytes(), none, part);
      add("scatter in place", t, mine_is ? kInPlace : kBeside, {},
          mine_is ? given : none, mine_is ? given : part);
    }
    t.peer = 0;
    t.what = Collective::kAllGather;
    add("all_gather", t, kBeside, mine, Bytes(all.size()), all);
    add("all_gather in place", t, kInPlace, {}, own, all);
    t.what = Collective::kAllToAll;
    all_to_all(t, count);
  }

  // Rank a gives rank b (a + b) % 3 times `count` elements: some get none.
  void all_to_all(Transfer t, int64_t count) {
    const auto gives = [&](int a, int b) { return count * ((a + b) % 3); };
    Bytes in, expected;
    for (int r = 0; r < n_; ++r) {
      in = in + data_of(t.dtype, me_, 100 * r, gives(me_, r));
      expected = expected + data_of(t.dtype, r, 100 * me_, gives(r, me_));
    }
    t.count = 0;
    Item* const item =
        add("all_to_all", t, kBeside, in, Bytes(expected.size()), expected);
    if (item == nullptr) return;
    for (int r = 0; r < n_; ++r) {
      item->in_counts.push_back(gives(me_, r));
      item->out_counts.push_back(gives(r, me_));
    }
    item->t.in_counts = item->in_counts.data();
    item->t.out_counts = item->out_counts.data();
    item->request = c_.begin(item->t);
  }

  // Each rank sends to each, itself too; tags tell them apart.
  void messages(int64_t count) {
    std::vector<Bytes> in, out;
    std::vector<void*> requests;
    std::vector<size_t> expected;
    in.reserve(static_cast<size_t>(n_) * 2);
    out.reserve(static_cast<size_t>(n_) * 2);
    for (const int tag : {0, 30000}) {
      for (int r = 0; r < n_; ++r) {
        Transfer t;
        t.what = Collective::kRecv;
        t.peer = r;
        t.tag = tag;
        t.count = count + more_;
        out.emplace_back(static_cast<size_t>(t.count), 'z');
        t.out = out.back().data();
        requests.push_back(c_.begin(t));
      }
    }
    for (const int tag : {30000, 0}) {
      for (int r = 0; r < n_; ++r) {
        Transfer t;
        t.what = Collective::kSend;
        t.peer = r;
        t.tag = tag;
        t.count = count;
        in.push_back(data_of(kByte, me_ + tag, 10 * r, count));
        t.in = in.back().data();
        requests.push_back(c_.begin(t));
      }
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      const size_t got = finish(c_, requests[i]);
      if (i >= out.size()) continue;
      const int from = static_cast<int>(i) % n_;
      Bytes expect = data_of(kByte, from + (i < out.size() / 2 ? 0 : 30000),
                             10 * me_, count) +
                     Bytes(more_, 'z');
      Transfer t;
      t.count = count;
      if (got != static_cast<size_t>(count)) {
        wrong("recv", t,
              "expected other number of bytes than " + std::to_string(got));
      }
      if (out[i] != expect) wrong("recv", t, "wrong elements");
    }
  }

  void order_of_messages() {
    const int next = (me_ + 1) % n_, last = (me_ + n_ - 1) % n_;
    std::vector<int32_t> in(20), out(20, -1);
    std::iota(in.begin(), in.end(), 100 * me_);
    std::vector<void*> requests;
    for (int i = 0; i < 20; ++i) {
      Transfer t;
      t.what = Collective::kSend;
      t.dtype = kInt;
      t.count = 1;
      t.peer = next;
      t.in = &in[static_cast<size_t>(i)];
      requests.push_back(c_.begin(t));
      t.what = Collective::kRecv;
      t.peer = last;
      t.in = nullptr;
      t.out = &out[static_cast<size_t>(i)];
      requests.push_back(c_.begin(t));
    }
    for (void* r : requests) finish(c_, r);
    for (int i = 0; i < 20; ++i) {
      if (out[static_cast<size_t>(i)] == 100 * last + i) continue;
      failures.push_back("messages came in another order");
      break;
    }
  }

  void barriers() {
    Transfer t;
    if (!c_.supports(t.what, t.dtype, t.op)) return;
    for (int i = 0; i < 3; ++i) finish(c_, t);
  }

  std::deque<Item> items_;
  Communicator& c_;
  const int more_;  // bytes that a receiver expects, and that do not come
  const int me_, n_;
};

}  // namespace

size_t finish(Communicator& c, void* request) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  size_t received = 0;
  int tests = 0;
  while (request != nullptr && !c.test(request, &received)) {
    SY_CHECK(std::chrono::steady_clock::now() < until, Error,
             "[engine] a transfer is not done after 20 s");
    if (++tests % 16 == 0) std::this_thread::sleep_for(kNap);
  }
  return received;
}

size_t finish(Communicator& c, const Transfer& t) {
  return finish(c, c.begin(t));
}

std::vector<std::string> check_engine(Communicator& world, bool exact) {
  Checks checks(world, exact);
  checks.run();
  std::vector<std::string> failures = std::move(checks.failures);
  // The odd and the even ranks, the latter the other way round; then all.
  for (int round = 0; round < 2; ++round) {
    std::vector<int> some;
    for (int r = 0; r < world.size(); ++r) {
      if (r % 2 == world.rank() % 2) some.push_back(r);
    }
    if (world.rank() % 2 == 0) std::reverse(some.begin(), some.end());
    const std::unique_ptr<Communicator> half(
        world.split(some.data(), static_cast<int>(some.size()), 5));
    if (some[static_cast<size_t>(half->rank())] != world.rank() ||
        half->size() != static_cast<int>(some.size())) {
      failures.push_back("split: wrong rank or size");
    }
    Checks again(*half, exact);
    again.run();
    failures.insert(failures.end(), again.failures.begin(),
                    again.failures.end());
  }
  return failures;
}

std::vector<std::string> check_large(Communicator& world, int64_t bytes) {
  std::vector<int32_t> data(static_cast<size_t>(bytes / 4), world.rank() + 1);
  Transfer t;
  t.what = Collective::kAllReduce;
  t.dtype = kInt;
  t.in = t.out = data.data();
  t.count = bytes / 4;
  if (!world.supports(t.what, t.dtype, t.op)) return {};
  finish(world, t);
  const int sum = world.size() * (world.size() + 1) / 2;
  for (const int32_t v : data) {
    if (v != sum) return {"all_reduce of many bytes: wrong elements"};
  }
  return {};
}

}  // namespace sy::distributed
