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
	MarkContinuation          // A;k=s: the prompt for the rest of a line (PS2)
	MarkInput                 // B: start of input
	MarkOutput                // C: start of output
	MarkDone                  // D: output ends
	MarkText                  // 633;E: the text of the next command
)

// Mark is a decoded OSC 133 or 633 sequence.
type Mark struct {
	Kind  MarkKind
	Nonce string // lt: identifies the shell
	// Sequence is the mark's number among all marks of its shell, from 1; 0 if unknown. A tracker accepts each number
	// once and only in order, so that repeated output changes nothing.
	Sequence uint64
	Prompt   uint64 // number of the prompt, 0 if unknown
	Exit     *int   // status, nil if unknown
	Cwd      string
	Text     string // command line, if HasText
	// IsGuess is set if Text may be another command's, IsCut if it is only the start of the line.
	HasText, IsGuess, IsCut bool
	Kept                    bool // kept=1: the line was not run and is still in the shell's editor
	// Late (late=1) marks a prompt that was expanded without the shell's hooks, perhaps by a running line. It counts
	// once the shell reads its terminal. The session sets it for shells without such hooks.
	Late         bool
	InputFollows bool // b=1: MarkInput will follow at the end of this prompt
	// Literal (g=1) means for a prompt that the editor supports LiteralKey and UnrecordedLiteralKey. For output it
	// means that the statement is part of a line submitted with such a key.
	Literal bool
	// Length is the length of the sequence as the scripts write it (7-bit, ended by BEL). Output ended that many bytes
	// before the mark.
	Length uint64
}

// ParseMark decodes the event of OSC 133 or 633 (vterm.EventMark: osc is its Num, name its Name, text its Text). It
// ignores malformed parameters and returns MarkNone for an unknown mark.
func ParseMark(osc int, name, text string) Mark {
	m := Mark{Length: uint64(len("\x1b]133;\a") + len(name))}
	if text != "" {
		m.Length += uint64(1 + len(text))
	}
	switch {
	case osc != 133 && osc != 633:
		return Mark{}
	case osc == 633 && name == "E":
		m.Kind, m.HasText = MarkText, true
		line, _, _ := strings.Cut(text, ";")
		m.Text = unescapeVSCode(line)
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
			m.setParam(key, value)
		case i == 0 && m.Kind == MarkDone:
			m.Exit = parseExit(field)
		}
	}
	return m
}

// setParam sets the field of a parameter. It ignores unknown parameters.
func (m *Mark) setParam(key, value string) {
	switch key {
	case "lt":
		m.Nonce = value
	case "m":
		m.Sequence, _ = strconv.ParseUint(value, 10, 63)
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
		m.IsGuess = value == "1"
	case "kept":
		m.Kept = value == "1"
	case "g":
		m.Literal = value == "1"
	case "b":
		m.InputFollows = value == "1"
	case "late":
		m.Late = value == "1"
	case "cut":
		m.IsCut = value == "1"
	}
}

// parseExit parses an exit status, in the range of wait statuses and of Windows. It returns nil for an invalid one.
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

// unescapeVSCode replaces VS Code's escapes: \\ and \xNN.
func unescapeVSCode(s string) string {
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

// FromVterm converts an emulator's event to a tracker's, without its time. ok is false for events that do not concern
// the shell.
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
	case vterm.EventDropped:
		if e.Name != "" { // an overlong string, which is no mark
			return Event{}, false
		}
		return Event{Kind: EventDropped, At: e.At}, true
	}
	return Event{}, false
}
