package vterm

import (
	"encoding/base64"
	"strings"
)

// oscClipboard is OSC 52 ; selection ; base64. Reading it is never answered: the
// clipboard belongs to the person, not to what runs.
func (t *Terminal) oscClipboard(_ int, s string) {
	selection, data, ok := strings.Cut(s, ";")
	if !ok {
		return
	}
	if data == "?" {
		t.askClipboard(selection)
		return
	}
	decoded := decodeLoosely(data)
	if t.opts.ReportClipboard { // one buffer stands for all selections
		t.clipboard = string(decoded)
	}
	t.emit(Event{Kind: EventClipboard, Name: clip(selection, 16), Text: string(decoded)})
}

// decodeLoosely reads base64 as xterm does: what is no digit of it is skipped, and what
// cannot be read clears the selection.
func decodeLoosely(s string) []byte {
	digits := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '+', r == '/':
			return r
		}
		return -1
	}, s)
	b, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		return nil
	}
	return b
}

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
