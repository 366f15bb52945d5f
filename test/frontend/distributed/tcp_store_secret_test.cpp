// Who is served: those who know the job's secret, and no more of anything than
// there is room for. Varied: what is sent instead of a proof, files of secrets,
// what fills the store. Never varied: all are on this machine.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "c10/error.h"
#include "frontend/distributed/group/launch.h"
#include "frontend/distributed/store/job_secret.h"
#include "frontend/distributed/store/tcp_store.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/eventually.h"
#include "test/frontend/distributed/raw_socket.h"

namespace sy::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kHello("SYSTOREc\1\0\0\0", 12);
const std::string kSecret = "a secret of this job";

std::string message(char kind, const std::string& key, const std::string& value,
                    char id) {
  const auto number = [](size_t n) {
    std::string out;
    for (int i = 0; i < 4; ++i) out += static_cast<char>(n >> (8 * i) & 255);
    return out;
  };
  return number(21 + key.size() + value.size()) + kind + id +
         std::string(15, '\0') + number(key.size()) + key + value;
}

TEST(TcpStoreSecret, IsProvedByBothSides) {
  TcpStoreServer server("127.0.0.1", 0, kSecret);
  TcpStore a("127.0.0.1", server.port(), seconds(10), kSecret);
  TcpStore b("127.0.0.1", server.port(), seconds(10), kSecret);
  a.join(0, [] { return std::string("a"); });
  b.join(1, [] { return std::string("b"); });
  a.set("k", "v");
  EXPECT_EQ(b.get("k"), "v");
  EXPECT_EQ(b.ask(0, seconds(5)), "a");
  const std::string where = "127.0.0.1:" + std::to_string(server.port());
  SY_EXPECT_ERROR(TcpStore("127.0.0.1", server.port(), seconds(10)), Error,
                  "the store at " + where + " wants the secret of its job");
  SY_EXPECT_ERROR(TcpStore("127.0.0.1", server.port(), seconds(10), "another"),
                  Error,
                  "the store at " + where + " has the secret of another");
  const TcpStoreServer open;
  SY_EXPECT_ERROR(TcpStore("127.0.0.1", open.port(), seconds(10), kSecret),
                  Error, "does not have the job's secret");
  EXPECT_EQ(a.departures(), 0);
}

TEST(TcpStoreSecret, WhoDoesNotKnowItReadsAndWritesNothing) {
  TcpStoreServer server("127.0.0.1", 0, kSecret);
  TcpStore store("127.0.0.1", server.port(), seconds(10), kSecret);
  store.set("key", "value");
  const std::string set = message(1, "key", "other", 1);
  const std::string nonce(32, 'n');
  for (const std::string& bytes :
       {kHello + set, kHello + nonce + set,
        kHello + nonce + std::string(32, '\0') + set,
        kHello + nonce + std::string(32, '\xff') + set,
        kHello + std::string(100'000, 'x')}) {
    Raw stranger;
    ASSERT_TRUE(stranger.connect(server.port()));
    stranger.send(bytes + std::string(64, '\0'));
    const std::string answer = stranger.receive();
    EXPECT_LE(answer.size(), 12u + 64u);
    EXPECT_EQ(answer.find("value"), std::string::npos);
    EXPECT_EQ(store.get("key"), "value");
  }
  // What the server has proved is no proof of a client's.
  Raw mirror;
  ASSERT_TRUE(mirror.connect(server.port()));
  mirror.send(kHello + nonce);
  const std::string answer = mirror.receive(12 + 64);
  ASSERT_EQ(answer.size(), 12u + 64u);
  mirror.send(answer.substr(12 + 32) + set);
  EXPECT_EQ(mirror.receive(), "");
  EXPECT_EQ(store.get("key"), "value");
}

TEST(TcpStoreSecret, ProofsDependOnAllOfIt) {
  EXPECT_EQ(random_bytes(32).size(), 32u);
  EXPECT_NE(random_bytes(32), random_bytes(32));
  EXPECT_EQ(new_secret().size(), 64u);
  const std::string p = proof_of("s", "client", "c");
  EXPECT_EQ(p.size(), kProofSize);
  EXPECT_TRUE(is_same_proof(p, proof_of("s", "client", "c")));
  EXPECT_FALSE(is_same_proof(p, proof_of("t", "client", "c")));
  EXPECT_FALSE(is_same_proof(p, proof_of("s", "server", "c")));
  EXPECT_FALSE(is_same_proof(p, proof_of("s", "client", "d")));
  EXPECT_FALSE(is_same_proof(p, p.substr(1)));
}

TEST(TcpStoreSecret, ComesFromAFileOfTheUserAlone) {
  constexpr const char* kVariable = "SWITCHYARD_STORE_SECRET_FILE";
  EXPECT_EQ(job_secret(), "");
  const std::string path = testing::TempDir() + "secret";
  std::ofstream(path) << "0123456789abcdef\n";
  ::setenv(kVariable, path.c_str(), 1);
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0602}) {
    ::chmod(path.c_str(), mode);
    SY_EXPECT_ERROR(job_secret(), Error, "nobody else may read or write");
  }
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(job_secret(), "0123456789abcdef");
  std::ofstream(path) << "short";
  SY_EXPECT_ERROR(job_secret(), Error, "expected 16 to 4096 bytes");
  ::setenv(kVariable, (path + "none").c_str(), 1);
  SY_EXPECT_ERROR(job_secret(), Error, "cannot read");
  ::setenv(kVariable, testing::TempDir().c_str(), 1);
  SY_EXPECT_ERROR(job_secret(), Error, "nobody else may read or write");
  ::unsetenv(kVariable);
}

// 40 requests for one value of many bytes, and no reading.
TEST(TcpStoreLimits, WhoDoesNotReadIsSentNoMore) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  store.set("big", std::string(size_t{32} << 20, 'b'));
  Raw greedy;
  ASSERT_TRUE(greedy.connect(server.port()));
  std::string requests = kHello;
  for (int i = 0; i < 40; ++i) {
    requests += message(3, "big", "", static_cast<char>(i));
  }
  const auto held = [] {
    std::ifstream in("/proc/self/statm");
    size_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * 4096;
  };
  const size_t before = held();
  greedy.send(requests);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(store.get("big").size(), size_t{32} << 20);
  }
  EXPECT_LT(held(), before + (size_t{400} << 20));
  // Whoever reads then gets all of it.
  const size_t all = 12 + 40 * ((size_t{32} << 20) + 25);
  size_t got = 0;
  while (got < all) {
    const std::string part = greedy.receive(1 << 22);
    if (part.empty()) break;
    got += part.size();
  }
  EXPECT_EQ(got, all);
}

TEST(TcpStoreLimits, WaitingIsLimited) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  SY_EXPECT_ERROR(store.get(std::string(1 << 20, 'k'), milliseconds(50)), Error,
                  "holds as much as it may");
  store.set(std::string(1 << 20, 'k'), "v");
  EXPECT_EQ(store.get(std::string(1 << 20, 'k'), seconds(5)), "v");
}

TEST(TcpStoreLimits, AFullStoreSaysSo) {
  TcpStoreServer server;
  TcpStore store("127.0.0.1", server.port());
  const std::string value(size_t{60} << 20, 'v');
  int kept = 0;
  try {
    for (; kept < 40; ++kept) store.set("k" + std::to_string(kept), value);
    ADD_FAILURE() << "no limit";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("holds as much as it may"), std::string::npos);
  }
  EXPECT_GE(kept, 16);
  EXPECT_LT(kept, 18);
  EXPECT_EQ(store.get("k3").size(), value.size());
  store.remove("k3");
  store.set("other", value);
}

// Idle connections of those who say nothing.
TEST(TcpStoreLimits, StrangersUseUpNoDescriptors) {
  TcpStoreServer server("127.0.0.1", 0, kSecret);
  std::vector<std::unique_ptr<Raw>> idle;
  for (int i = 0; i < 400; ++i) {
    idle.push_back(std::make_unique<Raw>());
    ASSERT_TRUE(idle.back()->connect(server.port()));
  }
  EXPECT_EQ(idle[0]->receive(), "");
  TcpStore store("127.0.0.1", server.port(), seconds(10), kSecret);
  store.set("k", "v");
  EXPECT_EQ(store.get("k"), "v");
}

}  // namespace
}  // namespace sy::distributed
