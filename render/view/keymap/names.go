package keymap

import "strings"

// names maps actions to other names for them: synonyms, and the commands of tmux 3.5 (tmux(1)). The palette finds
// actions by them.
var names = map[Action]string{
	"new":              "start create open session shell new-session",
	"pick":             "find switch sessions choose-tree choose-window find-window switch-client select-window list-sessions ls",
	"overview":         "list-panes dashboard",
	"inbox":            "notifications attention questions failed messages ports done snooze",
	"changes":          "draft diff commit discard drop files review",
	"details":          "display-message info environment limits clients list-clients",
	"kill":             "end stop terminate kill-pane killp kill-session",
	"close":            "hide pane",
	"restart":          "again restore respawn-pane respawnp respawn-window",
	"rename":           "name session rename-session",
	"split-right":      "vertical side split-window -h splitw -h",
	"split-down":       "horizontal below split-window -v splitw -v",
	"next":             "pane select-pane -t :.+ selectp",
	"previous":         "pane select-pane -t :.-",
	"last":             "pane last-pane lastp",
	"pane-go":          "number display-panes displayp select-pane -t",
	"left":             "select-pane -L",
	"down":             "select-pane -D",
	"up":               "select-pane -U",
	"right":            "select-pane -R",
	"zoom":             "maximize fullscreen resize-pane -Z resizep -Z",
	"wider":            "resize-pane -R resizep",
	"narrower":         "resize-pane -L",
	"taller":           "resize-pane -D",
	"shorter":          "resize-pane -U",
	"even":             "equal balance select-layout -E",
	"arrange":          "layout next-layout nextl",
	"tiles":            "select-layout tiled selectl",
	"main-left":        "select-layout main-vertical",
	"main-above":       "select-layout main-horizontal",
	"columns":          "select-layout even-horizontal",
	"rows":             "select-layout even-vertical",
	"swap":             "swap-pane -D swapp",
	"swap-before":      "swap-pane -U",
	"float-new":        "popup display-popup popup",
	"frames":           "pane-border-status borders",
	"tab-new":          "window new-window neww",
	"tab-next":         "window next-window",
	"tab-previous":     "window previous-window prev",
	"tab-last":         "window last-window",
	"tab-move":         "window break-pane breakp",
	"tab-rename":       "window rename-window renamew name",
	"tab-close":        "window kill-window killw unlink-window",
	"reopen":           "undo restore closed",
	"all":              "grid tiles everything",
	"layout-save":      "select-layout",
	"layout-load":      "open layout select-layout",
	"scroll":           "copy-mode scrollback history",
	"search":           "find history",
	"command-previous": "prompt previous-prompt",
	"past":             "time travel rewind replay",
	"paste":            "paste-buffer pasteb",
	"copy-output":      "capture-pane capturep",
	"shell":            "run-shell run command",
	"prompt":           "send-keys send slash",
	"sync":             "broadcast synchronize-panes setw set-window-option set -w synchronize-panes",
	"read-only":        "lock attach-session -r switch-client -r",
	"size":             "resize-window resizew window-size",
	"theme":            "colours colors light dark",
	"help":             "keys list-keys lsk bindings",
	"quit":             "leave exit detach detach-client",
}

// SearchNames returns the action's other names for searches, including its name in the configuration.
func (r *Row) SearchNames() string {
	also := r.Short + " " + names[r.Action]
	if strings.Contains(string(r.Action), "-") {
		also += " " + string(r.Action)
	}
	return also
}
