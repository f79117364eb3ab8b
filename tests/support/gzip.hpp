// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace schedmate::testing {

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (::deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string in(text);
  std::string out(::deflateBound(&stream, in.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace schedmate::testing
