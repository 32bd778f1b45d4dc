package vterm

import (
	"encoding/base64"
	"strings"
)

// askClipboard answers OSC 52 with a query, when Options.ReportClipboard allows it, from
// what programs set before: a person's clipboard is never read.
func (t *Terminal) askClipboard(selection string) {
	if !t.opts.ReportClipboard {
		return
	}
	if strings.Trim(selection, "cpqs01234567") != "" || len(selection) > 12 || selection == "" {
		selection = "s0"
	}
	t.replyOSC("52;%s;%s", selection, base64.StdEncoding.EncodeToString([]byte(t.clipboard)))
}

// keepClipboard remembers what was set last; one buffer stands for all selections.
func (t *Terminal) keepClipboard(_, data string) {
	if t.opts.ReportClipboard {
		t.clipboard = data
	}
}
