// Package keymap is the table of the viewer's actions and their keys. Hints, help, palette and the documentation are
// generated from it.
package keymap

// Action is the name of an action.
type Action string

// Row is an action with its keys.
type Row struct {
	Action Action
	Chords []string // names as input.ParseKey reads them
	Group  string   // heading in help
	Short  string   // text in hints; "": only in help
	Help   string
	Brief  string // text in hints in place of the chords: the keys of several rows
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

// Prefix lists the keys after the prefix.
var Prefix = []Row{
	{"new", []string{"n"}, Sessions, "new", "start a session in the focused session's directory", ""},
	{"pick", []string{"p"}, Sessions, "pick", "pick a session from a list, with a live preview", ""},
	{"overview", []string{"v"}, Sessions, "overview", "all sessions, by urgency; answer in place", ""},
	{"details", []string{"i"}, Sessions, "details", "environment, rules, commands, jobs and limits of the session", ""},
	{"next-alert", []string{"a"}, Sessions, "alert", "go to the next session that needs attention", ""},
	{"approvals", []string{"A"}, Sessions, "approve", "pending approvals: allow or reject", ""},
	{"inbox", []string{"I"}, Sessions, "inbox", "what needs your attention; answer in place", ""},
	{"changes", []string{"V"}, Sessions, "changes", "file changes of the session's draft: diff, commit, discard", ""},
	{"kill", []string{"x"}, Sessions, "kill", "kill the session (asks)", ""},
	{"close", []string{"c"}, Sessions, "close", "close the pane; the session keeps running", ""},
	{"restart", []string{"R"}, Sessions, "restart", "restart an ended session", ""},
	{"rename", []string{"r"}, Sessions, "rename", "rename the session", ""},
	{"go", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, Sessions, "go to", "focus a session by its number", ""},

	{"split-right", []string{"|", "\\", "%"}, Panes, "split right", "start a session to the right", ""},
	{"split-down", []string{"-", "\""}, Panes, "split down", "start a session below", ""},
	{"next", []string{"Tab"}, Panes, "next", "focus the next pane", ""},
	{"previous", []string{"S-Tab"}, Panes, "", "focus the previous pane", ""},
	{"last", []string{"`"}, Panes, "", "focus the last pane", ""},
	{"pane-go", []string{"Q"}, Panes, "", "focus a pane by its number (next key)", ""},
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
	{"main-left", []string{"C-l"}, Panes, "", "arrange the panes with the first one on the left", ""},
	{"main-above", []string{"C-a"}, Panes, "", "arrange the panes with the first one on top", ""},
	{"columns", []string{"C-v"}, Panes, "", "arrange the panes side by side", ""},
	{"rows", []string{"C-r"}, Panes, "", "arrange the panes one below the other", ""},
	{"swap", []string{"m"}, Panes, "swap", "swap the pane with the next one", ""},
	{"swap-before", []string{"M"}, Panes, "", "swap the pane with the previous one", ""},
	{"floats", []string{"O"}, Panes, "floating", "show or hide the tab's floating panes; without any, start a session in one", ""},
	{"float", []string{"F"}, Panes, "float", "float the pane, or tile it again", ""},
	{"float-new", []string{"N"}, Panes, "", "start a session in a floating pane", ""},
	{"float-left", []string{"M-h", "M-Left"}, Panes, "", "move the floating pane to the left", ""},
	{"float-down", []string{"M-j", "M-Down"}, Panes, "", "move the floating pane down", ""},
	{"float-up", []string{"M-k", "M-Up"}, Panes, "", "move the floating pane up", ""},
	{"float-right", []string{"M-l", "M-Right"}, Panes, "", "move the floating pane to the right", ""},
	{"pin", []string{"*"}, Panes, "pin", "pin the floating pane over all tabs", ""},
	{"stack", []string{"_"}, Panes, "stack", "stack the pane with the previous one, or unstack it", ""},
	{"frames", []string{"#"}, Panes, "", "toggle borders around panes", ""},

	{"tab-new", []string{"t"}, Tabs, "tab", "start a session in a new tab", ""},
	{"tab-next", []string{"]"}, Tabs, "tabs", "next tab", "[ ]"},
	{"tab-previous", []string{"["}, Tabs, "", "previous tab", ""},
	{"tab-last", []string{"'"}, Tabs, "", "last tab", ""},
	{"tab-go", []string{"M-1", "M-2", "M-3", "M-4", "M-5", "M-6", "M-7", "M-8", "M-9"}, Tabs, "", "go to a tab by its number", ""},
	{"tab-move", []string{"b"}, Tabs, "to a tab", "move the pane to a new tab", ""},
	{"tab-rename", []string{","}, Tabs, "name tab", "rename the tab", ""},
	{"tab-close", []string{"&"}, Tabs, "close tab", "close the tab; its sessions keep running", ""},
	{"reopen", []string{"u"}, Tabs, "undo close", "reopen the last closed tab or pane", ""},
	{"all", []string{"g"}, Tabs, "grid", "show all sessions in a grid, or go back", ""},
	{"layout-save", []string{"w"}, Tabs, "save layout", "save the layout under a name", ""},
	{"layout-load", []string{"W"}, Tabs, "load layout", "load a saved layout", ""},

	{"scroll", []string{"s", "PageUp"}, CopyMode, "scroll", "copy mode: scroll, search, select, copy", ""},
	{"search", []string{"/"}, CopyMode, "search", "search the output", ""},
	{"command-previous", []string{"C-Up"}, CopyMode, "last command", "show the previous command", ""},
	{"past", []string{"B"}, CopyMode, "past", "earlier states of the session: ← → 5 seconds, ↑ ↓ a minute, / searches, q closes", ""},
	{"paste", []string{"P"}, CopyMode, "", "paste the last copied text", ""},
	{"copy-output", []string{"o"}, CopyMode, "copy output", "copy the output of the last command", ""},
	{"errors", []string{"E"}, CopyMode, "errors", "list errors; Enter opens $EDITOR at one", ""},
	{"error-next", []string{"."}, CopyMode, "", "open $EDITOR at the next error", ""},
	{"error-previous", []string{">"}, CopyMode, "", "open $EDITOR at the previous error", ""},

	{"shell", []string{"!"}, Typing, "run a line", "type a shell command; its output appears below the panes", ""},
	{"prompt", []string{";"}, Typing, "prompt", "type a line for the session, or a /command", ""},
	{"sync", []string{"y"}, Typing, "sync", "type into all panes of the tab at once", ""},
	{"read-only", []string{"e"}, Typing, "read-only", "keep keys from all sessions", ""},
	{"follow", []string{"f"}, Typing, "follow", "focus sessions that need attention", ""},
	{"size", []string{"S"}, Typing, "size", "size policy: latest, largest, smallest, fixed, none", ""},

	{"palette", []string{":", "Enter"}, Viewer, "palette", "find any of these by name", ""},
	{"theme", []string{"T"}, Viewer, "theme", "next theme", ""},
	{"help", []string{"?"}, Viewer, "help", "these keys", ""},
	{"quit", []string{"q", "d"}, Viewer, "quit", "quit; sessions keep running", ""},
}

// Scroll lists the keys in copy mode.
var Scroll = []Row{
	{"scroll-up", []string{"Up", "k"}, CopyMode, "", "a row up", ""},
	{"scroll-down", []string{"Down", "j"}, CopyMode, "", "a row down", ""},
	{"scroll-left", []string{"Left", "h"}, CopyMode, "", "a column left", ""},
	{"scroll-right", []string{"Right", "l"}, CopyMode, "", "a column right", ""},
	{"scroll-word", []string{"w"}, CopyMode, "", "next word", ""},
	{"scroll-word-back", []string{"b"}, CopyMode, "", "previous word", ""},
	{"scroll-word-end", []string{"e"}, CopyMode, "", "end of the word", ""},
	{"scroll-word-behind", []string{"M-f"}, CopyMode, "", "after the word", ""},
	{"scroll-big-word", []string{"W"}, CopyMode, "", "next word, separated by blanks", ""},
	{"scroll-big-word-back", []string{"B"}, CopyMode, "", "previous word, separated by blanks", ""},
	{"scroll-big-word-end", []string{"E"}, CopyMode, "", "end of the word, separated by blanks", ""},
	{"scroll-jump", []string{"f"}, CopyMode, "", "jump to the next occurrence of a character in the row", ""},
	{"scroll-jump-back", []string{"F"}, CopyMode, "", "jump back to a character", ""},
	{"scroll-jump-to", []string{"t"}, CopyMode, "", "jump to just before a character", ""},
	{"scroll-jump-to-back", []string{"T"}, CopyMode, "", "jump back to just after a character", ""},
	{"scroll-jump-again", []string{";"}, CopyMode, "", "repeat the jump", ""},
	{"scroll-jump-reverse", []string{","}, CopyMode, "", "repeat the jump in reverse", ""},
	{"scroll-text-begin", []string{"^"}, CopyMode, "", "first character of the row", ""},
	{"scroll-home", []string{"Home", "0"}, CopyMode, "", "beginning of the row", ""},
	{"scroll-line-end", []string{"End", "$"}, CopyMode, "", "end of the row", ""},
	{"scroll-line-behind", []string{"M-e"}, CopyMode, "", "after the end of the row", ""},
	{"scroll-page-up", []string{"PageUp", "C-b"}, CopyMode, "", "a page up", ""},
	{"scroll-page-down", []string{"PageDown", "C-f"}, CopyMode, "", "a page down", ""},
	{"scroll-half-up", []string{"C-u"}, CopyMode, "", "half a page up", ""},
	{"scroll-half-down", []string{"C-d"}, CopyMode, "", "half a page down", ""},
	{"scroll-view-up", []string{"C-y"}, CopyMode, "", "scroll a row up, cursor stays", ""},
	{"scroll-view-down", []string{"C-e"}, CopyMode, "", "scroll a row down, cursor stays", ""},
	{"scroll-top", []string{"g", "C-Home"}, CopyMode, "", "oldest row", ""},
	{"scroll-bottom", []string{"G", "C-End"}, CopyMode, "", "newest row", ""},
	{"scroll-screen-top", []string{"H"}, CopyMode, "", "first visible row", ""},
	{"scroll-screen-middle", []string{"M"}, CopyMode, "", "middle row", ""},
	{"scroll-screen-bottom", []string{"L"}, CopyMode, "", "last visible row", ""},
	{"scroll-search", []string{"/"}, CopyMode, "search", "search as you type; Ctrl-R: as a regular expression", ""},
	{"scroll-match-up", []string{"n"}, CopyMode, "next", "previous match (older)", ""},
	{"scroll-match-down", []string{"N"}, CopyMode, "", "next match (newer)", ""},
	{"scroll-command-up", []string{"{", "[", "C-Up"}, CopyMode, "command", "previous command", ""},
	{"scroll-command-down", []string{"}", "]", "C-Down"}, CopyMode, "", "next command", ""},
	{"scroll-mark", []string{"M-s"}, CopyMode, "", "select characters, without the one at the cursor", ""},
	{"scroll-select", []string{"v", "Space"}, CopyMode, "select", "select characters", ""},
	{"scroll-select-rows", []string{"V"}, CopyMode, "rows", "select rows", ""},
	{"scroll-select-block", []string{"C-v"}, CopyMode, "block", "select a rectangle", ""},
	{"scroll-other-end", []string{"O"}, CopyMode, "", "other end of the selection", ""},
	{"scroll-copy", []string{"y", "Enter"}, CopyMode, "copy", "copy the selection and leave copy mode", ""},
	{"scroll-copy-line-end", []string{"D"}, CopyMode, "", "copy to the end of the row and leave copy mode", ""},
	{"scroll-copy-output", []string{"o"}, CopyMode, "copy output", "copy the output of the command at the cursor", ""},
	{"scroll-leave", []string{"q", "i"}, CopyMode, "back", "leave copy mode", ""},
	{"scroll-unselect", []string{"Escape"}, CopyMode, "unselect", "drop the selection, or leave copy mode", ""},
}
