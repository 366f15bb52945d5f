// The server serves those who know the job's secret. Varied: what is sent
// instead of a proof, files of secrets, how many say nothing. Never varied: the
// hash, the size of nonces; all are on this machine.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "c10/process/error.h"
#include "c10/process/secret.h"
#include "frontend/distributed/store/job_secret.h"
#include "frontend/distributed/store/tcp_store.h"
#include "test/c10/expect_error.h"
#include "test/frontend/distributed/raw_socket.h"

namespace sy::distributed {
namespace {

using std::chrono::seconds;

const std::string kSecret = "a secret of this job";

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
  const std::string set = store_message(1, "key", "other", 1);
  const std::string nonce(32, 'n');
  for (const std::string& bytes :
       {kStoreHello + set, kStoreHello + nonce + set,
        kStoreHello + nonce + std::string(32, '\0') + set,
        kStoreHello + nonce + std::string(32, '\xff') + set,
        kStoreHello + std::string(100'000, 'x')}) {
    Raw stranger;
    ASSERT_TRUE(stranger.connect(server.port()));
    stranger.send(bytes + std::string(64, '\0'));
    const std::string answer = stranger.receive();
    EXPECT_LE(answer.size(), 12u + 64u);
    EXPECT_EQ(answer.find("value"), std::string::npos);
    EXPECT_EQ(store.get("key"), "value");
  }
  // The server's proof, sent back, is no client's.
  Raw mirror;
  ASSERT_TRUE(mirror.connect(server.port()));
  mirror.send(kStoreHello + nonce);
  const std::string answer = mirror.receive(12 + 64);
  ASSERT_EQ(answer.size(), 12u + 64u);
  mirror.send(answer.substr(12 + 32) + set);
  EXPECT_EQ(mirror.receive(), "");
  EXPECT_EQ(store.get("key"), "value");
}

// A client's proof that somebody has heard is no proof in another connection.
TEST(TcpStoreSecret, AProofIsOfOneConnection) {
  TcpStoreServer server("127.0.0.1", 0, kSecret);
  const std::string nonce(32, 'n'), find = store_message(3, "key", "", 1);
  const auto challenge = [&](Raw& client) {
    EXPECT_TRUE(client.connect(server.port()));
    client.send(kStoreHello + nonce);
    return nonce + client.receive(12 + 64).substr(12, 32);
  };
  Raw good, bad;
  const std::string proof = proof_of(kSecret, "client", challenge(good));
  EXPECT_NE(proof, proof_of(kSecret, "client", challenge(bad)));
  good.send(proof + find);
  EXPECT_EQ(good.receive(25).size(), 25u);
  bad.send(proof + find);
  EXPECT_EQ(bad.receive(), "");
}

TEST(TcpStoreSecret, ProofsDependOnAllOfIt) {
  EXPECT_EQ(random_bytes(32).size(), 32u);
  EXPECT_NE(random_bytes(32), random_bytes(32));
  EXPECT_EQ(new_secret().size(), 64u);
  const std::string p = proof_of("s", "client", "c");
  EXPECT_EQ(p.size(), kProofSize);
  EXPECT_TRUE(is_same_secret(p, proof_of("s", "client", "c")));
  EXPECT_FALSE(is_same_secret(p, proof_of("t", "client", "c")));
  EXPECT_FALSE(is_same_secret(p, proof_of("s", "server", "c")));
  EXPECT_FALSE(is_same_secret(p, proof_of("s", "client", "d")));
  EXPECT_FALSE(is_same_secret(p, p.substr(1)));
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
  // Nobody waits for what a pipe brings.
  const std::string pipe = testing::TempDir() + "pipe";
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ::setenv(kVariable, pipe.c_str(), 1);
  SY_EXPECT_ERROR(job_secret(), Error, "nobody else may read or write");
  ::unlink(pipe.c_str());
  ::unsetenv(kVariable);
}

// Idle connections of those who say nothing.
TEST(TcpStoreSecret, StrangersUseUpNoDescriptors) {
  TcpStoreServer server("127.0.0.1", 0, kSecret);
  std::vector<std::unique_ptr<Raw>> idle;
  for (int i = 0; i < 400; ++i) {
    idle.push_back(std::make_unique<Raw>());
    ASSERT_TRUE(idle.back()->connect(server.port()));
    // Some greet, and prove nothing.
    if (i % 2 == 0) idle.back()->send(kStoreHello + std::string(32, 'n'));
  }
  // At once, not when its time is over.
  const auto begin = std::chrono::steady_clock::now();
  idle[0]->receive();
  idle[1]->receive();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
  TcpStore store("127.0.0.1", server.port(), seconds(10), kSecret);
  store.set("k", "v");
  EXPECT_EQ(store.get("k"), "v");
}

}  // namespace
}  // namespace sy::distributed
