// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A request to a use case: a JSON object, each of whose values has one reader.

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.hpp"

namespace schedmate::face {

/// The first error stays, and done() gives it. A value that is null is not there.
class Request {
 public:
  /// `name` is that of the use case, for messages; a text without anything is an empty object.
  Request(std::string_view name, std::string_view text);
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request();

  // What is not there leaves `into` as it is.
  void text(const char* key, std::string& into);
  void texts(const char* key, std::vector<std::string>& into);
  /// Names of files. "-", also behind a format or a node, is refused: standard input belongs to the
  /// host.
  void file(const char* key, std::string& into);
  void files(const char* key, std::vector<std::string>& into);
  void flag(const char* key, bool& into);
  void whole(const char* key, std::int64_t& into, std::int64_t least);
  void whole(const char* key, std::optional<std::int64_t>& into, std::int64_t least);
  /// A finite number.
  void number(const char* key, std::optional<double>& into);
  /// {KEY: VALUE}, each value as a text: true, 3, or of a list a,b.
  void pairs(const char* key, std::vector<std::pair<std::string, std::string>>& into);
  /// It must be there, and not be empty.
  void need(const char* key);

  /// Errors: invalid (no JSON object, a text with a zero byte), not_found (a key that nobody has
  /// read), unsupported (a value of the wrong kind, a key that is missing).
  [[nodiscard]] Result<void> done();

 private:
  [[nodiscard]] const Document* find(const char* key);
  void complain(ErrorCode code, std::string_view what);
  void complain_of_kind(const char* key, std::string_view wanted);
  bool take(const Document& value, const char* key, std::string& into);
  void refuse_pipe(const char* key, std::string_view name);
  std::string_view name_;
  std::unique_ptr<Document> object_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

}  // namespace schedmate::face
