package vterm

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// eventTextMax limits the text of an event, in bytes. Clipboard events are limited by the length of the command.
const eventTextMax = 64 << 10

// textEvent returns an event with bounded texts.
func textEvent(kind EventKind, name, text string, num int) (Event, bool) {
	return Event{Kind: kind, Name: clip(name, titleMax), Text: clip(text, eventTextMax), Num: num}, true
}

// notifyOnly adapts an OSC that only causes an event, computed from its number and data, or nothing.
func notifyOnly(event func(number int, data string) (Event, bool)) func(*Terminal, int, string) {
	return func(t *Terminal, number int, data string) {
		if e, ok := event(number, data); ok {
			t.emit(e)
		}
	}
}

// oscCwd handles OSC 7.
func oscCwd(_ int, s string) (Event, bool) { return textEvent(EventCwd, "7", s, 0) }

// oscNotify handles OSC 9: ConEmu's numbered commands, or iTerm2's message.
func oscNotify(_ int, s string) (Event, bool) {
	head, rest, more := strings.Cut(s, ";")
	switch {
	case head == "4" && (more || s == "4"):
		return progressEvent(rest)
	case head == "9" && more:
		return textEvent(EventCwd, "9;9", strings.Trim(rest, `"`), 0)
	case more && len(head) <= 2 && isNumber(head):
		return Event{}, false
	}
	return textEvent(EventNotify, "", s, 0)
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// progressEvent handles OSC 9;4;state;percent.
func progressEvent(s string) (Event, bool) {
	state, percent, _ := strings.Cut(s, ";")
	names := []string{"none", "normal", "error", "indeterminate", "paused"}
	i, err := strconv.Atoi(state)
	if err != nil || i < 0 || i >= len(names) {
		return Event{}, false
	}
	n, _ := strconv.Atoi(percent)
	return textEvent(EventProgress, names[i], "", min(max(n, 0), 100))
}

// oscNotifyKitty handles OSC 99 ; metadata ; payload and reports title and body.
func oscNotifyKitty(_ int, s string) (Event, bool) {
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
			return Event{}, false
		}
		text = strings.ToValidUTF8(string(b), "\uFFFD")
	}
	switch part {
	case "title":
		return textEvent(EventNotify, text, "", 0)
	case "body":
		return textEvent(EventNotify, "", text, 0)
	}
	return Event{}, false
}

// oscNotifyRxvt handles OSC 777 ; notify ; title ; body.
func oscNotifyRxvt(_ int, s string) (Event, bool) {
	if rest, ok := strings.CutPrefix(s, "notify;"); ok {
		title, body, _ := strings.Cut(rest, ";")
		return textEvent(EventNotify, title, body, 0)
	}
	return Event{}, false
}

// oscMark handles OSC 133 and 633. P;Cwd= of the latter also reports a directory.
func (t *Terminal) oscMark(n int, s string) {
	name, rest, _ := strings.Cut(s, ";")
	if name == "" {
		return
	}
	mark, _ := textEvent(EventMark, name, rest, n)
	t.emit(mark)
	if cwd, ok := strings.CutPrefix(rest, "Cwd="); ok && n == 633 && name == "P" {
		moved, _ := textEvent(EventCwd, "633", cwd, 0)
		t.emit(moved)
	}
}

// oscITerm handles OSC 1337 ; key=value.
func (t *Terminal) oscITerm(_ int, s string) {
	if e, ok := iTermEvent(s); ok {
		t.emit(e)
		return
	}
	t.oscFile(s)
}

func iTermEvent(s string) (Event, bool) {
	key, value, _ := strings.Cut(s, "=")
	switch key {
	case "CurrentDir":
		return textEvent(EventCwd, "1337", value, 0)
	case "SetUserVar":
		name, encoded, _ := strings.Cut(value, "=")
		if b, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return textEvent(EventUserVar, name, strings.ToValidUTF8(string(b), "\uFFFD"), 0)
		}
	}
	return Event{}, false
}

// oscContext handles OSC 3008.
func oscContext(_ int, s string) (Event, bool) { return textEvent(EventContext, "", s, 0) }
