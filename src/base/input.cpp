// SPDX-License-Identifier: Apache-2.0
#include "base/input.hpp"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/foreign_file.hpp"

namespace schedmate {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;
constexpr std::uint64_t largest_guess = std::uint64_t{1} << 28U;  // a sparse file may claim more

tl::unexpected<Error> invalid(const std::string& path, std::string_view what) {
  return fail(ErrorCode::invalid, fmt::format("{}: {}", path, what));
}

/// The file's bytes as they are on disk.
class RawBytes {
 public:
  RawBytes(ForeignFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), buffer_(chunk_bytes) {}

  /// Unread bytes, at least `wanted` of them unless the file ends before.
  Result<std::span<const char>> peek(std::size_t wanted) {
    if (end_ - begin_ < wanted && begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
    }
    while (end_ - begin_ < wanted) {
      const auto got = file_.read_at(std::span(buffer_).subspan(end_), offset_);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      end_ += *got;
      offset_ += *got;
    }
    return std::span<const char>(buffer_.data() + begin_, end_ - begin_);
  }
  void skip(std::size_t count) { begin_ += count; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t stored_bytes() {
    const auto status = file_.status();
    return file_.is_pipe() || !status ? 0 : static_cast<std::uint64_t>(status->st_size);
  }

 private:
  ForeignFile file_;
  std::uint64_t offset_ = 0;
  std::string path_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

bool starts_with(std::span<const char> bytes, std::string_view magic) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(magic);
}
constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

}  // namespace

/// One of the three encodings: what `read` gives is plain text.
class InputFile::Stream {
 public:
  Stream(RawBytes raw, std::uint64_t limit) : raw_(std::move(raw)), left_(limit) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (gzip_ready_) ::inflateEnd(&gzip_);
  }

  /// `text`: a byte order mark is left out, UTF-16 refused.
  Result<void> start(bool text);
  Result<std::size_t> read(std::span<char> out);
  [[nodiscard]] std::uint64_t stored_bytes() { return raw_.stored_bytes(); }

 private:
  enum class Encoding : std::uint8_t { plain, gzip, zstd };
  struct FreeZstd {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  };
  Result<std::size_t> decode(std::span<char> out);
  Result<std::size_t> copy(std::span<char> out);
  Result<std::size_t> inflate(std::span<char> out);
  Result<std::size_t> unzstd(std::span<char> out);
  Result<void> take_byte_order_mark();

  RawBytes raw_;
  std::uint64_t left_;
  Encoding encoding_ = Encoding::plain;
  std::string damage_;           // of what was given out already
  bool between_members_ = true;  // the compressed stream may end here
  bool gzip_ready_ = false;
  z_stream gzip_{};
  std::unique_ptr<ZSTD_DStream, FreeZstd> zstd_;
  std::string head_;  // decoded, looked at, not yet given out
};

Result<void> InputFile::Stream::start(bool text) {
  const auto first = raw_.peek(zstd_magic.size());
  if (!first) return tl::unexpected(first.error());
  if (starts_with(*first, gzip_magic)) {
    encoding_ = Encoding::gzip;
    gzip_ready_ = ::inflateInit2(&gzip_, 15 + 16) == Z_OK;  // 15: window, 16: gzip header
    if (!gzip_ready_) return invalid(raw_.path(), "cannot start zlib (out of memory?)");
  } else if (starts_with(*first, zstd_magic)) {
    encoding_ = Encoding::zstd;
    zstd_.reset(::ZSTD_createDStream());
    if (!zstd_) return invalid(raw_.path(), "cannot start zstd (out of memory?)");
  }
  return text ? take_byte_order_mark() : Result<void>();
}

Result<void> InputFile::Stream::take_byte_order_mark() {
  head_.resize(3);
  std::size_t have = 0;
  while (have < head_.size()) {
    const auto got = decode(std::span(head_).subspan(have));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    have += *got;
  }
  head_.resize(have);
  if (head_.starts_with("\xff\xfe") || head_.starts_with("\xfe\xff")) {
    return invalid(raw_.path(), "is UTF-16 text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
  }
  if (head_ == "\xef\xbb\xbf") head_.clear();
  return {};
}

Result<std::size_t> InputFile::Stream::read(std::span<char> out) {
  if (out.empty()) return 0;
  Result<std::size_t> got = std::min(out.size(), head_.size());
  if (*got > 0) {
    std::copy_n(head_.begin(), *got, out.begin());
    head_.erase(0, *got);
  } else {
    got = decode(out);
  }
  if (!got) return got;
  if (*got > left_) {
    return invalid(raw_.path(), "the text is longer than the limit; split the file");
  }
  left_ -= *got;
  return got;
}

Result<std::size_t> InputFile::Stream::decode(std::span<char> out) {
  switch (encoding_) {
    case Encoding::gzip:
      return inflate(out);
    case Encoding::zstd:
      return unzstd(out);
    case Encoding::plain:
      break;
  }
  return copy(out);
}

Result<std::size_t> InputFile::Stream::copy(std::span<char> out) {
  const auto in = raw_.peek(1);
  if (!in) return tl::unexpected(in.error());
  const std::size_t count = std::min(in->size(), out.size());
  std::copy_n(in->begin(), count, out.begin());
  raw_.skip(count);
  return count;
}

Result<std::size_t> InputFile::Stream::inflate(std::span<char> out) {
  gzip_.next_out = reinterpret_cast<Bytef*>(out.data());
  gzip_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), chunk_bytes));
  const uInt room = gzip_.avail_out;
  while (gzip_.avail_out == room) {
    const auto in = raw_.peek(between_members_ ? gzip_magic.size() : 1);
    if (!in) return tl::unexpected(in.error());
    if (in->empty() && between_members_) return 0;
    const std::size_t made = room - gzip_.avail_out;  // given out before what is wrong is said
    if (in->empty() && made > 0) return made;
    if (in->empty()) return invalid(raw_.path(), "gzip data end early; the file is truncated");
    if (between_members_ && !starts_with(*in, gzip_magic)) {
      if (in->front() != '\0') return invalid(raw_.path(), "extra bytes follow the gzip data");
      raw_.skip(1);  // tapes and some tools pad with zeros
      continue;
    }
    between_members_ = false;
    gzip_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in->data()));
    gzip_.avail_in = static_cast<uInt>(in->size());
    const int status = ::inflate(&gzip_, Z_NO_FLUSH);
    raw_.skip(in->size() - gzip_.avail_in);
    if (status == Z_STREAM_END) {
      between_members_ = true;
      ::inflateReset(&gzip_);
    } else if (status != Z_OK) {
      if (gzip_.avail_out < room) return room - gzip_.avail_out;
      return invalid(raw_.path(), "gzip data are damaged");
    }
  }
  return room - gzip_.avail_out;
}

Result<std::size_t> InputFile::Stream::unzstd(std::span<char> out) {
  ZSTD_outBuffer target{out.data(), out.size(), 0};
  if (!damage_.empty()) return invalid(raw_.path(), damage_);
  while (target.pos == 0) {
    const auto in = raw_.peek(1);
    if (!in) return tl::unexpected(in.error());
    if (in->empty() && between_members_) return 0;
    ZSTD_inBuffer source{in->data(), in->size(), 0};
    const std::size_t status = ::ZSTD_decompressStream(zstd_.get(), &target, &source);
    raw_.skip(source.pos);
    if (::ZSTD_isError(status) != 0U) {
      damage_ = fmt::format("zstd data are damaged ({})", ::ZSTD_getErrorName(status));
      return target.pos > 0 ? Result<std::size_t>(target.pos) : invalid(raw_.path(), damage_);
    }
    between_members_ = status == 0;
    if (in->empty() && target.pos == 0 && !between_members_) {
      return invalid(raw_.path(), "zstd data end early; the file is truncated");
    }
  }
  return target.pos;
}

Result<ForeignFile> open_text(const ForeignPath& path) {
  return ForeignFile::open(path).map_error([](Error error) {
    if (error.code == ErrorCode::not_found) error.code = ErrorCode::invalid;
    return error;
  });
}

Result<InputFile> InputFile::open(const ForeignPath& path, std::uint64_t limit) {
  auto file = open_text(path);
  if (!file) return tl::unexpected(file.error());
  InputFile input(std::make_unique<Stream>(RawBytes(std::move(*file), path.name), limit));
  if (auto started = input.stream_->start(true); !started) return tl::unexpected(started.error());
  return input;
}

Result<InputFile> InputFile::of_bytes(ForeignFile file, const std::string& name) {
  InputFile input(std::make_unique<Stream>(RawBytes(std::move(file), name),
                                           std::numeric_limits<std::uint64_t>::max()));
  if (auto started = input.stream_->start(false); !started) return tl::unexpected(started.error());
  return input;
}

Result<InputFile> InputFile::open_bytes(const ForeignPath& path) {
  return open_text(path).and_then(
      [&](ForeignFile file) { return of_bytes(std::move(file), path.name); });
}

InputFile::InputFile(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
InputFile::InputFile(InputFile&& other) noexcept = default;
InputFile& InputFile::operator=(InputFile&& other) noexcept = default;
InputFile::~InputFile() = default;

Result<std::size_t> InputFile::read(std::span<char> out) { return stream_->read(out); }

std::uint64_t InputFile::stored_bytes() const { return stream_->stored_bytes(); }

Result<std::string> read_file(const ForeignPath& path, std::uint64_t limit) {
  auto file = InputFile::open(path, limit);
  if (!file) return tl::unexpected(file.error());
  std::string text;
  // The size is only a guess at how long the text will be.
  text.reserve(std::min({file->stored_bytes(), limit, largest_guess}) + 4 * chunk_bytes);
  return read_rest(std::move(text), [&](std::span<char> out) { return file->read(out); });
}

Result<std::string> read_rest(std::string start, const ReadBytes& read) {
  std::size_t size = start.size();
  while (true) {
    if (start.size() - size < chunk_bytes) start.resize(size + 4 * chunk_bytes);
    const auto got = read(std::span(start).subspan(size));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  start.resize(size);
  return start;
}

ReadBytes bytes_of(std::string_view text) {
  return [text](std::span<char> out) mutable -> Result<std::size_t> {
    const std::size_t count = std::min(out.size(), text.size());
    std::copy_n(text.begin(), count, out.begin());
    text.remove_prefix(count);
    return count;
  };
}

}  // namespace schedmate
