package view

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// tmuxName is a command of tmux 3.5 (tmux(1)) by its names, the full one first.
type tmuxName struct {
	names   string
	instead string // replacement here; "": the palette finds an action by the name
}

const (
	clipboardHint    = "longterm uses the system clipboard: `copy mode` copies, `paste` pastes"
	configureHint    = "`longterm config` lists the options, `longterm config set KEY VALUE` sets one"
	lockingHint      = "sessions are not locked; `read only` keeps keys from all sessions"
	notAvailableHint = "not available in longterm"
)

// tmuxNames lists all tmux commands.
var tmuxNames = []tmuxName{
	{"attach-session attach", ""}, {"bind-key bind", "`longterm config set keys.ACTION KEY`, as in keys.zoom F11"},
	{"break-pane breakp", ""}, {"capture-pane capturep", "`longterm screen SESSION`, or `longterm output SESSION`"},
	{"choose-buffer", clipboardHint}, {"choose-client", "`longterm clients SESSION` lists clients, --detach N detaches one"}, {"choose-tree", ""},
	{"clear-history clearhist", "`longterm prune` deletes history"}, {"clear-prompt-history clearphist", notAvailableHint}, {"clock-mode", notAvailableHint},
	{"command-prompt", "you are using it"}, {"confirm-before confirm", notAvailableHint}, {"copy-mode", ""}, {"customize-mode", configureHint},
	{"delete-buffer deleteb", clipboardHint}, {"detach-client detach", "`longterm attach -d SESSION`, `longterm clients SESSION`"},
	{"display-menu menu", notAvailableHint}, {"display-message display", ""}, {"display-panes displayp", ""},
	{"display-popup popup", ""}, {"find-window findw", ""},
	{"has-session has", "`longterm info SESSION` exits with 3 if no session matches"}, {"if-shell if", "`longterm run -- COMMAND` exits with the command's status"},
	{"join-pane joinp", ""},
	{"kill-pane killp", "`longterm kill SESSION` kills a session that is not focused"},
	{"kill-server", "`longterm daemon stop --kill-sessions` kills all sessions"}, {"kill-session", ""},
	{"kill-window killw", "without arguments it kills the current tab"}, {"last-pane lastp", ""}, {"last-window last", ""},
	{"link-window linkw", "a session may be in several tabs: `pick` adds it"}, {"list-buffers lsb", clipboardHint},
	{"list-clients lsc", "`longterm clients SESSION` lists them"}, {"list-commands lscm", "an empty line lists all commands"}, {"list-keys lsk", ""},
	{"list-panes lsp", "`longterm ls` lists the sessions"}, {"list-sessions ls", "`longterm ls` lists them, -F sets the format"}, {"list-windows lsw", "`longterm layout dump` prints the tabs"},
	{"load-buffer loadb", clipboardHint}, {"lock-client lockc", lockingHint}, {"lock-server lock", lockingHint}, {"lock-session locks", lockingHint},
	{"move-pane movep", ""},
	{"move-window movew", ""}, {"new-session new", ""}, {"new-window neww", ""}, {"next-layout nextl", ""}, {"next-window next", ""},
	{"paste-buffer pasteb", ""}, {"pipe-pane pipep", "use `longterm pipe SESSION COMMAND`"}, {"previous-layout prevl", "`arrange` selects the next one"},
	{"previous-window prev", ""}, {"refresh-client refresh", "not needed: the viewer redraws by itself"}, {"rename-session rename", ""}, {"rename-window renamew", ""},
	{"resize-pane resizep", ""}, {"resize-window resizew", "use `longterm resize SESSION COLSxROWS`, or `size`"}, {"respawn-pane respawnp", ""},
	{"respawn-window respawnw", ""}, {"rotate-window rotatew", ""}, {"run-shell run", "`shell` runs a line, and so does `longterm run`"},
	{"save-buffer saveb", clipboardHint}, {"select-layout selectl", ""}, {"select-pane selectp", ""}, {"select-window selectw tab-go", ""}, // the last is the action's name, which has no line in the palette

	{"send-keys send", "`longterm send SESSION TEXT`, `longterm keys SESSION KEYS`"},
	{"send-prefix", "press the prefix twice to send it to the session"}, {"server-access", "`longterm share SESSION` gives others access"}, {"set-buffer setb", clipboardHint},
	{"set-environment setenv", "`longterm new --env NAME=VALUE` sets one for a new session"}, {"set-hook", "`longterm events hook`, or [[hooks]] in the configuration"},
	{"set-option set", configureHint}, {"set-window-option setw", configureHint}, {"show-buffer showb", clipboardHint}, {"show-environment showenv", "`details` shows it"},
	{"show-hooks", "`longterm events ls` lists them"}, {"show-messages showmsgs", "`longterm events` prints them"}, {"show-options show", configureHint},
	{"show-prompt-history showphist", notAvailableHint}, {"show-window-options showw", configureHint},
	{"source-file source", "`longterm config edit`; changes apply at once"},
	{"split-window splitw", ""}, {"start-server start", "already running"}, {"suspend-client suspendc", "`quit` leaves; sessions keep running"}, {"swap-pane swapp", "use -U or -D"},
	{"swap-window swapw", ""}, {"switch-client switchc", ""}, {"unbind-key unbind", "`longterm config set keys.ACTION \"\"` removes its keys"},
	{"unlink-window unlinkw", ""}, {"wait-for wait", "use `longterm wait SESSION --for WHAT`"},
}

// tmuxOptions maps options of tmux to settings of longterm.
var tmuxOptions = map[string]string{
	"mouse": "`longterm config set view.mouse true`, or false", "mode-keys": "`longterm config set view.keys tmux-vi`, or -emacs",
	"status-keys": "`longterm config set view.keys tmux-vi`, or -emacs", "prefix": "`longterm config set view.prefix C-a`",
	"history-limit": "everything is stored, up to retention.session_bytes", "default-shell": "`longterm config set shells.default PATH`",
	"default-terminal": "not needed", "set-clipboard": "always on",
	"base-index": "tabs and panes count from 1", "pane-base-index": "tabs and panes count from 1", "escape-time": "not needed: Escape has no delay",
	"renumber-windows": "tabs are renumbered automatically", "synchronize-panes": "use `setw synchronize-panes on`, or off",
	"update-environment": "`longterm config set shells.renew NAME…`", "monitor-activity": "alerts are always on", "status": "the status bar is always shown",
}

// matchCommands returns the commands that a word may mean: an exact name, else all names with that prefix, as in tmux.
func matchCommands(word string) (names []string) {
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

// whyNotRun returns why a line does nothing, and what to do instead. names are the commands that its first word may mean.
func (v *viewer) whyNotRun(words, names []string) string {
	switch {
	case len(names) > 1:
		return "ambiguous command: " + canvas.Printable(words[0]) + ", could be: " + strings.Join(names, ", ")
	case len(names) == 0:
		return v.unknownCommand(words[0])
	}
	if names[0] == "set-option" || names[0] == "set-window-option" {
		for _, w := range words[1:] {
			if how := tmuxOptions[w]; how != "" {
				return names[0] + " " + w + ": " + how
			}
		}
	}
	if c := typedCommands()[names[0]]; c.usage != "" {
		return "use " + c.usage
	}
	i := slices.IndexFunc(tmuxNames, func(c tmuxName) bool { return strings.HasPrefix(c.names+" ", names[0]+" ") })
	if tmuxNames[i].instead == "" {
		return "use " + names[0] + " without arguments"
	}
	return names[0] + ": " + tmuxNames[i].instead
}

// unknownCommand returns the error for an unknown command, with the closest known one.
func (v *viewer) unknownCommand(word string) string {
	var names []string
	for i := range v.keys.Prefix {
		names = append(names, v.keys.Prefix[i].Name(), string(v.keys.Prefix[i].Action))
	}
	for _, c := range tmuxNames {
		names = append(names, strings.Fields(c.names)...)
	}
	text := "unknown command: " + canvas.Printable(word)
	if near := suggestname.Similar(word, names); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return text
}
