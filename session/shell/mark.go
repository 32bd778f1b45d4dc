package shell

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// MarkKind is the kind of a Mark.
type MarkKind uint8

// Mark kinds, with their letters in OSC 133 and 633.
const (
	MarkNone         MarkKind = iota
	MarkPrompt                // A: start of the prompt
	MarkContinuation          // A;k=s: the prompt for the rest of a line
	MarkInput                 // B: start of input
	MarkOutput                // C: start of output
	MarkDone                  // D: output ends
	MarkText                  // 633;E: the text of the command that follows
)

// Mark is one OSC 133 or 633 sequence, decoded.
type Mark struct {
	Kind  MarkKind
	Nonce string // the lt parameter: whose mark it is
	// Count is the mark's place among all marks of its shell, from 1; 0 if unknown. A tracker accepts each place once
	// and only in order, so that repeated output changes nothing.
	Count  uint64
	Prompt uint64 // number of the prompt, 0 if unknown
	Exit   *int   // status, nil if unknown
	Cwd    string
	Text   string // command line, if HasText
	// Guess: the shell is not sure that Text is this command's. Cut: it is its beginning.
	HasText, Guess, Cut bool
	Kept                bool // kept=1: the line was not run and is still in the shell's editor
	// Late is late=1: of a prompt that was expanded without the shell's hooks, perhaps by a line that runs. It counts once the shell
	// reads its terminal. The session sets it for shells without such hooks.
	Late  bool
	Input bool // b=1: MarkInput will follow at the end of this prompt
	// Given is g=1: of a prompt, the editor knows GivenKey and HiddenKey; of output, the
	// statement is part of the line behind such a key.
	Given bool
	// Bytes is the length of the sequence as our scripts write it (7-bit, ended by
	// BEL): where output ended before the mark.
	Bytes uint64
}

// ParseMark decodes the event of OSC 133 or 633 (vterm.EventMark: osc is its Num, name its Name, text its Text). It
// ignores malformed parameters and returns MarkNone for an unknown mark.
func ParseMark(osc int, name, text string) Mark {
	m := Mark{Bytes: uint64(len("\x1b]133;\a") + len(name))}
	if text != "" {
		m.Bytes += uint64(1 + len(text))
	}
	switch {
	case osc != 133 && osc != 633:
		return Mark{}
	case osc == 633 && name == "E":
		m.Kind, m.HasText = MarkText, true
		line, _, _ := strings.Cut(text, ";")
		m.Text = unescape633(line)
		return m
	}
	kinds := map[string]MarkKind{"A": MarkPrompt, "B": MarkInput, "C": MarkOutput, "D": MarkDone}
	m.Kind = kinds[name]
	if m.Kind == MarkNone {
		return Mark{}
	}
	for i, field := range strings.Split(text, ";") {
		key, value, ok := strings.Cut(field, "=")
		switch {
		case ok:
			m.set(key, value)
		case i == 0 && m.Kind == MarkDone:
			m.Exit = parseExit(field)
		}
	}
	return m
}

func (m *Mark) set(key, value string) {
	switch key {
	case "lt":
		m.Nonce = value
	case "m":
		m.Count, _ = strconv.ParseUint(value, 10, 63)
	case "n":
		m.Prompt, _ = strconv.ParseUint(value, 10, 63)
	case "k":
		if value == "s" && m.Kind == MarkPrompt {
			m.Kind = MarkContinuation
		}
	case "exit":
		m.Exit = parseExit(value)
	case "cwd":
		m.Cwd = decodePercent(value)
	case "cmdline_url":
		m.Text, m.HasText = decodePercent(value), true
	case "guess":
		m.Guess = value == "1"
	case "kept":
		m.Kept = value == "1"
	case "g":
		m.Given = value == "1"
	case "b":
		m.Input = value == "1"
	case "late":
		m.Late = value == "1"
	case "cut":
		m.Cut = value == "1"
	}
}

// parseExit reads a status: what a wait status or Windows can hold.
func parseExit(s string) *int {
	n, err := strconv.ParseInt(s, 10, 33)
	if err != nil {
		return nil
	}
	code := int(n)
	return &code
}

// decodePercent decodes %XX and copies other percent signs. Invalid UTF-8 becomes U+FFFD, as the text is for display
// and JSON.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// unescape633 undoes VS Code's escapes: \\ and \xNN.
func unescape633(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		if strings.HasPrefix(rest, `\\`) {
			b.WriteByte('\\')
			i++
			continue
		}
		if strings.HasPrefix(rest, `\x`) && len(rest) >= 4 {
			if n, err := strconv.ParseUint(rest[2:4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// FromVterm converts an emulator's event to a tracker's, without its time. It returns false for events that do not
// concern the shell.
func FromVterm(e *vterm.Event) (Event, bool) {
	switch e.Kind {
	case vterm.EventMark:
		m := ParseMark(e.Num, e.Name, e.Text)
		return Event{Kind: EventMark, At: e.At, Mark: m}, m.Kind != MarkNone
	case vterm.EventCwd:
		c := ParseCwd(e.Name, e.Text)
		return Event{Kind: EventCwd, At: e.At, Cwd: c}, c.Path != ""
	case vterm.EventAltScreen:
		return Event{Kind: EventAltScreen, At: e.At, On: e.Num == 1}, true
	case vterm.EventLost:
		if e.Name != "" { // a string that is too long to be a mark
			return Event{}, false
		}
		return Event{Kind: EventLost, At: e.At}, true
	}
	return Event{}, false
}
