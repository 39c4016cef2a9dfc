// The terminal behind standard error: is there one, how wide is it.
#pragma once

namespace cloze::platform {

// True when standard error is a terminal that can redraw a line (TERM is not "dumb").
bool is_interactive_terminal();
int terminal_columns();  // 80 when unknown

}  // namespace cloze::platform
