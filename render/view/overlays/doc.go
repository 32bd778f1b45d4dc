// Package overlays implements the panels over the viewer's panes that receive keyboard and mouse until they close:
// help, lists with fuzzy search, prompts in the status bar, questions, approval requests; and the panel of hints, which
// receives no keys.
//
// An Overlay gets keys, pastes and mouse events and returns a Result: whether to close, and a function to run then. It
// draws on a Screen (canvas, theme, keys, bar).
//
// Overlays do no I/O and do not know the viewer. An item or answer contains a function of its creator, which the caller
// runs after closing the overlay, so that it may open another overlay. Positions are cells of the terminal, 0-based.
package overlays
