package attach

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Frames and keys are sent between a key and its echo, by processes that were idle: encoding/json would take most of that
// time. The output here equals its output byte for byte; the parser reads exactly this form and uses encoding/json for others.

// FrameWriter writes the frames of one stream. It caches the JSON of modes, which seldom change.
type FrameWriter struct {
	modes vterm.Modes
	text  []byte // nil before the first frame
}

// Append appends a frame's JSON.
func (w *FrameWriter) Append(dst []byte, f *Frame) ([]byte, error) {
	if w.text == nil || w.modes != f.Modes {
		text, err := json.Marshal(f.Modes)
		if err != nil {
			return nil, err
		}
		w.modes, w.text = f.Modes, text
	}
	dst = render.AppendJSON(append(dst, `{"screen":`...), &f.Screen)
	dst = append(append(dst, `,"modes":`...), w.text...)
	dst = render.AppendString(append(dst, `,"state":`...), f.State)
	if f.Accepted != nil {
		dst = strconv.AppendUint(append(dst, `,"taken":`...), *f.Accepted, 10)
	}
	if f.IsViewOnly {
		dst = append(dst, `,"held":true`...)
	}
	if len(f.Effects) > 0 {
		text, err := json.Marshal(f.Effects)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"effects":`...), text...)
	}
	return append(dst, '}'), nil
}

// FrameReader reads the frames of one stream.
type FrameReader struct {
	modes vterm.Modes
	text  []byte // JSON of modes with the adjacent member names
}

// Read reads a frame's JSON.
func (r *FrameReader) Read(b []byte) (*Frame, error) {
	f := &Frame{}
	if r.readFast(b, f) {
		return f, nil
	}
	f = &Frame{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return f, nil
}

// Member names around the modes.
const beforeModes, beforeState = `,"modes":`, `,"state":"`

// readFast reads the form that FrameWriter writes.
func (r *FrameReader) readFast(b []byte, f *Frame) bool {
	b, ok := bytes.CutPrefix(b, []byte(`{"screen":`))
	if !ok {
		return false
	}
	if b, ok = render.ReadJSON(b, &f.Screen); !ok {
		return false
	}
	if r.text == nil || !bytes.HasPrefix(b, r.text) {
		end := bytes.Index(b, []byte(beforeState))
		if !bytes.HasPrefix(b, []byte(beforeModes)) || end < 0 {
			return false
		}
		var modes vterm.Modes
		if json.Unmarshal(b[len(beforeModes):end], &modes) != nil {
			return false
		}
		r.modes, r.text = modes, bytes.Clone(b[:end+len(beforeState)])
	}
	f.Modes = r.modes
	state, b, ok := bytes.Cut(b[len(r.text):], []byte(`"`))
	if !ok || bytes.ContainsFunc(state, func(c rune) bool { return c < 'a' || c > 'z' }) {
		return false
	}
	f.State = string(state)
	if rest, ok := bytes.CutPrefix(b, []byte(`,"taken":`)); ok {
		end := bytes.IndexAny(rest, ",}")
		n, err := strconv.ParseUint(string(rest[:max(end, 0)]), 10, 64)
		if err != nil || end > 1 && rest[0] == '0' {
			return false
		}
		f.Accepted, b = &n, rest[end:]
	}
	if rest, ok := bytes.CutPrefix(b, []byte(`,"held":true`)); ok {
		f.IsViewOnly, b = true, rest
	}
	return string(b) == "}"
}

// AppendJSON appends the act's JSON.
func (a *Act) AppendJSON(dst []byte) ([]byte, error) {
	if a.Key == nil || *a != (Act{Key: a.Key}) {
		b, err := json.Marshal(a)
		return append(dst, b...), err
	}
	for i, n := range [...]int64{int64(a.Key.Code), int64(a.Key.Mods), int64(a.Key.Action)} {
		dst = strconv.AppendInt(append(dst, keyNames[i]...), n, 10)
	}
	dst = render.AppendString(append(dst, `,"Text":`...), a.Key.Text)
	dst = strconv.AppendInt(append(dst, `,"Shifted":`...), int64(a.Key.Shifted), 10)
	dst = strconv.AppendInt(append(dst, `,"Base":`...), int64(a.Key.Base), 10)
	return append(dst, `}}`...), nil
}

// keyNames are the member names of a key's numbers.
var keyNames = [...]string{`{"key":{"Code":`, `,"Mods":`, `,"Action":`}

// ReadAct reads an act's JSON.
func ReadAct(b []byte) (a Act, err error) {
	if key, ok := readKeyFast(b); ok {
		return Act{Key: key}, nil
	}
	err = json.Unmarshal(b, &a)
	return a, err
}

// readKeyFast reads a key in the form of AppendJSON, if its text is ASCII without escapes.
func readKeyFast(b []byte) (*input.Key, bool) {
	k := &input.Key{}
	var numbers [3]int64
	for i, name := range keyNames {
		var ok bool
		if numbers[i], b, ok = readNumber(b, name); !ok {
			return nil, false
		}
	}
	text, ok := bytes.CutPrefix(b, []byte(`,"Text":"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 || bytes.ContainsFunc(text[:end], func(c rune) bool { return c < ' ' || c == '\\' || c > '~' }) {
		return nil, false
	}
	k.Text, b = string(text[:end]), text[end+1:]
	shifted, b, ok := readNumber(b, `,"Shifted":`)
	base, b, whole := readNumber(b, `,"Base":`)
	k.Code, k.Mods, k.Action, k.Shifted, k.Base = rune(numbers[0]), input.Mods(numbers[1]), input.KeyAction(numbers[2]), rune(shifted), rune(base)
	fits := int64(k.Code) == numbers[0] && int64(k.Mods) == numbers[1] && int64(k.Action) == numbers[2] && int64(k.Shifted) == shifted && int64(k.Base) == base
	return k, ok && whole && fits && string(b) == "}}"
}

// readNumber reads a number after its member name.
func readNumber(b []byte, name string) (n int64, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(name))
	end := 0
	for end < len(b) && (b[end] >= '0' && b[end] <= '9' || b[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(string(b[:end]), 10, 64)
	digits := bytes.TrimPrefix(b[:end], []byte("-"))
	return n, b[end:], ok && err == nil && (len(digits) == 1 || digits[0] != '0') // otherwise invalid JSON
}
