// SPDX-License-Identifier: Apache-2.0
// png_colours FILE: prints width, height, the number of distinct colours and the lightness (0 to
// 255) of the top left pixel of a screenshot: 8 bits a channel, RGB or RGBA, not interlaced.
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0;
  Bytes packed;  // the IDAT chunks
};

std::uint32_t big_endian(const Bytes& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8U) | bytes.at(at + i);
  return value;
}

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "not a usable PNG: %s\n", why);
  std::exit(3);
}

Image read_chunks(const Bytes& file) {
  Image image;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::uint32_t size = big_endian(file, at);
    if (file.size() - at - 12 < size) refuse("truncated chunk");
    const auto from = file.begin() + static_cast<std::ptrdiff_t>(at);
    const std::string type(from + 4, from + 8);
    if (type == "IHDR") {
      image.width = big_endian(file, at + 8);
      image.height = big_endian(file, at + 12);
      const std::uint8_t kind = file.at(at + 17);
      if (file.at(at + 16) != 8 || file.at(at + 20) != 0) refuse("depth or interlace");
      if (kind != 2 && kind != 6) refuse("colour type");
      image.channels = kind == 2 ? 3 : 4;
    } else if (type == "IDAT") {
      image.packed.insert(image.packed.end(), from + 8, from + 8 + size);
    }
    at += 12 + size;
  }
  if (image.channels == 0 || image.width == 0) refuse("no header");
  return image;
}

std::uint8_t paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int to_left = std::abs(guess - left);
  const int to_up = std::abs(guess - up);
  const int to_corner = std::abs(guess - corner);
  if (to_left <= to_up && to_left <= to_corner) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_up <= to_corner ? up : corner);
}

// Undoes the filter of one row (PNG specification, section 9).
void unfilter(std::uint8_t filter, Bytes& row, const Bytes& above, std::size_t step) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < step ? 0 : row[i - step];
    const int up = above[i];
    const int corner = i < step ? 0 : above[i - step];
    const std::array<int, 5> predicted = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
    row[i] = static_cast<std::uint8_t>(row[i] + predicted.at(filter));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) refuse("usage: png_colours FILE");
  std::ifstream stream(arguments[1], std::ios::binary);
  const Bytes file{std::istreambuf_iterator<char>(stream), {}};
  const Image image = read_chunks(file);
  const std::size_t row_size = std::size_t{image.width} * image.channels;
  Bytes raw((row_size + 1) * image.height);
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, image.packed.data(), image.packed.size()) != Z_OK ||
      size != raw.size()) {
    refuse("cannot unpack the pixels");
  }
  std::set<std::uint32_t> colours;
  Bytes above(row_size);
  int corner_lightness = -1;
  for (std::size_t y = 0; y < image.height; ++y) {
    const auto from = raw.begin() + static_cast<std::ptrdiff_t>(y * (row_size + 1));
    Bytes row(from + 1, from + 1 + static_cast<std::ptrdiff_t>(row_size));
    unfilter(*from, row, above, image.channels);
    for (std::size_t x = 0; x < row_size; x += image.channels) {
      colours.insert((std::uint32_t{row[x]} << 16U) | (std::uint32_t{row[x + 1]} << 8U) |
                     row[x + 2]);
    }
    if (y == 0) corner_lightness = (row[0] + row[1] + row[2]) / 3;
    above = std::move(row);
  }
  std::printf("%u %u %zu %d\n", image.width, image.height, colours.size(), corner_lightness);
}
