// SPDX-License-Identifier: Apache-2.0
#include "base/input.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>

#include "base/output.hpp"
#include "tests/support/gzip.hpp"

namespace schedmate {
namespace {

/// A folder of its own that goes with the test.
struct InputFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("schedmate_input_" + std::to_string(::getpid()));
  InputFolder() { std::filesystem::create_directories(path); }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;
  ~InputFolder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string put(std::string_view text) const {
    const std::string file = (path / "file").string();
    REQUIRE(write_file(file, text));
    return file;
  }
};

using testing::gzipped;

std::string zstd(std::string_view text) {
  std::string out(::ZSTD_compressBound(text.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

}  // namespace

TEST_CASE("plain, gzip and zstd files give the same text whatever their name") {
  const InputFolder folder;
  const std::string text = long_text();
  for (const std::string& stored : {text, gzipped(text), zstd(text)}) {
    const auto read = read_file(folder.put(stored));
    REQUIRE(read);
    CHECK(*read == text);
  }
}

TEST_CASE("an empty file is an empty text, also when compressed") {
  const InputFolder folder;
  for (const std::string& stored : {std::string(), gzipped(""), zstd("")}) {
    const auto read = read_file(folder.put(stored));
    REQUIRE(read);
    CHECK(read->empty());
  }
}

TEST_CASE("compressed members that follow each other are one text") {
  const InputFolder folder;
  CHECK(read_file(folder.put(gzipped("ab") + gzipped("") + gzipped("cd"))).value() == "abcd");
  CHECK(read_file(folder.put(zstd("ab") + zstd("cd"))).value() == "abcd");
  CHECK(read_file(folder.put(gzipped("ab") + std::string(512, '\0'))).value() == "ab");
}

TEST_CASE("a truncated stream is an error that names the file, at every length") {
  const InputFolder folder;
  for (const std::string& whole : {gzipped("some text, some text"), zstd("some text, some text")}) {
    for (std::size_t length = 4; length < whole.size(); ++length) {
      const std::string path = folder.put(whole.substr(0, length));
      const auto read = read_file(path);
      REQUIRE(!read);
      CHECK(read.error().code == ErrorCode::invalid);
      CHECK(read.error().message.starts_with(path));
      CHECK(read.error().message.find("truncated") != std::string::npos);
    }
  }
}

TEST_CASE("damaged streams and foreign bytes after them are errors") {
  const InputFolder folder;
  for (std::string stored : {gzipped(long_text()), zstd(long_text())}) {
    stored[stored.size() / 2] = static_cast<char>(stored[stored.size() / 2] ^ 0x55);
    CHECK(!read_file(folder.put(stored)));
  }
  CHECK(!read_file(folder.put(gzipped("ab") + "plain text")));
  CHECK(!read_file(folder.put(zstd("ab") + "plain text")));
}

TEST_CASE("a small file that unpacks to more than the limit is refused") {
  const InputFolder folder;
  const std::string zeros(1 << 20, '0');
  for (const std::string& bomb : {gzipped(zeros), zstd(zeros)}) {
    CHECK(read_file(folder.put(bomb), 1 << 20));
    const auto read = read_file(folder.put(bomb), (1 << 20) - 1);
    REQUIRE(!read);
    CHECK(read.error().message.find("limit") != std::string::npos);
  }
}

TEST_CASE("a UTF-8 mark is left out and UTF-16 is refused") {
  const InputFolder folder;
  CHECK(read_file(folder.put("\xef\xbb\xbfid")).value() == "id");
  CHECK(read_file(folder.put(gzipped("\xef\xbb\xbfid"))).value() == "id");
  CHECK(read_file(folder.put("\xef\xbb")).value() == "\xef\xbb");
  const auto read = read_file(folder.put(std::string("\xff\xfei\0d\0", 6)));
  REQUIRE(!read);
  CHECK(read.error().message.find("UTF-16") != std::string::npos);
}

TEST_CASE("absent files, folders, pipes and devices are clear errors and never block") {
  const InputFolder folder;
  CHECK(read_file((folder.path / "absent").string()).error().code == ErrorCode::invalid);
  CHECK(read_file(folder.path.string()).error().message.find("folder") != std::string::npos);
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_file(pipe).error().message.find("pipe") != std::string::npos);
  CHECK(read_file("/dev/zero").error().message.find("device") != std::string::npos);
}

}  // namespace schedmate
