// Package overlays is what lies over the viewer's panes and has keyboard and mouse until it
// closes: the help, lists to choose from by fuzzy search, a line to type into the bar, a
// question to be confirmed, what waits for an approval; and the panel of hints, which takes no keys.
//
//	key, paste, mouse ──→ Overlay ──→ Result: close, and what to do then
//	Screen (canvas, theme, keys, bar) ──→ Draw
//
// Overlays are pure machines: they start nothing and know no viewer. What an item or an answer
// does is a function that was given to them, and is run by the caller after the overlay was
// closed, so that it may open another one. Positions are cells of the terminal, 0-based.
package overlays
