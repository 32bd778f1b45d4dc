package view

import (
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// tmuxKeys maps keys of tmux 3.5 after the prefix (list-keys) that have no action here to their tmux commands. Commands
// that exist here are run; for others the viewer shows what replaces them.
func tmuxKeys() map[string]string {
	return map[string]string{
		"C-o": "rotate-window", "M-o": "rotate-window -D", "0": "select-window -t 0", "t": "clock-mode", "=": "choose-buffer",
		"-": "delete-buffer", "#": "list-buffers", "D": "choose-client", "C-z": "suspend-client", "~": "show-messages", "C": "customize-mode",
		"<": "display-menu", ">": "display-menu", "r": "refresh-client",
	}
}

// tmuxHabits maps keys without a single command here to hints; an action in braces becomes its key.
func tmuxHabits() map[string]string {
	return map[string]string{
		"(": "all sessions are in one viewer: {pick} finds one, {tab-previous} shows the previous tab", ")": "all sessions are in one viewer: {pick} finds one, {tab-next} shows the next tab",
		"L": "all sessions are in one viewer: {tab-last} shows the last tab", "M-p": "{next-alert} goes through the sessions that need attention",
		"m": "no marks; {swap} moves the pane, {palette} join-pane -s TAB moves a pane here",
		"M": "no marks; {swap} moves the pane, {palette} join-pane -s TAB moves a pane here",
	}
}

// tmuxKey runs a key of tmux, or shows what to do instead. It returns false if tmux has no such key.
func (v *viewer) tmuxKey(k input.Key) bool {
	key := input.Key{Code: k.Code, Mods: k.Mods &^ (input.CapsLock | input.NumLock)}.String()
	switch key {
	case "'":
		v.askTab("tab number or name: ", selectWindow)
		return true
	case ".":
		v.askTab("new position of the tab: ", moveWindow)
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

// askTab prompts for a tab and passes it to a command.
func (v *viewer) askTab(text string, bind func(v *viewer, words []string) func()) {
	v.open(overlays.NewPrompt(text, "", func(name string) {
		if name = strings.TrimSpace(name); name == "" {
			return
		}
		if do := bind(v, []string{"-t", name}); do != nil {
			do()
			return
		}
		v.message = "no tab " + canvas.Printable(name)
	}))
}
