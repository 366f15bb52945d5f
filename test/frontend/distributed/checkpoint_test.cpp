#include "frontend/distributed/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "frontend/distributed/training/sampler.h"
#include "frontend/nn/modules/dropout.h"
#include "frontend/nn/modules/linear.h"
#include "frontend/optim/adam.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/ranks.h"

namespace sy::distributed {
namespace {

namespace fs = std::filesystem;

// An empty folder for a test, removed with it.
class Scratch {
 public:
  Scratch()
      : path(testing::TempDir() + "checkpoints_" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             "_" + std::to_string(::getpid())) {
    fs::remove_all(path);
  }
  ~Scratch() { fs::remove_all(path); }
  const std::string path;
};

TEST(Checkpoint, AWorldOfOneGetsBackWhatItSaved) {
  const Scratch folder;
  CheckpointState state;
  state.add("model", {{"fc.weight", arange(6.0).reshape({2, 3})},
                      {"empty", empty({0, 3}, kHalf)}});
  state.add("more", {{"flags", full({2}, true, kBool)}});
  state.add_shard("table", arange(8.0).reshape({4, 2}), 0);
  state.add_own("generator", {{"seed", full({}, 17, kLong)}});
  state.set("step", 41);
  state.set("step", 42);
  state.set("best", 1.0 / 3);
  state.set("least", -std::numeric_limits<double>::infinity());
  state.set("note", "first \"try\"\n");
  const std::string path = save_checkpoint(folder.path + "/deep/run", state);
  EXPECT_EQ(path, folder.path + "/deep/run/checkpoint-00000001");

  for (const std::string& from : {folder.path + "/deep/run", path}) {
    const CheckpointState got = load_checkpoint(from);
    EXPECT_EQ(got.get("model").keys(), state.get("model").keys());
    EXPECT_TRUE(
        equal(got.get("model")["fc.weight"], state.get("model")["fc.weight"]));
    EXPECT_EQ(got.get("model")["empty"].sizes(), IntArrayRef({0, 3}));
    EXPECT_EQ(got.get("model")["empty"].scalar_type(), kHalf);
    EXPECT_TRUE(got.get("more")["flags"].all().item<bool>());
    EXPECT_TRUE(equal(got.shard("table").rows, state.shard("table").rows));
    EXPECT_EQ(got.shard("table").total, 4);
    EXPECT_EQ(got.own("generator")["seed"].item<int64_t>(), 17);
    EXPECT_EQ(got.integer("step"), 42);
    EXPECT_EQ(got.number("step"), 42);
    EXPECT_EQ(got.number("best"), 1.0 / 3);
    EXPECT_EQ(got.number("least"), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(got.text("note"), "first \"try\"\n");
  }
  // The replicated tensors are those of a sharded model, for any reader.
  const NamedTensors all =
      load_safetensors(path + "/checkpoint.safetensors.index.json");
  EXPECT_EQ(all.keys(), (std::vector<std::string>{
                            "model/fc.weight", "model/empty", "more/flags"}));
  // Nothing at all is a checkpoint, too.
  save_checkpoint(folder.path + "/nothing", {});
  EXPECT_TRUE(load_checkpoint(folder.path + "/nothing").tensors().empty());
}

TEST(Checkpoint, NamesWhatIsWrong) {
  CheckpointState state;
  state.add("model", {{"w", zeros({2})}});
  state.set("step", 3);
  state.set("note", "x");
  SY_EXPECT_ERROR(state.add("model", {{"v", zeros({2})}}), ValueError,
                  "[CheckpointState] part: expected a new name, got 'model'");
  SY_EXPECT_ERROR(state.add("a/b", {}), ValueError,
                  "expected a name without '/', got 'a/b'");
  SY_EXPECT_ERROR(state.set("", 1), ValueError, "expected a name without '/'");
  SY_EXPECT_ERROR(state.get("mod"), ValueError,
                  "[CheckpointState] part: expected one of 'model', got 'mod'");
  SY_EXPECT_ERROR(state.own("x"), ValueError, "expected one of none, got 'x'");
  SY_EXPECT_ERROR(state.integer("steps"), ValueError,
                  "value: expected one of 'step', 'note', got 'steps'");
  SY_EXPECT_ERROR(state.integer("note"), ValueError,
                  "[CheckpointState] note: expected an integer, got 'x'");
  SY_EXPECT_ERROR(state.number("note"), ValueError, "expected a number");
  SY_EXPECT_ERROR(state.shard("x"), ValueError, "shard: expected one of none");
  SY_EXPECT_ERROR(state.add_shard("s", zeros({}), 0), ValueError,
                  "[CheckpointState] shard 's': expected a tensor of at least");
  SY_EXPECT_ERROR(state.add_shard("s", zeros({1}), -1), ValueError,
                  "expected an offset of at least 0, got -1");
  SY_EXPECT_ERROR(save_checkpoint("", state), ValueError, "folder: expected");
  const Scratch folder;
  SY_EXPECT_ERROR(save_checkpoint(folder.path, state, {.keep_last = -1}),
                  ValueError, "keep_last: expected at least 0, got -1");
  state.add("bad", {{"t", Tensor()}});
  SY_EXPECT_ERROR(save_checkpoint(folder.path, state), ValueError, "bad/t");
  EXPECT_TRUE(checkpoints(folder.path).empty());
  SY_EXPECT_ERROR(set_generator_state({}), ValueError,
                  "[set_generator_state] state: expected seed in it");
}

// Rows [begin, end) of a tensor of `total` rows that is known by heart.
Tensor rows_of(int64_t begin, int64_t end) {
  return arange(static_cast<double>(2 * begin), static_cast<double>(2 * end))
      .reshape({end - begin, 2});
}

TEST(Checkpoint, ShardsAreCutAnewForAnyNumberOfRanks) {
  constexpr int64_t kTotal = 11;
  for (const int before : {1, 2, 4}) {
    const Scratch folder;
    Ranks(before).run([&](int rank) {
      CheckpointState state;
      state.add("model", {{"w", full({3}, rank, kFloat)}});
      // Uneven, and the last rank's come first.
      const int64_t at = (before - 1 - rank) * 3;
      const int64_t end = rank == 0 ? kTotal : at + 3;
      state.add_shard("table", rows_of(at, end), at);
      // Few rows: some ranks have none.
      state.add_shard("few", ones({rank == 0 ? 1 : 0, 5}), rank == 0 ? 0 : 1);
      state.add_own("generator", {{"seed", full({}, rank, kLong)}});
      state.set("step", 7);
      save_checkpoint(folder.path, state);
    });
    for (const int after : {1, 2, 3, 4, 5}) {
      std::vector<int64_t> ends(static_cast<size_t>(after) + 1);
      Ranks(after).run([&](int rank) {
        const CheckpointState state = load_checkpoint(folder.path);
        EXPECT_EQ(state.integer("step"), 7);
        // The model is rank 0's.
        EXPECT_EQ(state.get("model")["w"].sum().item<double>(), 0);
        const CheckpointShard& s = state.shard("table");
        const int64_t end = s.offset + s.rows.size(0);
        EXPECT_EQ(s.total, kTotal);
        EXPECT_EQ(s.offset, kTotal * rank / after);
        EXPECT_EQ(end, kTotal * (rank + 1) / after);
        EXPECT_TRUE(equal(s.rows, rows_of(s.offset, end)));
        EXPECT_EQ(state.shard("few").rows.size(0), rank == after - 1);
        EXPECT_EQ(state.shard("few").rows.size(1), 5);
        EXPECT_EQ(state.has_own("generator"), before == after);
        if (before == after) {
          EXPECT_EQ(state.own("generator")["seed"].item<int64_t>(), rank);
        }
        // Rows of one's own choice.
        const CheckpointState some =
            load_checkpoint(folder.path, nullptr, {{"table", rank, 10}});
        EXPECT_TRUE(equal(some.shard("table").rows, rows_of(rank, 10)));
        EXPECT_EQ(some.shard("table").offset, rank);
      });
    }
  }
}

TEST(Checkpoint, ASubgroupSaves) {
  const Scratch folder;
  Ranks(3).run([&](int rank) {
    const auto group = new_group({0, 2}, "pair");
    if (group == nullptr) return;
    CheckpointState state;
    state.add_shard("r", full({1}, rank, kFloat), group->rank());
    save_checkpoint(folder.path, state, {.group = group});
    const CheckpointState got = load_checkpoint(folder.path, group);
    EXPECT_EQ(got.shard("r").rows.item<float>(), static_cast<float>(rank));
  });
}

TEST(Checkpoint, ShardsThatDoNotFitAreNamedOnAllRanks) {
  const Scratch folder;
  const auto expect = [&](const char* text,
                          const std::function<CheckpointState(int)>& state) {
    Ranks(2).run([&](int rank) {
      const std::string e =
          error_of([&] { save_checkpoint(folder.path, state(rank)); });
      EXPECT_NE(e.find(text), std::string::npos) << e;
    });
    EXPECT_TRUE(checkpoints(folder.path).empty());
    EXPECT_TRUE(fs::is_empty(folder.path));
  };
  const auto shard = [](const Tensor& t, int64_t offset) {
    CheckpointState state;
    state.add_shard("t", t, offset);
    return state;
  };
  expect("shard 't': expected rows from 2 on, once, got 3 to 5 of rank 1",
         [&](int r) { return shard(zeros({2}), 3 * r); });
  expect("shard 't': expected rows from 2 on, once, got 1 to 3 of rank 1",
         [&](int r) { return shard(zeros({2}), r); });
  expect(
      "shard 't': expected rows from 0 on, once, got 2 to 4 of rank 1",
      [&](int r) { return r == 0 ? CheckpointState() : shard(zeros({2}), 2); });
  expect("expected rows of F32[3] as rank 0 has, got F32[4] of rank 1",
         [&](int r) {
           return shard(zeros({2, 3 + r}), 2 * r);
         });
  expect("expected rows of F32[] as rank 0 has, got F64[] of rank 1",
         [&](int r) {
           return shard(zeros({2}, r == 0 ? kFloat : kDouble), 2 * r);
         });
  // Rows that do not exist.
  Ranks(2).run([&](int rank) {
    save_checkpoint(folder.path, shard(zeros({2}), 2 * rank));
    const auto load = [&](const char* name, int64_t begin, int64_t end) {
      return error_of([&] {
        load_checkpoint(folder.path, nullptr, {{name, begin, end}});
      });
    };
    EXPECT_NE(load("t", 0, 5).find(
                  "rows of 't': expected a part of [0, 4), got [0, 5)"),
              std::string::npos);
    EXPECT_NE(load("t", 3, 2).find("got [3, 2)"), std::string::npos);
    EXPECT_NE(load("u", 0, 1).find("expected one of 1 shards, got 'u'"),
              std::string::npos);
  });
}

// Else each rank of a program would save alone.
TEST(Checkpoint, JoinsTheWorldAndDoesNotOutliveIt) {
  const Scratch folder;
  CheckpointState state;
  state.set("step", 1);
  save_checkpoint(folder.path, state);
  EXPECT_TRUE(is_initialized());
  destroy_process_group();
  save_checkpoint(folder.path, state);
  Ranks(2).run([&](int) {
    destroy_process_group();
    EXPECT_NE(error_of([&] {
                save_checkpoint(folder.path, state);
              }).find("destroy_process_group() was called"),
              std::string::npos);
  });
  EXPECT_EQ(checkpoints(folder.path).size(), 2u);
}

TEST(Checkpoint, KeepsTheLast) {
  const Scratch folder;
  const auto save = [&](int step, int64_t keep) {
    CheckpointState state;
    state.set("step", step);
    return save_checkpoint(folder.path, state, {.keep_last = keep});
  };
  for (int step = 1; step <= 4; ++step) save(step, 0);
  EXPECT_EQ(checkpoints(folder.path).size(), 4u);
  const std::string last = save(5, 2);
  EXPECT_EQ(checkpoints(folder.path),
            (std::vector<std::string>{folder.path + "/checkpoint-00000004",
                                      folder.path + "/checkpoint-00000005"}));
  EXPECT_EQ(last, checkpoints(folder.path)[1]);
  // Folders that are no checkpoints stay.
  fs::create_directory(folder.path + "/checkpoint-00000009");
  fs::create_directory(folder.path + "/checkpoint-7");
  EXPECT_EQ(checkpoints(folder.path).size(), 2u);
  save(6, 1);
  EXPECT_EQ(checkpoints(folder.path),
            std::vector<std::string>{folder.path + "/checkpoint-00000006"});
  EXPECT_TRUE(fs::exists(folder.path + "/checkpoint-00000009"));
  EXPECT_EQ(load_checkpoint(folder.path).integer("step"), 6);
}

// A model with dropout, Adam, a shuffled sampler and the generator.
struct Training {
  struct Net : nn::Module {
    Net() {
      hidden = register_module("hidden", nn::Linear(4, 16));
      drop = register_module("drop", nn::Dropout(0.3));
      out = register_module("out", nn::Linear(16, 1));
    }
    Tensor forward(const Tensor& x) { return out(drop(hidden(x).relu())); }
    nn::Linear hidden{nullptr}, out{nullptr};
    nn::Dropout drop{nullptr};
  };

  explicit Training(uint64_t seed) {
    manual_seed(1);
    x = randn({24, 4});
    y = x.sum(1, true).square();
    manual_seed(seed);
    net = std::make_shared<Net>();
    adam = std::make_unique<optim::Adam>(net->named_parameters(),
                                         optim::AdamOptions(0.01));
  }

  float step() {
    auto batch = sampler.next(5);
    if (!batch) {
      sampler.set_epoch(sampler.epoch() + 1);
      batch = sampler.next(5);
    }
    const std::vector<int64_t> indices(batch->begin(), batch->end());
    const Tensor i = tensor(indices);
    adam->zero_grad();
    const Tensor loss =
        mse_loss(net->forward(x.index_select(0, i)), y.index_select(0, i));
    loss.backward();
    adam->step();
    return loss.item<float>();
  }

  CheckpointState state() const {
    CheckpointState s;
    s.add("model", net->state_dict());
    s.add("adam", adam->state_dict());
    s.add("sampler", sampler.state());
    s.add("generator", generator_state());
    return s;
  }
  void set_state(const CheckpointState& s) {
    net->load_state_dict(s.get("model"));
    adam->load_state_dict(s.get("adam"));
    sampler.set_state(s.get("sampler"));
    set_generator_state(s.get("generator"));
  }

  Tensor x, y;
  std::shared_ptr<Net> net;
  std::unique_ptr<optim::Adam> adam;
  DistributedSampler sampler{24, {.num_replicas = 1, .rank = 0, .seed = 9}};
};

TEST(Checkpoint, ATrainingGoesOnAsIfItHadNotStopped) {
  const Scratch folder;
  std::vector<float> whole, parts;
  {
    Training t(5);
    for (int i = 0; i < 14; ++i) whole.push_back(t.step());
  }
  {
    Training t(5);
    for (int i = 0; i < 7; ++i) parts.push_back(t.step());
    save_checkpoint(folder.path, t.state());
    // Steps after the checkpoint are lost.
    t.step();
  }
  Training t(77);
  t.set_state(load_checkpoint(folder.path));
  for (int i = 0; i < 7; ++i) parts.push_back(t.step());
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace sy::distributed
