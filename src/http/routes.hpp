// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The table of routes: the only way in. Method and path decide on a row; the row says who may,
/// whether it changes anything, how large a body may be and which query names there are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <schedmate/caller.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::http {

enum class Method : std::uint8_t { get, post };  ///< HEAD is GET whose body is not sent
enum class Who : std::uint8_t { anyone, known, owners, operators, sealed };
enum class Effect : std::uint8_t { reads, changes };

enum class RouteName : std::uint8_t {
#define ROUTE(name, ...) name,
#include "http/routes.def"
#undef ROUTE
};

struct Route {
  RouteName name{};
  std::string_view word;  ///< its name, for records and tests
  Method method{};
  std::string_view path;  ///< "/api/v1/jobs/{ID}"
  Who who{};
  Effect effect{};
  std::size_t largest_body = 0;  ///< bytes; 0: none is taken. What is taken is JSON.
  std::string_view query;        ///< names with blanks between
  std::string_view schema;       ///< of the answer; "text/event-stream": events
  std::string_view gives;

  [[nodiscard]] bool is_stream() const { return schema == "text/event-stream"; }
};

[[nodiscard]] std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;  ///< null: none has this path, or none this method
  std::vector<std::string> ids{};
  std::string allowed{};  ///< by all rows with this path: "GET, HEAD, POST"; "": there is none
};
/// `parts` are those of the path, decoded. An {ID} is 1 to 128 of the letters, digits and
/// -_.:+@[]~, so an id is never a way into a file tree. No method: one that no row has.
[[nodiscard]] Match match_route(std::optional<Method> method, std::span<const std::string> parts);

/// Whether the role may use a row for `who`. Nobody (`is_known` false) may use what is for anyone.
[[nodiscard]] bool may_use(Who who, bool is_known, Role role);

}  // namespace schedmate::http
