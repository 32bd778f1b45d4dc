// Package keymap is the table of everything a person can do in the viewer, and by which
// keys. Hints, help, palette and the documentation are made from it.
package keymap

// Action names what a key does.
type Action string

// Row is an action with its keys.
type Row struct {
	Action Action
	Chords []string // names as input.ParseKey reads them
	Group  string   // heading in help
	Short  string   // in hints; empty: only in help
	Help   string
	Brief  string // in hints instead of the chords: those of several rows
}

// Groups of actions, in the order they are shown.
const (
	Sessions = "Sessions"
	Panes    = "Panes"
	Tabs     = "Tabs"
	CopyMode = "Copy mode"
	Typing   = "Typing"
	Viewer   = "Viewer"
)

// Prefix are the keys after the prefix.
var Prefix = []Row{
	{"new", []string{"n"}, Sessions, "new", "start a session in the focused one's directory", ""},
	{"pick", []string{"p"}, Sessions, "pick", "pick a session from a list, with a live preview", ""},
	{"overview", []string{"v"}, Sessions, "overview", "all sessions, those first that want you; answer in place", ""},
	{"details", []string{"i"}, Sessions, "details", "environment, rules, commands, jobs and limits of the session", ""},
	{"next-alert", []string{"a"}, Sessions, "alert", "go to the next session that wants attention", ""},
	{"approvals", []string{"A"}, Sessions, "approve", "what waits for your approval: allow or reject it", ""},
	{"kill", []string{"x"}, Sessions, "kill", "kill the session (asks)", ""},
	{"close", []string{"c"}, Sessions, "close", "take the pane away; the session goes on", ""},
	{"restart", []string{"R"}, Sessions, "again", "start an ended session again", ""},
	{"rename", []string{"r"}, Sessions, "rename", "give the session another name", ""},
	{"go", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Sessions, "go to", "focus a session by its number", ""},

	{"split-right", []string{"|", "\\", "%"}, Panes, "split right", "start a session to the right", ""},
	{"split-down", []string{"-", "\""}, Panes, "split down", "start a session below", ""},
	{"next", []string{"Tab"}, Panes, "next", "focus the next pane", ""},
	{"previous", []string{"S-Tab"}, Panes, "", "focus the pane before", ""},
	{"last", []string{"`"}, Panes, "", "focus the pane that had the focus before", ""},
	{"pane-go", []string{"Q"}, Panes, "", "focus a pane by its number, which is the next key", ""},
	{"left", []string{"h", "Left"}, Panes, "focus", "focus the pane to the left", "hjkl"},
	{"down", []string{"j", "Down"}, Panes, "", "focus the pane below", ""},
	{"up", []string{"k", "Up"}, Panes, "", "focus the pane above", ""},
	{"right", []string{"l", "Right"}, Panes, "", "focus the pane to the right", ""},
	{"zoom", []string{"z"}, Panes, "zoom", "show only this pane, or all again", ""},
	{"wider", []string{"L", "S-Right"}, Panes, "resize", "make the pane wider", "HJKL"},
	{"narrower", []string{"H", "S-Left"}, Panes, "", "make the pane narrower", ""},
	{"taller", []string{"J", "S-Down"}, Panes, "", "make the pane taller", ""},
	{"shorter", []string{"K", "S-Up"}, Panes, "", "make the pane shorter", ""},
	{"even", []string{"="}, Panes, "even", "give all panes the same space", ""},
	{"arrange", []string{"Space"}, Panes, "arrange", "next arrangement: tiles, main left, main above, columns, rows, stacked", ""},
	{"tiles", []string{"C-t"}, Panes, "", "arrange the panes as tiles", ""},
	{"main-left", []string{"C-l"}, Panes, "", "arrange them with the first one on the left", ""},
	{"main-above", []string{"C-a"}, Panes, "", "arrange them with the first one above", ""},
	{"columns", []string{"C-v"}, Panes, "", "arrange them side by side", ""},
	{"rows", []string{"C-r"}, Panes, "", "arrange them one below the other", ""},
	{"swap", []string{"m"}, Panes, "swap", "swap the pane with the next one", ""},
	{"swap-before", []string{"M"}, Panes, "", "swap the pane with the one before", ""},
	{"floats", []string{"O"}, Panes, "floating", "show or hide the tab's floating panes; without any, start a session in one", ""},
	{"float", []string{"F"}, Panes, "float", "have the pane float over the others, or stand beside them again", ""},
	{"float-new", []string{"N"}, Panes, "", "start a session in a floating pane", ""},
	{"float-left", []string{"M-h", "M-Left"}, Panes, "", "move the floating pane to the left", ""},
	{"float-down", []string{"M-j", "M-Down"}, Panes, "", "move the floating pane down", ""},
	{"float-up", []string{"M-k", "M-Up"}, Panes, "", "move the floating pane up", ""},
	{"float-right", []string{"M-l", "M-Right"}, Panes, "", "move the floating pane to the right", ""},
	{"pin", []string{"*"}, Panes, "pin", "have the floating pane stay in sight, over all tabs", ""},
	{"stack", []string{"_"}, Panes, "stack", "put the pane and the one before in one place, of which one is open; or take it out", ""},
	{"frames", []string{"#"}, Panes, "", "draw a border around each pane, or none", ""},

	{"tab-new", []string{"t"}, Tabs, "tab", "start a session in a new tab", ""},
	{"tab-next", []string{"]"}, Tabs, "tabs", "next tab", "[ ]"},
	{"tab-previous", []string{"["}, Tabs, "", "tab before", ""},
	{"tab-last", []string{"'"}, Tabs, "", "the tab that was shown before", ""},
	{"tab-go", []string{"M-1", "M-2", "M-3", "M-4", "M-5", "M-6", "M-7", "M-8", "M-9"}, Tabs, "", "go to a tab by its number", ""},
	{"tab-move", []string{"b"}, Tabs, "to a tab", "move the pane to a tab of its own", ""},
	{"tab-rename", []string{","}, Tabs, "name tab", "give the tab a name", ""},
	{"tab-close", []string{"&"}, Tabs, "close tab", "close the tab; its sessions go on", ""},
	{"reopen", []string{"u"}, Tabs, "undo close", "bring back the tab or pane that was closed last", ""},
	{"all", []string{"g"}, Tabs, "grid", "show all sessions in a grid, or go back", ""},
	{"layout-save", []string{"w"}, Tabs, "save layout", "save tabs and panes under a name", ""},
	{"layout-load", []string{"W"}, Tabs, "load layout", "load tabs and panes that were saved", ""},

	{"scroll", []string{"s", "PageUp"}, CopyMode, "scroll", "copy mode: scroll, search, select, copy", ""},
	{"search", []string{"/"}, CopyMode, "search", "search what was printed", ""},
	{"command-previous", []string{"C-Up"}, CopyMode, "last command", "look at the command before", ""},
	{"past", []string{"B"}, CopyMode, "past", "the session as it was, beside it as it is: ← → 5 seconds, ↑ ↓ a minute, / searches, q closes", ""},
	{"paste", []string{"P"}, CopyMode, "", "paste what was copied here last", ""},
	{"copy-output", []string{"o"}, CopyMode, "copy output", "copy what the last command printed", ""},
	{"errors", []string{"E"}, CopyMode, "errors", "the first error and those after it; Enter opens $EDITOR there", ""},
	{"error-next", []string{"."}, CopyMode, "", "open $EDITOR at the next error", ""},
	{"error-previous", []string{">"}, CopyMode, "", "open $EDITOR at the error before", ""},

	{"shell", []string{"!"}, Typing, "run a line", "type a shell command below the panes; its output comes there", ""},
	{"prompt", []string{";"}, Typing, "prompt", "type a line for the session, or a /command", ""},
	{"sync", []string{"y"}, Typing, "sync", "type into all panes of the tab at once", ""},
	{"read-only", []string{"e"}, Typing, "read-only", "let no key reach any session", ""},
	{"follow", []string{"f"}, Typing, "follow", "let the focus follow what wants attention", ""},
	{"size", []string{"S"}, Typing, "size", "whose size the session takes: latest, largest, smallest, fixed, none", ""},

	{"palette", []string{":", "Enter"}, Viewer, "palette", "find any of these by name", ""},
	{"theme", []string{"T"}, Viewer, "theme", "next theme", ""},
	{"help", []string{"?"}, Viewer, "help", "these keys", ""},
	{"quit", []string{"q", "d"}, Viewer, "quit", "quit; the sessions go on", ""},
}

// Scroll are the keys in copy mode.
var Scroll = []Row{
	{"scroll-up", []string{"Up", "k"}, CopyMode, "", "a row up", ""},
	{"scroll-down", []string{"Down", "j"}, CopyMode, "", "a row down", ""},
	{"scroll-left", []string{"Left", "h"}, CopyMode, "", "a column left", ""},
	{"scroll-right", []string{"Right", "l"}, CopyMode, "", "a column right", ""},
	{"scroll-word", []string{"w"}, CopyMode, "", "next word", ""},
	{"scroll-word-back", []string{"b"}, CopyMode, "", "word before", ""},
	{"scroll-word-end", []string{"e"}, CopyMode, "", "end of the word", ""},
	{"scroll-word-behind", []string{"M-f"}, CopyMode, "", "behind the word", ""},
	{"scroll-big-word", []string{"W"}, CopyMode, "", "next word, words between blanks", ""},
	{"scroll-big-word-back", []string{"B"}, CopyMode, "", "word before, words between blanks", ""},
	{"scroll-big-word-end", []string{"E"}, CopyMode, "", "end of the word, words between blanks", ""},
	{"scroll-jump", []string{"f"}, CopyMode, "", "to the next place in the row of the character that is typed then", ""},
	{"scroll-jump-back", []string{"F"}, CopyMode, "", "to the place before of a character", ""},
	{"scroll-jump-to", []string{"t"}, CopyMode, "", "before the next place of a character", ""},
	{"scroll-jump-to-back", []string{"T"}, CopyMode, "", "behind the place before of a character", ""},
	{"scroll-jump-again", []string{";"}, CopyMode, "", "to the next place of that character", ""},
	{"scroll-jump-reverse", []string{","}, CopyMode, "", "the same the other way", ""},
	{"scroll-text-begin", []string{"^"}, CopyMode, "", "first character of the row", ""},
	{"scroll-home", []string{"Home", "0"}, CopyMode, "", "beginning of the row", ""},
	{"scroll-line-end", []string{"End", "$"}, CopyMode, "", "end of the row", ""},
	{"scroll-line-behind", []string{"M-e"}, CopyMode, "", "behind the end of the row", ""},
	{"scroll-page-up", []string{"PageUp", "C-b"}, CopyMode, "", "a page up", ""},
	{"scroll-page-down", []string{"PageDown", "C-f"}, CopyMode, "", "a page down", ""},
	{"scroll-half-up", []string{"C-u"}, CopyMode, "", "half a page up", ""},
	{"scroll-half-down", []string{"C-d"}, CopyMode, "", "half a page down", ""},
	{"scroll-view-up", []string{"C-y"}, CopyMode, "", "what is shown a row up, the cursor stays", ""},
	{"scroll-view-down", []string{"C-e"}, CopyMode, "", "what is shown a row down, the cursor stays", ""},
	{"scroll-top", []string{"g", "C-Home"}, CopyMode, "", "oldest row", ""},
	{"scroll-bottom", []string{"G", "C-End"}, CopyMode, "", "newest row", ""},
	{"scroll-screen-top", []string{"H"}, CopyMode, "", "first row that is shown", ""},
	{"scroll-screen-middle", []string{"M"}, CopyMode, "", "row in the middle", ""},
	{"scroll-screen-bottom", []string{"L"}, CopyMode, "", "last row that is shown", ""},
	{"scroll-search", []string{"/"}, CopyMode, "search", "search as you type; Ctrl-R: as a regular expression", ""},
	{"scroll-match-up", []string{"n"}, CopyMode, "next", "match before (older)", ""},
	{"scroll-match-down", []string{"N"}, CopyMode, "", "match after (newer)", ""},
	{"scroll-command-up", []string{"{", "[", "C-Up"}, CopyMode, "command", "command before", ""},
	{"scroll-command-down", []string{"}", "]", "C-Down"}, CopyMode, "", "command after", ""},
	{"scroll-mark", []string{"M-s"}, CopyMode, "", "select characters, up to the one before the cursor", ""},
	{"scroll-select", []string{"v", "Space"}, CopyMode, "select", "select characters", ""},
	{"scroll-select-rows", []string{"V"}, CopyMode, "rows", "select rows", ""},
	{"scroll-select-block", []string{"C-v"}, CopyMode, "block", "select a rectangle", ""},
	{"scroll-other-end", []string{"O"}, CopyMode, "", "other end of the selection", ""},
	{"scroll-copy", []string{"y", "Enter"}, CopyMode, "copy", "copy the selection and go back", ""},
	{"scroll-copy-line-end", []string{"D"}, CopyMode, "", "copy from the cursor to the end of the row and go back", ""},
	{"scroll-copy-output", []string{"o"}, CopyMode, "copy output", "copy what the command at the cursor printed", ""},
	{"scroll-leave", []string{"q", "i"}, CopyMode, "back", "back to the present", ""},
	{"scroll-unselect", []string{"Escape"}, CopyMode, "give up", "give up the selection; without one back to the present", ""},
}
