package view

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/session/spelling"
)

// tmuxName is a command of tmux (tmux(1), of 3.5) by its names, the full one first.
type tmuxName struct {
	names   string
	instead string // what does here what it does there; empty: the palette finds an action by the name
}

const (
	clipboard = "the clipboard is your system's: `copy mode` copies into it, `paste` takes from it"
	configure = "`longterm config` lists what can be set, `longterm config set KEY VALUE` sets it"
	locking   = "sessions are not locked; `read only` lets no key reach any"
	nothing   = "there is no such thing here"
)

// tmuxNames are all of tmux's commands.
var tmuxNames = []tmuxName{
	{"attach-session attach", ""}, {"bind-key bind", "`longterm config set keys.ACTION KEY`, as in keys.zoom F11"},
	{"break-pane breakp", ""}, {"capture-pane capturep", "`longterm screen SESSION`, or `longterm output SESSION`"},
	{"choose-buffer", clipboard}, {"choose-client", "`longterm clients SESSION` lists who is there, --detach N takes one off"}, {"choose-tree", ""},
	{"clear-history clearhist", "`longterm prune` lets go of history"}, {"clear-prompt-history clearphist", nothing}, {"clock-mode", nothing},
	{"command-prompt", "this is it"}, {"confirm-before confirm", nothing}, {"copy-mode", ""}, {"customize-mode", configure},
	{"delete-buffer deleteb", clipboard}, {"detach-client detach", "`longterm attach -d SESSION`, `longterm clients SESSION`"},
	{"display-menu menu", nothing}, {"display-message display", ""}, {"display-panes displayp", ""},
	{"display-popup popup", ""}, {"find-window findw", ""},
	{"has-session has", "`longterm info SESSION` ends with 3 where there is none"}, {"if-shell if", "`longterm run -- COMMAND` ends as the command does"},
	{"join-pane joinp", ""},
	{"kill-pane killp", "`longterm kill SESSION` is for others than the focused one"},
	{"kill-server", "`longterm daemon stop --kill-sessions` ends all"}, {"kill-session", ""},
	{"kill-window killw", "without words it is for the tab that is shown"}, {"last-pane lastp", ""}, {"last-window last", ""},
	{"link-window linkw", "a session may stand in several tabs: `pick` shows it"}, {"list-buffers lsb", clipboard},
	{"list-clients lsc", "`longterm clients SESSION` lists them"}, {"list-commands lscm", "without any word all stands here"}, {"list-keys lsk", ""},
	{"list-panes lsp", "`longterm ls` lists the sessions"}, {"list-sessions ls", "`longterm ls` lists them, `-F` as you like"}, {"list-windows lsw", "`longterm layout dump` prints the tabs"},
	{"load-buffer loadb", clipboard}, {"lock-client lockc", locking}, {"lock-server lock", locking}, {"lock-session locks", locking},
	{"move-pane movep", ""},
	{"move-window movew", ""}, {"new-session new", ""}, {"new-window neww", ""}, {"next-layout nextl", ""}, {"next-window next", ""},
	{"paste-buffer pasteb", ""}, {"pipe-pane pipep", "`longterm pipe SESSION COMMAND` does that"}, {"previous-layout prevl", "`arrange` goes on to the next one"},
	{"previous-window prev", ""}, {"refresh-client refresh", "there is nothing to mend"}, {"rename-session rename", ""}, {"rename-window renamew", ""},
	{"resize-pane resizep", ""}, {"resize-window resizew", "`longterm resize SESSION COLSxROWS` does that, or `size`"}, {"respawn-pane respawnp", ""},
	{"respawn-window respawnw", ""}, {"rotate-window rotatew", ""}, {"run-shell run", "`shell` runs a line, and so does `longterm run`"},
	{"save-buffer saveb", clipboard}, {"select-layout selectl", ""}, {"select-pane selectp", ""}, {"select-window selectw tab-go", ""}, // the last is the action's name, which has no line in the palette

	{"send-keys send", "`longterm send SESSION TEXT`, `longterm keys SESSION KEYS`"},
	{"send-prefix", "pressed twice, the prefix is the session's"}, {"server-access", "`longterm share SESSION` lets others in"}, {"set-buffer setb", clipboard},
	{"set-environment setenv", "`longterm new --env NAME=VALUE` starts a session with one"}, {"set-hook", "`longterm events hook`, or [[hooks]] of the configuration"},
	{"set-option set", configure}, {"set-window-option setw", configure}, {"show-buffer showb", clipboard}, {"show-environment showenv", "`details` has it"},
	{"show-hooks", "`longterm events ls` lists them"}, {"show-messages showmsgs", "`longterm events` prints them"}, {"show-options show", configure},
	{"show-prompt-history showphist", nothing}, {"show-window-options showw", configure},
	{"source-file source", "`longterm config edit`; a change is taken at once"},
	{"split-window splitw", ""}, {"start-server start", "it runs"}, {"suspend-client suspendc", "`quit` leaves; everything goes on"}, {"swap-pane swapp", "without -U or -D there is no other pane to swap with"},
	{"swap-window swapw", ""}, {"switch-client switchc", ""}, {"unbind-key unbind", "`longterm config set keys.ACTION \"\"` takes its keys away"},
	{"unlink-window unlinkw", ""}, {"wait-for wait", "`longterm wait SESSION --for WHAT` does that"},
}

// settings are what options of tmux are in the configuration.
var settings = map[string]string{
	"mouse": "`longterm config set view.mouse true`, or false", "mode-keys": "`longterm config set view.keys tmux-vi`, or -emacs",
	"status-keys": "`longterm config set view.keys tmux-vi`, or -emacs", "prefix": "`longterm config set view.prefix C-a`",
	"history-limit": "all is kept, within retention.session_bytes", "default-shell": "`longterm config set shells.default PATH`",
	"default-terminal": "nothing has to be set", "set-clipboard": "it is so without it",
	"base-index": "tabs and panes count from 1", "pane-base-index": "tabs and panes count from 1", "escape-time": "nothing has to be set: Escape is not waited for",
	"renumber-windows": "tabs are numbered anew by themselves", "synchronize-panes": "write `setw synchronize-panes on`, or off",
	"update-environment": "`longterm config set shells.renew NAME…`", "monitor-activity": "alerts come by themselves", "status": "the bar is always there",
}

// commandsCalled are the commands that a word may be: the one of that name, else those whose names begin so, as tmux takes them.
func commandsCalled(word string) (names []string) {
	for _, c := range tmuxNames {
		all := strings.Fields(c.names)
		if slices.Contains(all, word) {
			return all[:1]
		}
		if strings.HasPrefix(all[0], word) {
			names = append(names, all[0])
		}
	}
	return names
}

// notDone says why a line does nothing, and what would. names are the commands that its first word may be.
func (v *viewer) notDone(words, names []string) string {
	switch {
	case len(names) > 1:
		return "ambiguous command: " + canvas.Printable(words[0]) + ", could be: " + strings.Join(names, ", ")
	case len(names) == 0:
		return v.unknown(words[0])
	}
	if names[0] == "set-option" || names[0] == "set-window-option" {
		for _, w := range words[1:] {
			if how := settings[w]; how != "" {
				return names[0] + " " + w + ": " + how
			}
		}
	}
	if c := typedCommands()[names[0]]; c.write != "" {
		return "write " + c.write
	}
	i := slices.IndexFunc(tmuxNames, func(c tmuxName) bool { return strings.HasPrefix(c.names+" ", names[0]+" ") })
	if tmuxNames[i].instead == "" {
		return "write " + names[0] + " alone"
	}
	return names[0] + ": " + tmuxNames[i].instead
}

// unknown says that a word is no command, and which was probably meant.
func (v *viewer) unknown(word string) string {
	var names []string
	for i := range v.keys.Prefix {
		names = append(names, v.keys.Prefix[i].Name(), string(v.keys.Prefix[i].Action))
	}
	for _, c := range tmuxNames {
		names = append(names, strings.Fields(c.names)...)
	}
	text := "unknown command: " + canvas.Printable(word)
	if near := spelling.Near(word, names); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return text
}
