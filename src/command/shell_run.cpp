// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "command/shell.hpp"

namespace schedmate::command {
void Shell::run_block(const std::vector<Statement>& block) {
  for (const auto& statement : block) {
    if (state_.flow != Flow::on) return;
    run(statement);
  }
}

void Shell::run(const Statement& statement) {
  if (state_.flow != Flow::on || !charge(1)) return;
  const Statement* const before = statement_;
  statement_ = &statement;
  if (++depth_ > deepest_block) {
    note_here("nested or recursive too deeply and not followed");
  } else if (statement.background) {
    in_subshell([&] { with_redirects(statement, [&] { run_kind(statement); }); });
    state_.status = Truth::yes;
  } else {
    with_redirects(statement, [&] { run_kind(statement); });
  }
  --depth_;
  statement_ = before;
}

void Shell::run_kind(const Statement& statement) {
  switch (statement.kind) {
    case Kind::simple:
      return run_simple(statement);
    case Kind::pipeline:
      return run_pipeline(statement);
    case Kind::chain:
      return run_chain(statement);
    case Kind::group:
      return run_block(statement.parts);
    case Kind::subshell:
      return in_subshell([&] { run_block(statement.parts); });
    case Kind::branch:
      return run_branch(statement, 0);
    case Kind::loop_over:
      return run_for(statement);
    case Kind::loop_count:
      return run_counted(statement);
    case Kind::loop_while:
    case Kind::loop_until:
      return run_while(statement);
    case Kind::choice:
      return run_choice(statement);
    case Kind::function:
      functions_[std::string(text(statement.words[0]))] = {script_, &statement.parts[0]};
      return;
    case Kind::arithmetic: {
      const auto value = expander().number(text(statement.words[0]), place(statement.words[0]));
      state_.status = !value ? Truth::unknown : *value != 0 ? Truth::yes : Truth::no;
      return;
    }
    case Kind::test:
      state_.status = run_double_test(*this, text(statement.words[0]), place(statement.words[0]));
      return;
    case Kind::negated:
      run(statement.parts[0]);
      state_.status = inverse(state_.status);
  }
}

void Shell::run_either(Truth condition, const std::function<void()>& yes,
                       const std::function<void()>& no) {
  if (condition == Truth::yes) return yes();
  if (condition == Truth::no) return no();
  const State before = state_;
  charge_copy();
  state_.certain = false;
  yes();
  State then = std::move(state_);
  state_ = before;
  state_.certain = false;
  no();
  state_ = merged(before, std::move(then), std::move(state_));
  if (steps_left_ < 0) state_.flow = Flow::leave;
}

void Shell::run_chain(const Statement& statement) {
  run(statement.parts[0]);
  for (std::size_t i = 1; i < statement.parts.size() && state_.flow == Flow::on; ++i) {
    const bool both = statement.marks[i - 1] == '&';
    const Truth condition = both ? state_.status : inverse(state_.status);
    run_either(condition, [&] { run(statement.parts[i]); }, [] {});
  }
}

void Shell::run_pipeline(const Statement& statement) {
  Text* const out = out_;
  const Text* const in = in_;
  Text passed;
  for (std::size_t i = 0; i < statement.parts.size(); ++i) {
    const bool last = i + 1 == statement.parts.size();
    Text printed;
    out_ = last ? out : &printed;
    in_subshell([&] { run(statement.parts[i]); });
    passed = std::move(printed);
    in_ = &passed;
  }
  out_ = out;
  in_ = in;
}

void Shell::run_branch(const Statement& statement, std::size_t from) {
  if (from >= statement.parts.size()) {
    state_.status = Truth::yes;
    return;
  }
  if (from + 1 == statement.parts.size()) return run(statement.parts[from]);
  if (++depth_ > deepest_block) {
    note_here("too many branches; the rest is left out");
  } else {
    run(statement.parts[from]);
    if (state_.flow == Flow::on) {
      run_either(
          state_.status, [&] { run(statement.parts[from + 1]); },
          [&] { run_branch(statement, from + 2); });
    }
  }
  --depth_;
}

void Shell::run_choice(const Statement& statement) {
  const auto subject = single(text(statement.words[0]), place(statement.words[0]));
  run_choice_items(statement, subject, 0);
}

}  // namespace schedmate::command
