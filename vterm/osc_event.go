package vterm

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// eventTextMax bounds the text of one event but the clipboard's, which the length of
// the command bounds.
const eventTextMax = 64 << 10

func (t *Terminal) emitText(kind EventKind, name, text string, num int) {
	t.emit(Event{Kind: kind, Name: clip(name, titleMax), Text: clip(text, eventTextMax), Num: num})
}

func (t *Terminal) oscCwd(_ int, s string) { t.emitText(EventCwd, "7", s, 0) }

// oscNotify is OSC 9: ConEmu's numbered commands, or iTerm2's message.
func (t *Terminal) oscNotify(_ int, s string) {
	head, rest, more := strings.Cut(s, ";")
	switch {
	case head == "4" && (more || s == "4"):
		t.progress(rest)
	case head == "9" && more:
		t.emitText(EventCwd, "9;9", strings.Trim(rest, `"`), 0)
	case more && len(head) <= 2 && isNumber(head):
	default:
		t.emitText(EventNotify, "", s, 0)
	}
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// progress is OSC 9;4;state;percent.
func (t *Terminal) progress(s string) {
	state, percent, _ := strings.Cut(s, ";")
	names := []string{"none", "normal", "error", "indeterminate", "paused"}
	i, err := strconv.Atoi(state)
	if err != nil || i < 0 || i >= len(names) {
		return
	}
	n, _ := strconv.Atoi(percent)
	t.emitText(EventProgress, names[i], "", min(max(n, 0), 100))
}

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
	t.keepClipboard(selection, string(decoded))
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

// oscNotifyKitty is OSC 99 ; metadata ; payload, of which title and body are told.
func (t *Terminal) oscNotifyKitty(_ int, s string) {
	meta, text, _ := strings.Cut(s, ";")
	part, encoded := "title", false
	for _, kv := range strings.Split(meta, ":") {
		switch k, v, _ := strings.Cut(kv, "="); {
		case k == "p":
			part = v
		case k == "e":
			encoded = v == "1"
		}
	}
	if encoded {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return
		}
		text = strings.ToValidUTF8(string(b), "\uFFFD")
	}
	switch part {
	case "title":
		t.emitText(EventNotify, text, "", 0)
	case "body":
		t.emitText(EventNotify, "", text, 0)
	}
}

// oscNotifyRxvt is OSC 777 ; notify ; title ; body.
func (t *Terminal) oscNotifyRxvt(_ int, s string) {
	if rest, ok := strings.CutPrefix(s, "notify;"); ok {
		title, body, _ := strings.Cut(rest, ";")
		t.emitText(EventNotify, title, body, 0)
	}
}

// oscMark is OSC 133 and 633. Of the latter, P;Cwd= is also a directory.
func (t *Terminal) oscMark(n int, s string) {
	name, rest, _ := strings.Cut(s, ";")
	if name == "" {
		return
	}
	t.emitText(EventMark, name, rest, n)
	if cwd, ok := strings.CutPrefix(rest, "Cwd="); ok && n == 633 && name == "P" {
		t.emitText(EventCwd, "633", cwd, 0)
	}
}

// oscITerm is OSC 1337 ; key=value.
func (t *Terminal) oscITerm(_ int, s string) {
	key, value, _ := strings.Cut(s, "=")
	switch key {
	case "CurrentDir":
		t.emitText(EventCwd, "1337", value, 0)
	case "SetUserVar":
		name, encoded, _ := strings.Cut(value, "=")
		if b, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			t.emitText(EventUserVar, name, strings.ToValidUTF8(string(b), "\uFFFD"), 0)
		}
	}
}

func (t *Terminal) oscContext(_ int, s string) { t.emitText(EventContext, "", s, 0) }
