#pragma once

#include <cstdint>

// Zip's records, from PKWARE's APPNOTE.TXT: signatures and lengths.

namespace sy::io::zip {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kLocator64 = 0x07064b50;

constexpr uint64_t kLocalHeaderSize = 30;
constexpr uint64_t kDirectoryHeaderSize = 46;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kLocator64Size = 20;

// A field of 16 or 32 bits with this value says that its number is in a 64-bit
// field elsewhere.
constexpr uint16_t kElsewhere16 = 0xffff;
constexpr uint32_t kElsewhere32 = 0xffffffff;

constexpr uint16_t kExtra64 = 0x0001;
constexpr uint16_t kExtraPadding = 0xd935;

enum Method : uint16_t { kStored = 0, kDeflated = 8 };
// Bits of the flags.
constexpr uint16_t kEncrypted = 1 << 0 | 1 << 6 | 1 << 13;
constexpr uint16_t kSizesBehind = 1 << 3;
constexpr uint16_t kPatched = 1 << 5;
constexpr uint16_t kUtf8 = 1 << 11;

}  // namespace sy::io::zip
