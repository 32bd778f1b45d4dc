package view

import (
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// tmuxKeys are keys after the prefix that tmux has (list-keys, of 3.5) and no action here has, by the commands that they are
// there: what is done of these is done, of the others it is said what does it.
func tmuxKeys() map[string]string {
	return map[string]string{
		"C-o": "rotate-window", "M-o": "rotate-window -D", "0": "select-window -t 0", "t": "clock-mode", "=": "choose-buffer",
		"-": "delete-buffer", "#": "list-buffers", "D": "choose-client", "C-z": "suspend-client", "~": "show-messages", "C": "customize-mode",
		"<": "display-menu", ">": "display-menu", "r": "refresh-client",
	}
}

// tmuxHabits are those that are no single command here; an action in braces is its key.
func tmuxHabits() map[string]string {
	return map[string]string{
		"(": "all sessions are in one viewer: {pick} finds any, {tab-previous} goes to the tab before", ")": "all sessions are in one viewer: {pick} finds any, {tab-next} goes to the next tab",
		"L": "all sessions are in one viewer: {tab-last} goes to the tab that was shown before", "M-p": "{next-alert} goes through all that want something",
		"m": "no marks; {swap} moves the pane, {palette} join-pane -s TAB takes one from another tab",
		"M": "no marks; {swap} moves the pane, {palette} join-pane -s TAB takes one from another tab",
	}
}

// tmuxKey does what a key of tmux does there, or says what to do instead; false: tmux has no such key.
func (v *viewer) tmuxKey(k input.Key) bool {
	key := input.Key{Code: k.Code, Mods: k.Mods &^ (input.CapsLock | input.NumLock)}.String()
	switch key {
	case "'":
		v.askTab("tab, by its number or name: ", selectWindow)
		return true
	case ".":
		v.askTab("number of the tab's new place: ", moveWindow)
		return true
	}
	if line := tmuxKeys()[key]; line != "" {
		typedCommand(v, line, false).Do()
		return true
	}
	why := tmuxHabits()[key]
	if why == "" {
		return false
	}
	v.message = ""
	for part := range strings.SplitSeq(why, "{") {
		if action, after, is := strings.Cut(part, "}"); is {
			part = v.keys.Chord(keymap.Action(action)) + after
		}
		v.message += part
	}
	return true
}

// askTab asks for a tab and does something with it.
func (v *viewer) askTab(text string, of func(v *viewer, words []string) func()) {
	v.open(overlays.NewPrompt(text, "", func(name string) {
		if name = strings.TrimSpace(name); name == "" {
			return
		}
		if do := of(v, []string{"-t", name}); do != nil {
			do()
			return
		}
		v.message = "no tab " + canvas.Printable(name)
	}))
}
