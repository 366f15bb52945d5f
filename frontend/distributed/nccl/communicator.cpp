#include "frontend/distributed/nccl/communicator.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "c10/process/error.h"
#include "frontend/distributed/nccl/collectives.h"

namespace sy::distributed::nccl {

namespace {

using Request = std::shared_ptr<Operation>;

}  // namespace

NcclCommunicator::NcclCommunicator(Shared& shared, std::string key, int rank,
                                   int size)
    : shared_(shared),
      key_(std::move(key)),
      rank_(rank),
      size_(size),
      collectives_(*shared.api, shared.rendezvous, key_, rank, size) {
  shared_.all.push_back(this);
}

NcclCommunicator::~NcclCommunicator() { std::erase(shared_.all, this); }

bool NcclCommunicator::supports(Collective what, ScalarType dtype,
                                ReduceOp op) const noexcept {
  if (what == Collective::kBarrier) return false;
  return !reduces(what) || reducible(dtype, op);
}

void* NcclCommunicator::begin(const Transfer& t) {
  raise();
  const char* const what = text_of(t.what);
  SY_CHECK(t.what != Collective::kBarrier, NotImplemented,
           "[nccl] barrier: NCCL has none");
  if (moves_nothing(t, size_)) return nullptr;
  shared_.api->check_cuda(shared_.api->set_device(shared_.device), what);
  auto o = std::make_shared<Operation>();
  o->what = what;
  if (t.what == Collective::kSend || t.what == Collective::kRecv) {
    begin_message(t, o);
  } else {
    begin_collective(t, o);
  }
  progress();
  return new Request(std::move(o));
}

void NcclCommunicator::begin_collective(const Transfer& t,
                                        std::shared_ptr<Operation> o) {
  const Api& api = *shared_.api;
  o->launch = launch_of(api, t, rank_, size_);
  // NCCL puts the result of reduce_scatter in place where the part was.
  if (t.what == Collective::kReduceScatter && t.in == t.out && rank_ > 0) {
    const size_t part = bytes_of(t);
    const char* const from =
        static_cast<const char*>(t.in) + part * static_cast<size_t>(rank_);
    o->after = [&api, to = t.out, from, part](Stream stream) {
      return api.copy(to, from, part, kDeviceToDevice, stream);
    };
  }
  collectives_.add(std::move(o));
}

void NcclCommunicator::begin_message(const Transfer& t,
                                     std::shared_ptr<Operation> o) {
  const bool sends = t.what == Collective::kSend;
  if (!sends) o->bytes = bytes_of(t);
  SY_CHECK(t.peer >= 0 && t.peer < size_, Value,
           "[nccl] {}: expected a rank below {}, got {}", o->what, size_,
           t.peer);
  if (t.peer == rank_) return begin_message_to_self(t, std::move(o));
  const int from = sends ? rank_ : t.peer, to = sends ? t.peer : rank_;
  auto& channel = messages_[{from, to, t.tag}];
  if (channel == nullptr) {
    std::string key = key_;
    key += "/message-" + std::to_string(from) + '-' + std::to_string(to) + '-' +
           std::to_string(t.tag);
    channel = std::make_unique<Channel>(*shared_.api, shared_.rendezvous,
                                        std::move(key), sends ? 0 : 1, 2);
  }
  const Api& api = *shared_.api;
  o->launch = [&api, sends, in = t.in, out = t.out, n = bytes_of(t)](
                  Comm comm, Stream stream) {
    return sends ? api.send(in, n, kUint8, 1, comm, stream)
                 : api.recv(out, n, kUint8, 0, comm, stream);
  };
  channel->add(std::move(o));
}

void NcclCommunicator::begin_message_to_self(const Transfer& t,
                                             std::shared_ptr<Operation> o) {
  const Api& api = *shared_.api;
  if (self_stream_ == nullptr) self_stream_ = make_stream(api);
  Mail& mail = to_self_[t.tag];
  if (t.what == Collective::kSend) {
    mail.sends.emplace_back(t.in, std::move(o));
  } else {
    mail.recvs.emplace_back(t.out, std::move(o));
  }
  while (!mail.sends.empty() && !mail.recvs.empty()) {
    const auto [in, send] = std::move(mail.sends.front());
    const auto [out, recv] = std::move(mail.recvs.front());
    mail.sends.pop_front();
    mail.recvs.pop_front();
    api.check_cuda(
        api.copy(out, in, recv->bytes, kDeviceToDevice, self_stream_), "recv");
    record(api, *send, self_stream_);
    record(api, *recv, self_stream_);
  }
}

bool NcclCommunicator::test(void* request, size_t* received) {
  const Api& api = *shared_.api;
  auto* const r = static_cast<Request*>(request);
  api.check_cuda(api.set_device(shared_.device), (*r)->what);
  for (NcclCommunicator* c : shared_.all) c->progress();
  raise();
  if (!is_done(api, **r)) return false;
  const std::unique_ptr<Request> ended(r);
  if (received != nullptr) *received = (*r)->bytes;
  api.event_destroy((*r)->event);
  return true;
}

void NcclCommunicator::abandon(void* request) noexcept {
  delete static_cast<Request*>(request);
}

Communicator* NcclCommunicator::split(const int* ranks, int n, int tag) {
  std::string key = key_ + "/" + std::to_string(tag) + ":";
  int me = -1;
  for (int i = 0; i < n; ++i) {
    if (ranks[i] == rank_) me = i;
    key += std::to_string(ranks[i]) + ",";
  }
  SY_CHECK(me >= 0, Value, "[nccl] split: expected rank {} among the ranks",
           rank_);
  // The same again is another communicator, on all ranks alike.
  key += "#" + std::to_string(splits_[key]++);
  auto made = std::make_unique<NcclCommunicator>(shared_, key, me, n);
  made->wait_for_all();
  return made.release();
}

void NcclCommunicator::wait_for_all() {
  const Api& api = *shared_.api;
  api.check_cuda(api.set_device(shared_.device), "connect");
  collectives_.want();
  while (true) {
    for (NcclCommunicator* c : shared_.all) c->progress();
    raise();
    if (collectives_.joined()) return;
    // Throws if the others cannot come any more.
    UniqueId ignored;
    shared_.rendezvous.find(shared_.rendezvous.context, key_.c_str(), &ignored,
                            sizeof(ignored));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void NcclCommunicator::progress() noexcept {
  if (!error_.empty()) return;
  try {
    collectives_.progress();
    for (auto& [message, channel] : messages_) channel->progress();
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

void NcclCommunicator::raise() const {
  if (!error_.empty()) throw Error(error_);
}

}  // namespace sy::distributed::nccl
