// SPDX-License-Identifier: Apache-2.0
#include "ray_live/zip.hpp"

#include <zlib.h>

#include <cstdint>

namespace schedmate::ray_live {
namespace {

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>((value >> (8 * i)) & 0xffU);
}

constexpr std::uint64_t version = 20, first_of_january_1980 = 0x21;

/// What an entry has both before its bytes and in the directory.
void put_entry(std::string& to, const std::string& name, std::string_view bytes) {
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  put(to, version, 2);
  put(to, 0, 2);  // flags
  put(to, 0, 2);  // stored
  put(to, 0, 2);  // time
  put(to, first_of_january_1980, 2);
  put(to, sum, 4);
  put(to, bytes.size(), 4);
  put(to, bytes.size(), 4);
  put(to, name.size(), 2);
  put(to, 0, 2);  // no more of it
}

}  // namespace

std::string zip_of(const std::vector<std::pair<std::string, std::string_view>>& files) {
  std::string made, directory;
  for (const auto& [name, bytes] : files) {
    const std::size_t offset = made.size();
    made += "PK\x03\x04";
    put_entry(made, name, bytes);
    made += name;
    made += bytes;
    directory += "PK\x01\x02";
    put(directory, version | (3U << 8U), 2);  // made on Unix
    put_entry(directory, name, bytes);
    put(directory, 0, 2);                  // comment
    put(directory, 0, 2);                  // disk
    put(directory, 0, 2);                  // inside: bytes
    put(directory, 0100644ULL << 16U, 4);  // rights
    put(directory, offset, 4);
    directory += name;
  }
  const std::size_t begin = made.size();
  made += directory;
  made += "PK\x05\x06";
  put(made, 0, 4);  // disks
  put(made, files.size(), 2);
  put(made, files.size(), 2);
  put(made, directory.size(), 4);
  put(made, begin, 4);
  put(made, 0, 2);
  return made;
}

}  // namespace schedmate::ray_live
