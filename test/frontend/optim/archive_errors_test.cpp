#include "test/c10/expect_error.h"
#include "test/frontend/optim/archive_runs.h"

// Archives that do not fit an optimizer.

namespace sy::test {

using namespace optim;

namespace {

// load() throws, and changes nothing.
template <class Load>
void expect_refused(Optimizer& optimizer, const Load& load_it,
                    const std::string& message) {
  NamedTensors before;
  for (const auto& [name, t] : optimizer.state_dict()) {
    before.insert(name, t.clone());
  }
  SY_EXPECT_ERROR(load_it(), ValueError, message);
  expect_same(optimizer.state_dict(), before, message);
  // The optimizer keeps nothing of what it found.
  optimizer.load_state_dict(before);
}

}  // namespace

TEST(OptimizerArchive, RefusesOthers) {
  const std::vector<Tensor> p = archive_parameters();
  const auto all = archive_makers();
  const auto sgd = all[0].second(p, true);
  archive_steps(*sgd, p, 0);
  // The archive of Adam.
  expect_refused(
      *sgd, [&] { load(*sgd, archive_path("Adam")); },
      "[SGD] load_state_dict: missing param_groups.0.momentum, "
      "param_groups.0.dampening, param_groups.0.nesterov, "
      "param_groups.1.momentum, param_groups.1.dampening, "
      "param_groups.1.nesterov; unexpected param_groups.0.amsgrad, "
      "param_groups.0.betas, param_groups.0.eps, param_groups.1.amsgrad, "
      "param_groups.1.betas, param_groups.1.eps, state.w.step, "
      "state.w.exp_avg, state.w.exp_avg_sq, state.w.max_exp_avg_sq, "
      "state.b.step");
  const auto adam = all[1].second(p, false);
  expect_refused(
      *adam, [&] { load(*adam, archive_path("SGD")); },
      "[Adam] load_state_dict: missing param_groups.0.betas, "
      "param_groups.0.eps, param_groups.0.amsgrad, param_groups.1.betas");

  SGD one(p, 0.1);
  expect_refused(
      one, [&] { load(one, archive_path("SGD")); },
      "[SGD] load_state_dict: misshapen param_groups (expected 1, got 2), "
      "param_groups.0.params (expected 3, got 2)");
  one.add_param_group(
      std::vector<Tensor>{zeros({2}, kDouble).requires_grad_()});
  one.add_param_group(
      std::vector<Tensor>{zeros({2}, kDouble).requires_grad_()});
  expect_refused(
      one, [&] { load(one, archive_path("SGD")); },
      "[SGD] load_state_dict: misshapen param_groups (expected 3, got 2), "
      "param_groups.0.params (expected 3, got 2)");

  // Parameters of other sizes.
  std::vector<Tensor> q = archive_parameters();
  q[1] = zeros({4}, kDouble).requires_grad_();
  const auto wide = all[0].second(q, false);
  expect_refused(
      *wide, [&] { load(*wide, archive_path("SGD")); },
      "[SGD] load_state_dict: misshapen state.b.momentum_buffer (expected "
      "[4], got [3])");
}

TEST(OptimizerArchive, RefusesWhatIsNoOptimizers) {
  const Tensor w = zeros({2}, kDouble).requires_grad_();
  Adam adam({w});
  const auto refused = [&](const serialize::OutputArchive& archive,
                           const std::string& message) {
    const std::string bytes = saved(archive);
    expect_refused(
        adam, [&] { load_bytes(adam, bytes); }, message);
  };
  {
    serialize::OutputArchive module;
    module.write("weight", w);
    module.write("bias", w);
    refused(module,
            "[Adam] load: expected the archive of an optimizer, with "
            "pytorch_version, state and param_groups, got one with weight, "
            "bias");
  }
  {
    serialize::OutputArchive none;
    refused(none, "got one with nothing");
  }
  {
    // As libtorch 1.4 wrote it; later ones still read it.
    serialize::OutputArchive old;
    for (const std::string key :
         {"step_buffers", "exp_average_buffers", "exp_average_sq_buffers",
          "max_exp_average_sq_buffers"}) {
      old.write(key + "/size", full({}, 1, kLong));
      old.write(key + "/0", zeros({2}), true);
    }
    refused(old,
            "[Adam] load: archives of libtorch before 1.5 have another "
            "layout; load this one with a later libtorch and save it again");
  }
  {
    serialize::OutputArchive next;
    next.write("pytorch_version", "2.0");
    refused(next, "[Adam] load: pytorch_version: expected 1.5.0, got 2.0");
  }
  {
    serialize::OutputArchive empty;
    empty.write("pytorch_version", "1.5.0");
    refused(empty, "[InputArchive] 'state': expected such a key");
  }
}

namespace {

// A file of one group, to be filled.
struct GroupArchive {
  serialize::OutputArchive options, group, state;
  std::string group_key = "param_groups/0";

  std::string bytes() {
    serialize::OutputArchive root, groups;
    group.write("options", options);
    groups.write("param_groups/size", full({}, 1, kLong));
    groups.write(group_key, group);
    root.write("pytorch_version", "1.5.0");
    root.write("state", state);
    root.write("param_groups", groups);
    return saved(root);
  }
};

}  // namespace

TEST(OptimizerArchive, RefusesValuesOfOtherKinds) {
  const Tensor w = zeros({2}, kDouble).requires_grad_(),
               v = zeros({1}, kDouble).requires_grad_();
  Adam adam(NamedTensors{{"w", w}, {"v", v}});
  w.mutable_grad() = ones({2}, kDouble);
  v.mutable_grad() = ones({1}, kDouble);
  adam.step();
  {
    GroupArchive a;
    a.options.write("lr", "much");
    a.options.write_tuple("betas", {0.5});
    a.options.write("eps", 1);
    a.options.write("amsgrad", 1);
    a.options.write("capturable", 0.5);
    a.options.write("colour", 3);
    a.group.write("params/size", full({}, 2, kLong));
    a.group.write("params/0", "17");
    a.group.write("params/1", "18");
    serialize::OutputArchive one;
    one.write("step", "two");
    one.write("exp_avg", zeros({3}), true);
    one.write("mean", zeros({3}), true);
    a.state.write("17", one);
    a.state.write("18", 3);
    a.state.write("19", one);
    expect_refused(
        adam, [&] { load_bytes(adam, a.bytes()); },
        "[Adam] load_state_dict: missing param_groups.0.weight_decay, "
        "state.w.step, state.w.exp_avg_sq; unexpected param_groups.0.colour, "
        "state.19, state.w.mean; misshapen param_groups.0.lr (expected a "
        "float, got another kind of value), param_groups.0.betas (expected a "
        "tuple of 2 floats, got another kind of value), "
        "param_groups.0.amsgrad (expected a bool, got another kind of value), "
        "param_groups.0.capturable (expected a bool, got another kind of "
        "value), state.w.step (expected a tensor or a number, got another "
        "kind of value), state.v (expected an archive, got another kind of "
        "value), state.w.exp_avg (expected [2], got [3])");
  }
  {
    GroupArchive a;
    a.group.write("params/size", full({}, 2, kLong));
    a.group.write("params/0", "17");
    a.group.write("params/1", "17");
    a.group.write("names", "w");
    expect_refused(
        adam, [&] { load_bytes(adam, a.bytes()); },
        "misshapen param_groups.0.params.1 (expected each key once, got 17 "
        "twice), param_groups.0.names (expected 2 strings, got another kind "
        "of value)");
  }
  {
    GroupArchive a;
    a.group.write("params/size", full({}, 2, kLong));
    a.group.write("params/0", 17);
    expect_refused(
        adam, [&] { load_bytes(adam, a.bytes()); },
        "missing param_groups.0.params.0, param_groups.0.params.1");
  }
  {
    GroupArchive a;
    a.group.write("params/size", zeros({2}, kLong));
    expect_refused(
        adam, [&] { load_bytes(adam, a.bytes()); },
        "missing param_groups.0.params.size");
  }
  {
    GroupArchive a;
    a.group_key = "param_groups/7";
    expect_refused(
        adam, [&] { load_bytes(adam, a.bytes()); },
        "[Adam] load_state_dict: missing param_groups.0");
  }
}

TEST(OptimizerArchive, LbfgsRefusesListsThatDoNotFit) {
  const Tensor w = zeros({2}, kDouble).requires_grad_();
  LBFGS lbfgs({w});
  GroupArchive a;
  a.group.write("params/size", full({}, 1, kLong));
  a.group.write("params/0", "0");
  serialize::OutputArchive one;
  one.write("func_evals", 1);
  one.write("n_iter", 1);
  one.write("t", 1.0);
  one.write("prev_loss", 1.0);
  one.write("d", zeros({2}), true);
  one.write("prev_flat_grad", zeros({2}), true);
  const Tensor two = zeros({2}), three = zeros({3});
  one.write("H_diag", ones({}), true);
  one.write("old_dirs", Value::tensor_list({two, three}));
  one.write("old_stps", Value::string_list(nullptr, 0));
  one.write("ro", 3);
  a.state.write("0", one);
  expect_refused(
      lbfgs, [&] { load_bytes(lbfgs, a.bytes()); },
      "state.0.old_dirs, state.0.ro; misshapen state.0.old_dirs (expected "
      "tensors of sizes [2], got float32[3] on cpu), state.0.ro (expected a "
      "list of tensors, got another kind of value)");
}

}  // namespace sy::test
