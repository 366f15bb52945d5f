#include "frontend/distributed/store/tcp_store_service.h"

#include <chrono>
#include <limits>

namespace sy::distributed {

namespace {

using wire::Kind;
using wire::Message;

constexpr const char* kLost =
    "connection lost: the process was killed, or its machine is gone";

constexpr size_t kDigits = 20;  // of a number
// The most requests of one client that wait for a key, and the most bytes of
// the key, which is sent with each.
constexpr size_t kMostWaits = 1024, kLongestAwaited = 16 << 10;
constexpr size_t kMostQuestions = 65536;

int64_t nanoseconds_now() {
  return std::chrono::nanoseconds(SteadyClock::now().time_since_epoch())
      .count();
}

bool is_rank(int64_t n) {
  return n >= 0 && n <= std::numeric_limits<int>::max();
}

Message news(Kind kind, const Departure& d) {
  return {.kind = kind, .id = d.clean, .number = d.rank, .value = d.why};
}

}  // namespace

void Service::welcome(uint64_t client) {
  clients_.try_emplace(client);
  for (const Departure& d : roll_.departed()) {
    post_(client, news(Kind::kDeparted, d));
  }
}

bool Service::handle(uint64_t client, const Message& m) {
  const Request r{client, m.id};
  switch (m.kind) {
    case Kind::kSet:
      if (!values_.has_room(m.key, m.value.size())) {
        return reply(r, {.kind = Kind::kFull});
      }
      give(m.key, values_.set(m.key, m.value));
      return reply(r, {.kind = Kind::kDone});
    case Kind::kGet: return get(r, m.key);
    case Kind::kFind:
      if (const std::string* const value = values_.find(m.key)) {
        return reply(r, {.kind = Kind::kValue, .value = *value});
      }
      return reply(r, {.kind = Kind::kNone});
    case Kind::kAdd: return add(r, m);
    case Kind::kRemove:
      return reply(r, {.kind = Kind::kNumber, .number = values_.remove(m.key)});
    case Kind::kJoin: return join(r, m.number);
    case Kind::kLeave:
      end(client, true, "its program ended", Roll::Source::kItself);
      return reply(r, {.kind = Kind::kDone});
    case Kind::kAsk: return ask(r, m.number);
    case Kind::kClock:
      return reply(r, {.kind = Kind::kNumber, .number = nanoseconds_now()});
    case Kind::kCancel: cancel(r); return true;
    case Kind::kAnswer:
    case Kind::kSilent: return answer(r, m);
    default: return false;  // only servers say that
  }
}

void Service::goodbye(uint64_t client) {
  Client& gone = clients_.at(client);
  while (!gone.waits.empty()) {
    stop_waiting(gone, {client, gone.waits.begin()->first});
  }
  std::erase_if(questions_, [&](const auto& q) {
    const Question& question = q.second;
    if (question.asker.client == client) return true;
    if (question.asked != client) return false;
    return reply(question.asker, {.kind = Kind::kNone});
  });
  end(client, false, kLost, Roll::Source::kConnection);
  clients_.erase(client);
}

void Service::depart(Departure d, Roll::Source source) {
  const Roll::Change change = roll_.depart(d, source);
  if (change == Roll::Change::kNothing) return;
  broadcast(news(
      change == Roll::Change::kDeparted ? Kind::kDeparted : Kind::kReworded,
      d));
}

const std::string* Service::find(std::string_view key) const {
  return values_.find(key);
}

bool Service::reply(const Request& to, Message m) {
  m.id = to.id;
  post_(to.client, m);
  return true;
}

void Service::broadcast(const Message& m) {
  for (const auto& [client, state] : clients_) post_(client, m);
}

bool Service::get(const Request& r, std::string_view key) {
  if (const std::string* const value = values_.find(key)) {
    return reply(r, {.kind = Kind::kValue, .value = *value});
  }
  auto& waits = clients_.at(r.client).waits;
  if (waits.size() == kMostWaits || key.size() > kLongestAwaited) {
    return reply(r, {.kind = Kind::kFull});
  }
  if (!waits.try_emplace(r.id, key).second) return false;
  waiting_[std::string(key)].push_back(r);
  return true;
}

// Sends the value to the clients that wait for the key.
void Service::give(std::string_view key, const std::string& value) {
  if (waiting_.empty()) return;
  const auto found = waiting_.find(std::string(key));
  if (found == waiting_.end()) return;
  const std::vector<Request> requests = std::move(found->second);
  waiting_.erase(found);
  for (const Request& r : requests) {
    clients_.at(r.client).waits.erase(r.id);
    reply(r, {.kind = Kind::kValue, .value = value});
  }
}

bool Service::add(const Request& r, const Message& m) {
  if (!values_.has_room(m.key, kDigits)) {
    return reply(r, {.kind = Kind::kFull});
  }
  const std::optional<int64_t> sum = values_.add(m.key, m.number);
  const std::string& value = *values_.find(m.key);
  if (!sum) return reply(r, {.kind = Kind::kRefused, .value = value});
  give(m.key, value);
  return reply(r, {.kind = Kind::kNumber, .number = *sum});
}

bool Service::join(const Request& r, int64_t number) {
  if (!is_rank(number)) return false;
  const int rank = static_cast<int>(number);
  Client& client = clients_.at(r.client);
  const bool has_one =
      client.rank >= 0 && roll_.owner_of(client.rank) == r.client;
  if (has_one && client.rank != rank) return false;
  const Roll::Joined joined = roll_.join(rank, r.client);
  if (joined == Roll::Joined::kTaken) return reply(r, {.kind = Kind::kRefused});
  client.rank = rank;
  if (joined == Roll::Joined::kAgain) {
    broadcast({.kind = Kind::kReturned, .number = rank});
  }
  return reply(r, {.kind = Kind::kDone});
}

// The rank of this client is gone, if it has one.
void Service::end(uint64_t client, bool clean, const char* why,
                  Roll::Source source) {
  const int rank = std::exchange(clients_.at(client).rank, -1);
  if (rank < 0 || roll_.owner_of(rank) != client) return;
  depart({rank, clean, why}, source);
}

bool Service::ask(const Request& r, int64_t rank) {
  std::optional<uint64_t> owner;
  if (is_rank(rank)) owner = roll_.owner_of(static_cast<int>(rank));
  if (!owner) return reply(r, {.kind = Kind::kNone});
  if (questions_.size() >= kMostQuestions) {
    return reply(r, {.kind = Kind::kNone});
  }
  const uint64_t id = ++last_question_;
  questions_[id] = {r, *owner};
  return reply({*owner, id}, {.kind = Kind::kQuestion});
}

bool Service::answer(const Request& r, const Message& m) {
  const auto found = questions_.find(r.id);
  if (found == questions_.end()) return true;  // it came too late
  if (found->second.asked != r.client) return false;
  const Request asker = found->second.asker;
  questions_.erase(found);
  if (m.kind == Kind::kSilent) return reply(asker, {.kind = Kind::kNone});
  return reply(asker, {.kind = Kind::kValue, .value = m.value});
}

void Service::cancel(const Request& r) {
  Client& client = clients_.at(r.client);
  if (client.waits.contains(r.id)) return stop_waiting(client, r);
  std::erase_if(questions_, [&](const auto& q) {
    const Request& asker = q.second.asker;
    return asker.client == r.client && asker.id == r.id;
  });
}

void Service::stop_waiting(Client& client, const Request& r) {
  const auto wait = client.waits.find(r.id);
  const auto requests = waiting_.find(wait->second);
  if (requests != waiting_.end()) {
    std::erase_if(requests->second, [&](const Request& other) {
      return other.client == r.client && other.id == r.id;
    });
    if (requests->second.empty()) waiting_.erase(requests);
  }
  client.waits.erase(wait);
}

}  // namespace sy::distributed
