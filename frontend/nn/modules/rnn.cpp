#include "frontend/nn/modules/rnn.h"

#include <cmath>
#include <utility>

#include "aten/ops/factory.h"
#include "aten/ops/recurrent.h"
#include "frontend/nn/functional/if_defined.h"
#include "frontend/nn/init.h"
#include "frontend/nn/modules/weight_and_bias.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::if_defined;
using detail::RNNCellOptionsBase;
using detail::RNNOptionsBase;
using utils::rnn::PackedSequence;

namespace {

const char* module_name(const RNNOptionsBase& o) {
  if (o.mode() == kLSTM) return "LSTM";
  return o.mode() == kGRU ? "GRU" : "RNN";
}

int64_t gates(const RNNOptionsBase& o) {
  if (o.mode() == kLSTM) return 4;
  return o.mode() == kGRU ? 3 : 1;
}

int64_t directions(const RNNOptionsBase& o) {
  return o.bidirectional() ? 2 : 1;
}

int64_t state_size(const RNNOptionsBase& o) {
  return o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
}

void check(const RNNOptionsBase& o) {
  const char* const name = module_name(o);
  detail::check_at_least(1, name, "input_size", o.input_size());
  detail::check_at_least(1, name, "hidden_size", o.hidden_size());
  detail::check_at_least(1, name, "num_layers", o.num_layers());
  SY_CHECK(o.dropout() >= 0 && o.dropout() <= 1, Value,
           "[{}] dropout: expected a probability, got {}", name, o.dropout());
  SY_CHECK(o.proj_size() >= 0 && o.proj_size() < o.hidden_size(), Value,
           "[{}] proj_size: expected 0 or a size below hidden_size, {}, got {}",
           name, o.hidden_size(), o.proj_size());
}

// All that the options of the modules have in common.
template <class Options>
RNNOptionsBase base_of(RNNOptionsBase::rnn_options_base_mode_t mode,
                       const Options& o) {
  return RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

const char* cell_name(const RNNCellOptionsBase& o) {
  if (o.num_chunks() == 4) return "LSTMCell";
  return o.num_chunks() == 3 ? "GRUCell" : "RNNCell";
}

// The operators of networks whose state is one tensor.
using PaddedOp = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&,
                                            TensorList, bool, int64_t, double,
                                            bool, bool, bool);
using PackedOp = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&,
                                            const Tensor&, TensorList, bool,
                                            int64_t, double, bool, bool);
template <class Op>
Op* op_of(const RNNOptionsBase& o) {
  if (o.mode() == kGRU) return sy::gru;
  if (o.mode() == kRNN_TANH) return sy::rnn_tanh;
  return sy::rnn_relu;
}

void init_within(const Module& m, int64_t hidden_size) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  for (const Tensor& t : m.parameters(/*recurse=*/false)) {
    init::uniform_(t, -bound, bound);
  }
}

Tensor reordered(const Tensor& state, const Tensor& order) {
  return state.defined() && order.defined() ? state.index_select(1, order)
                                            : state;
}

PackedSequence packed_like(const PackedSequence& like, Tensor data) {
  return PackedSequence(std::move(data), like.batch_sizes(),
                        like.sorted_indices(), like.unsorted_indices());
}

std::tuple<Tensor, Tensor> pair_or_none(
    const std::optional<std::tuple<Tensor, Tensor>>& states) {
  return states.has_value() ? *states : std::tuple<Tensor, Tensor>();
}

}  // namespace

namespace detail {

// Each element is what it became in the clone.
// NOLINTNEXTLINE(bugprone-copy-constructor-init)
ParameterRefs::ParameterRefs(const ParameterRefs& other)
    : std::vector<Tensor>() {
  reserve(other.size());
  for (const Tensor& t : other) push_back(cloned(t));
}

RNNImplBase::RNNImplBase(const RNNOptionsBase& options_base)
    : options_base(options_base) {
  reset();
}

void RNNImplBase::reset() {
  const RNNOptionsBase& o = options_base;
  check(o);
  for (const std::string& name : names_) unregister_parameter(name);
  names_.clear();
  const auto add = [&](const char* kind, int64_t layer, int64_t direction,
                       IntArrayRef sizes) {
    names_.push_back(
        str("{}_l{}{}", kind, layer, direction == 1 ? "_reverse" : ""));
    register_parameter(names_.back(), sy::empty(sizes));
  };
  const int64_t rows = gates(o) * o.hidden_size(), state = state_size(o);
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    const int64_t width = layer == 0 ? o.input_size() : state * directions(o);
    for (int64_t d = 0; d < directions(o); ++d) {
      add("weight_ih", layer, d, {rows, width});
      add("weight_hh", layer, d, {rows, state});
      if (o.bias()) {
        add("bias_ih", layer, d, {rows});
        add("bias_hh", layer, d, {rows});
      }
      if (o.proj_size() > 0) {
        add("weight_hr", layer, d, {o.proj_size(), o.hidden_size()});
      }
    }
  }
  flatten_parameters();
  reset_parameters();
}

void RNNImplBase::reset_parameters() {
  init_within(*this, options_base.hidden_size());
}

void RNNImplBase::flatten_parameters() {
  weights_.clear();
  for (const std::string& name : names_) {
    weights_.push_back(get_parameter(name));
  }
}

std::string RNNImplBase::extra_repr() const {
  const RNNOptionsBase& o = options_base;
  std::string text = str("{}, {}", o.input_size(), o.hidden_size());
  if (o.proj_size() != 0) text += str(", proj_size={}", o.proj_size());
  if (o.num_layers() != 1) text += str(", num_layers={}", o.num_layers());
  if (!o.bias()) text += ", bias=False";
  if (o.batch_first()) text += ", batch_first=True";
  if (o.dropout() != 0) text += ", dropout=" + python_float(o.dropout());
  if (o.bidirectional()) text += ", bidirectional=True";
  return text;
}

void RNNImplBase::prepare_state(const char* argument, Tensor& state,
                                std::optional<int64_t> batch, int64_t size,
                                const Tensor& input) const {
  const RNNOptionsBase& o = options_base;
  std::vector<int64_t> sizes{o.num_layers() * directions(o), size};
  if (batch.has_value()) sizes.insert(sizes.begin() + 1, *batch);
  if (!state.defined()) {
    state = sy::zeros(sizes, input.options());
  } else {
    SY_CHECK(state.sizes() == IntArrayRef(sizes), Value,
             "[{}] {}: expected sizes {} for an input of {}, got {}",
             module_name(o), argument, IntArrayRef(sizes), input.sizes(),
             describe(state));
  }
  if (!batch.has_value()) state = state.unsqueeze(1);
}

void RNNImplBase::prepare(const Tensor& input, std::optional<int64_t> batch,
                          Tensor& h, Tensor& c) const {
  const RNNOptionsBase& o = options_base;
  SY_CHECK(input.size(-1) == o.input_size(), Value,
           "[{}] input: expected a last size of {} (input_size), got {}",
           module_name(o), o.input_size(), describe(input));
  const bool pair = o.mode() == kLSTM;
  prepare_state(pair ? "hx[0]" : "hx", h, batch, state_size(o), input);
  if (pair) prepare_state("hx[1]", c, batch, o.hidden_size(), input);
}

RNNImplBase::Result RNNImplBase::run(const Tensor& input, Tensor h,
                                     Tensor c) const {
  const RNNOptionsBase& o = options_base;
  const bool batched = input.dim() == 3;
  SY_CHECK(batched || input.dim() == 2, Value,
           "[{}] input: expected 3 dims, or 2 without a batch, got {}",
           module_name(o), describe(input));
  const int64_t batch_dim = o.batch_first() ? 0 : 1;
  prepare(input, batched ? std::optional(input.size(batch_dim)) : std::nullopt,
          h, c);
  const Tensor x = batched ? input : input.unsqueeze(batch_dim);
  Result r;
  if (o.mode() == kLSTM) {
    const Tensor states[] = {h, c};
    std::tie(r.output, r.h, r.c) =
        sy::lstm(x, states, weights_, o.bias(), o.num_layers(), o.dropout(),
                 is_training(), o.bidirectional(), o.batch_first());
  } else {
    std::tie(r.output, r.h) = op_of<PaddedOp>(o)(
        x, h, weights_, o.bias(), o.num_layers(), o.dropout(), is_training(),
        o.bidirectional(), o.batch_first());
  }
  if (!batched) {
    r.output = r.output.squeeze(batch_dim);
    r.h = r.h.squeeze(1);
    if (r.c.defined()) r.c = r.c.squeeze(1);
  }
  return r;
}

RNNImplBase::Result RNNImplBase::run_packed(const PackedSequence& input,
                                            Tensor h, Tensor c) const {
  const RNNOptionsBase& o = options_base;
  h = reordered(h, input.sorted_indices());
  c = reordered(c, input.sorted_indices());
  const Tensor& x = input.data();
  SY_CHECK(x.dim() == 2, Value,
           "[{}] packed_input: expected sequences of vectors, got data of {}",
           module_name(o), describe(x));
  prepare(x, input.batch_sizes().const_data_ptr<int64_t>()[0], h, c);
  Result r;
  if (o.mode() == kLSTM) {
    const Tensor states[] = {h, c};
    std::tie(r.output, r.h, r.c) =
        sy::lstm(x, input.batch_sizes(), states, weights_, o.bias(),
                 o.num_layers(), o.dropout(), is_training(), o.bidirectional());
  } else {
    std::tie(r.output, r.h) = op_of<PackedOp>(o)(
        x, input.batch_sizes(), h, weights_, o.bias(), o.num_layers(),
        o.dropout(), is_training(), o.bidirectional());
  }
  r.h = reordered(r.h, input.unsorted_indices());
  r.c = reordered(r.c, input.unsorted_indices());
  return r;
}

RNNCellImplBase::RNNCellImplBase(const RNNCellOptionsBase& options_base)
    : options_base(options_base) {
  reset();
}

void RNNCellImplBase::reset() {
  const RNNCellOptionsBase& o = options_base;
  const char* const name = cell_name(o);
  check_at_least(1, name, "input_size", o.input_size());
  check_at_least(1, name, "hidden_size", o.hidden_size());
  const int64_t rows = o.num_chunks() * o.hidden_size();
  const auto put = [&](Parameter& member, const char* parameter, Tensor t) {
    member = set_parameter(parameter, std::move(t));
  };
  put(weight_ih, "weight_ih", sy::empty({rows, o.input_size()}));
  put(weight_hh, "weight_hh", sy::empty({rows, o.hidden_size()}));
  put(bias_ih, "bias_ih", o.bias() ? sy::empty({rows}) : Tensor());
  put(bias_hh, "bias_hh", o.bias() ? sy::empty({rows}) : Tensor());
  reset_parameters();
}

void RNNCellImplBase::reset_parameters() {
  init_within(*this, options_base.hidden_size());
}

std::string RNNCellImplBase::extra_repr() const {
  const RNNCellOptionsBase& o = options_base;
  return str("{}, {}{}", o.input_size(), o.hidden_size(),
             o.bias() ? "" : ", bias=False");
}

Tensor RNNCellImplBase::batched_input(const Tensor& input) const {
  const RNNCellOptionsBase& o = options_base;
  SY_CHECK((input.dim() == 1 || input.dim() == 2) &&
               input.size(-1) == o.input_size(),
           Value,
           "[{}] input: expected a vector of {} (input_size), or a batch of "
           "these, got {}",
           cell_name(o), o.input_size(), describe(input));
  return input.dim() == 1 ? input.unsqueeze(0) : input;
}

Tensor RNNCellImplBase::batched_state(const char* argument, const Tensor& state,
                                      const Tensor& input) const {
  const RNNCellOptionsBase& o = options_base;
  std::vector<int64_t> sizes(input.sizes().begin(), input.sizes().end());
  sizes.back() = o.hidden_size();
  if (!state.defined()) {
    if (sizes.size() == 1) sizes.insert(sizes.begin(), 1);
    return sy::zeros(sizes, input.options());
  }
  SY_CHECK(state.sizes() == IntArrayRef(sizes), Value,
           "[{}] {}: expected sizes {} for an input of {}, got {}",
           cell_name(o), argument, IntArrayRef(sizes), input.sizes(),
           describe(state));
  return input.dim() == 1 ? state.unsqueeze(0) : state;
}

}  // namespace detail

RNNImpl::RNNImpl(const RNNOptions& options)
    : RNNImplBase(
          base_of(options.nonlinearity() == kTanh
                      ? RNNOptionsBase::rnn_options_base_mode_t(kRNN_TANH)
                      : kRNN_RELU,
                  options)),
      options(options) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  Result r = run(input, std::move(hx));
  return {std::move(r.output), std::move(r.h)};
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  Result r = run_packed(packed_input, std::move(hx));
  return {packed_like(packed_input, std::move(r.output)), std::move(r.h)};
}

LSTMImpl::LSTMImpl(const LSTMOptions& options)
    : RNNImplBase(base_of(kLSTM, options).proj_size(options.proj_size())),
      options(options) {}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  const auto [h, c] = pair_or_none(hx_opt);
  Result r = run(input, h, c);
  return {std::move(r.output), std::tuple(std::move(r.h), std::move(r.c))};
}

std::tuple<PackedSequence, std::tuple<Tensor, Tensor>>
LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input,
    std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  auto [h, c] = pair_or_none(hx_opt);
  Result r = run_packed(packed_input, std::move(h), std::move(c));
  return {packed_like(packed_input, std::move(r.output)),
          {std::move(r.h), std::move(r.c)}};
}

GRUImpl::GRUImpl(const GRUOptions& options)
    : RNNImplBase(base_of(kGRU, options)), options(options) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  Result r = run(input, std::move(hx));
  return {std::move(r.output), std::move(r.h)};
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  Result r = run_packed(packed_input, std::move(hx));
  return {packed_like(packed_input, std::move(r.output)), std::move(r.h)};
}

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options)
    : RNNCellImplBase(RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), 1)),
      options(options) {}

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  const Tensor x = batched_input(input), h = batched_state("hx", hx, input);
  const auto op =
      options.nonlinearity() == kTanh ? sy::rnn_tanh_cell : sy::rnn_relu_cell;
  const Tensor next =
      op(x, h, weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
  return input.dim() == 1 ? next.squeeze(0) : next;
}

std::string RNNCellImpl::extra_repr() const {
  return RNNCellImplBase::extra_repr() +
         (options.nonlinearity() == kTanh ? "" : ", nonlinearity=relu");
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options)
    : RNNCellImplBase(RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), 4)),
      options(options) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(
    const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  const auto [hx, cx] = pair_or_none(hx_opt);
  const Tensor x = batched_input(input);
  const Tensor states[] = {batched_state("hx[0]", hx, input),
                           batched_state("hx[1]", cx, input)};
  auto [h, c] = sy::lstm_cell(x, states, weight_ih, weight_hh,
                              if_defined(bias_ih), if_defined(bias_hh));
  if (input.dim() == 1) return {h.squeeze(0), c.squeeze(0)};
  return {std::move(h), std::move(c)};
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options)
    : RNNCellImplBase(RNNCellOptionsBase(
          options.input_size(), options.hidden_size(), options.bias(), 3)),
      options(options) {}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  const Tensor x = batched_input(input), h = batched_state("hx", hx, input);
  const Tensor next = sy::gru_cell(x, h, weight_ih, weight_hh,
                                   if_defined(bias_ih), if_defined(bias_hh));
  return input.dim() == 1 ? next.squeeze(0) : next;
}

}  // namespace sy::nn
