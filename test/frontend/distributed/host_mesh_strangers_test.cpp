#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "frontend/distributed/group/host_mesh.h"
#include "test/frontend/distributed/eventually.h"
#include "test/frontend/distributed/raw_socket.h"

// Messages of others to a rank that listens. Varied: the greeting's token, rank
// and end; how many say nothing; the size that a message announces, up to what
// no memory holds, and whether it was asked for. Never varied: one rank that
// listens, on loopback.

namespace sy::distributed {
namespace {

constexpr uint64_t kMagic = 0x31686573656d7973;

template <class... T>
std::string words(T... values) {
  std::string out;
  for (const uint64_t v : {static_cast<uint64_t>(values)...}) {
    out.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  return out;
}

// Rank 0 of three; the others are the test.
class HostMeshStrangers : public testing::Test {
 protected:
  HostMeshStrangers() {
    const std::string about = store_->get("host/0");
    port_ = static_cast<uint16_t>(std::stoi(about.substr(about.rfind('\n'))));
    token_ = std::stoull(store_->get("host/token"));
  }
  std::unique_ptr<Raw> connect(const std::string& bytes) const {
    auto out = std::make_unique<Raw>();
    EXPECT_TRUE(out->connect(port_));
    out->send(bytes);
    return out;
  }
  // Whether the message is over in time.
  bool ends(const HostMesh::Handle& m) {
    return eventually([&] {
      mesh_.progress();
      return m->done;
    });
  }

  std::shared_ptr<HashStore> store_ = std::make_shared<HashStore>();
  HostMesh mesh_{store_, 0, 3, "127.0.0.1"};
  uint16_t port_ = 0;
  uint64_t token_ = 0;
};

TEST_F(HostMeshStrangers, OnlyARankWithTheTokenIsHeard) {
  int data = 0;
  const auto message = mesh_.receive(1, {7, 0}, &data, sizeof data);
  const std::string forged = words(7, 0, sizeof data) + "evil";
  std::vector<std::unique_ptr<Raw>> strangers;
  for (const std::string& hello :
       {words(kMagic, token_ + 1, 1), words(kMagic + 1, token_, 1),
        words(kMagic, token_, 3), words(kMagic, token_, 0),
        words(kMagic, token_, ~uint64_t{0}), words(0, 0, 0)}) {
    strangers.push_back(connect(hello + forged));
  }
  strangers.push_back(connect(words(kMagic)));  // and no more
  for (int i = 0; i < 200; ++i) {
    mesh_.progress();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(message->done);
  const auto rank =
      connect(words(kMagic, token_, 1) + words(7, 0, sizeof data) + "good");
  ASSERT_TRUE(ends(message));
  EXPECT_EQ(std::memcmp(&data, "good", sizeof data), 0);
}

TEST_F(HostMeshStrangers, ThoseWhoSayNothingKeepNoRankOut) {
  int data = 0;
  const auto message = mesh_.receive(1, {7, 0}, &data, sizeof data);
  std::vector<std::unique_ptr<Raw>> silent;
  for (int i = 0; i < 150; ++i) {
    silent.push_back(connect(""));
    mesh_.progress();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto rank =
      connect(words(kMagic, token_, 1) + words(7, 0, sizeof data) + "good");
  EXPECT_TRUE(ends(message));
  // Less than the time that one may take to say who it is.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(HostMeshStrangers, AnAnnouncedSizeTakesNoMemory) {
  for (const uint64_t size :
       {uint64_t{1} << 31, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{23}}) {
    SCOPED_TRACE(size);
    HostMesh mesh(store_, 0, 3, "127.0.0.1");
    const std::string about = store_->get("host/0");
    port_ = static_cast<uint16_t>(std::stoi(about.substr(about.rfind('\n'))));
    int data = 0;
    const auto asked = mesh.receive(1, {7, 0}, &data, sizeof data);
    const size_t before = resident_bytes();
    // One that is longer than its memory, and one that nobody has asked for.
    const auto one = connect(words(kMagic, token_, 1) + words(7, 0, size) +
                             std::string(100'000, 'x'));
    const auto two = connect(words(kMagic, token_, 2) + words(9, 0, size) +
                             std::string(100'000, 'x'));
    for (int i = 0; i < 200; ++i) {
      ASSERT_NO_THROW(mesh.progress());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(asked->done);
    EXPECT_NE(asked->error.find("expected at most 4 bytes"), std::string::npos);
    EXPECT_LT(resident_bytes(), before + (size_t{64} << 20));
  }
}

// Messages of some sizes around those of the pieces in which memory is taken.
TEST_F(HostMeshStrangers, WhatNobodyHasAskedForIsKept) {
  const auto rank = connect(words(kMagic, token_, 2));
  int first = 0;
  const auto begun = mesh_.receive(2, {1, 1}, &first, sizeof first);
  rank->send(words(1, 1, sizeof first) + "good");
  ASSERT_TRUE(ends(begun));
  for (const size_t size :
       {size_t{0}, size_t{1}, (size_t{1} << 20) - 1, size_t{1} << 20,
        (size_t{1} << 20) + 1, (size_t{2} << 20) + 1, size_t{9'000'001}}) {
    SCOPED_TRACE(size);
    std::string sent(size, '\0');
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 37 >> 3);
    std::thread sender([&] {
      rank->send(words(3, 4, size) + sent);
      rank->send(words(1, 1, sizeof first) + "next");
    });
    const auto next = mesh_.receive(2, {1, 1}, &first, sizeof first);
    EXPECT_TRUE(ends(next));
    sender.join();
    std::string got(size, '?');
    const auto message = mesh_.receive(2, {3, 4}, got.data(), got.size());
    EXPECT_TRUE(ends(message));
    EXPECT_EQ(message->error, "");
    EXPECT_EQ(message->bytes, size);
    EXPECT_EQ(got, sent);
  }
}

}  // namespace
}  // namespace sy::distributed
