// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words after expansion, as bash does it: braces, parameters, $(...), $((...)), splitting at
/// blanks, file patterns (against the tree). What is not known stays as written, marked so.

#include <functional>

#include "command/arithmetic.hpp"
#include "command/shell_state.hpp"

namespace schedmate::command {

/// The tree's root as scripts see it ($PWD, $0): a path that `cd` leaves alone. Words that leave
/// the shell are made relative to their folder again (paths.hpp).
inline constexpr std::string_view tree_root = "/@root";

class Expander {
 public:
  struct Surroundings {
    State& state;
    tree::Tree& tree;
    /// Standard output of a script's text, as $(...) gives it.
    std::function<Text(std::string_view script, const PlacePtr& use)> output_of;
    /// Where a part of the script's own text stands; nullptr for any other text.
    std::function<PlacePtr(std::string_view part)> place_of = {};
    bool unset_is_empty = false;  ///< in tests: [ -z "$X" ]
  };
  explicit Expander(Surroundings around) : around_(std::move(around)) {}

  /// The words that one written word becomes.
  std::vector<Text> fields(std::string_view raw, const PlacePtr& use);
  /// Without splitting and patterns: assignments, subjects of case, [[ ]].
  Text single(std::string_view raw, const PlacePtr& use);
  /// As single(), with the marks of quoted parts escaped.
  Text pattern(std::string_view raw, const PlacePtr& use);
  /// Inside of a here-document: quotes are plain characters.
  Text here_document(std::string_view raw, const PlacePtr& use);
  std::optional<std::int64_t> number(std::string_view expression, const PlacePtr& use);

 private:
  enum class Origin : std::uint8_t { literal, quoted, expanded };
  struct Part {
    Piece piece;
    Origin origin = Origin::literal;
    bool starts_field = false;
  };
  using Parts = std::vector<Part>;
  enum class Quoting : std::uint8_t { none, quotes, here_document };

  /// ${name[subscript] operation operand}
  struct Parameter {
    char prefix = 0;  ///< '#' or '!'
    std::string_view name;
    std::optional<std::string_view> subscript = {};
    std::string_view operation = {};
    std::string_view operand = {};
    std::string_view raw = {};  ///< as written, for what is not known
  };
  struct Found {
    std::vector<Text> items = {};
    bool is_list = false;
    bool set = false;
    bool sure = true;  ///< false when the surroundings may have set it
  };

  void walk(std::string_view raw, Quoting quoting, Parts& into);
  std::size_t dollar(std::string_view raw, std::size_t at, Quoting quoting, Parts& into);
  void add(const Text& text, Quoting quoting, Parts& into);
  void add_literal(std::string text, Quoting quoting, Parts& into);
  void add_lines(std::string_view text, Quoting quoting, Parts& into);
  std::vector<Parts> fields_of(const Parts& parts);
  std::vector<Text> with_files(const Parts& field);
  Text text_of(const Parts& parts);

  static std::optional<Parameter> split_parameter(std::string_view inner);
  void parameter(std::string_view inner, std::string_view raw, Quoting quoting, Parts& into);
  void add_found(const Found& found, const Parameter& of, Quoting quoting, Parts& into);
  Found look_up(const Parameter& parameter);
  Found look_up_variable(const Parameter& parameter);
  std::optional<Found> special(std::string_view name);
  bool substitute_default(const Parameter& of, const Found& found, Quoting quoting, Parts& into);
  Found counted(const Parameter& of, const Found& found);
  Found named_by(const Parameter& of, const Found& found);
  bool change(const Parameter& of, Found& found);
  bool slice(const Parameter& of, Found& found);
  std::optional<std::string> changed(const Parameter& of, const std::string& value);
  Text operand_pattern(std::string_view raw);
  Numbers numbers();

  Surroundings around_;
  PlacePtr use_;
  bool several_lines_ = false;  ///< what is expanded goes over more than one
  int depth_ = 0;
};

/// "a{1,2}b" -> "a1b", "a2b"; quoted braces and ${...} stay.
[[nodiscard]] std::vector<std::string> expand_braces(std::string_view raw);

}  // namespace schedmate::command
