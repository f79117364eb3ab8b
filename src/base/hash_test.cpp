// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace schedmate {
namespace {

TEST_CASE("every bit of the bytes, their number and the seed change the hash") {
  const std::string text(100, 'a');
  std::set<std::uint64_t> hashes{hash_bytes(text), hash_bytes(text, 1)};
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      hashes.insert(hash_bytes(changed));
    }
    hashes.insert(hash_bytes(text.substr(0, at)));
    hashes.insert(hash_bytes(std::string(at, '\0')));
  }
  // Both rows of shorter texts begin with the empty one.
  CHECK(hashes.size() == 2 + 800 + 2 * 100 - 1);
}

TEST_CASE("the hash is the same on every machine, since files hold it") {
  CHECK(hash_bytes("") == hash_bytes(std::string()));
  CHECK(hash_bytes("dataset=imagenet batch_size=64 optimizer=adamw") == 1333071425008995334ULL);
}

}  // namespace
}  // namespace schedmate
