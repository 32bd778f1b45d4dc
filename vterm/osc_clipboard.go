package vterm

import (
	"encoding/base64"
	"strings"
)

// oscClipboard handles OSC 52 ; selection ; base64. It never answers a query with the user's clipboard.
func (t *Terminal) oscClipboard(_ int, s string) {
	selection, data, ok := strings.Cut(s, ";")
	if !ok {
		return
	}
	if data == "?" {
		t.reportClipboard(selection)
		return
	}
	decoded := decodeLoosely(data)
	if t.opts.ReportClipboard { // one buffer for all selections
		t.clipboard = string(decoded)
	}
	t.emit(Event{Kind: EventClipboard, Name: clip(selection, 16), Text: string(decoded)})
}

// decodeLoosely decodes base64 like xterm: it ignores invalid characters, and undecodable data clears the selection.
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

// reportClipboard answers an OSC 52 query, if Options.ReportClipboard allows it, with the text that programs stored
// before. It never reads the user's clipboard.
func (t *Terminal) reportClipboard(selection string) {
	if !t.opts.ReportClipboard {
		return
	}
	if strings.Trim(selection, "cpqs01234567") != "" || len(selection) > 12 || selection == "" {
		selection = "s0"
	}
	t.replyOSC("52;%s;%s", selection, base64.StdEncoding.EncodeToString([]byte(t.clipboard)))
}
