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

// Frames and keys pass between a key and its echo, through processes that have been idle: encoding/json would take most
// of the time. The output here equals its output byte for byte; the parser reads exactly this form and leaves all else
// to encoding/json.

// FrameWriter writes the frames of one stream. Modes seldom change: their JSON is kept.
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
	if f.Taken != nil {
		dst = strconv.AppendUint(append(dst, `,"taken":`...), *f.Taken, 10)
	}
	if f.Held {
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
	text  []byte // of modes, with what stands around it
}

// Read reads a frame's JSON.
func (r *FrameReader) Read(b []byte) (*Frame, error) {
	f := &Frame{}
	if r.written(b, f) {
		return f, nil
	}
	f = &Frame{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	return f, nil
}

const beforeModes, beforeState = `,"modes":`, `,"state":"`

// written reads what a FrameWriter wrote.
func (r *FrameReader) written(b []byte, f *Frame) bool {
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
		f.Taken, b = &n, rest[end:]
	}
	if rest, ok := bytes.CutPrefix(b, []byte(`,"held":true`)); ok {
		f.Held, b = true, rest
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

var keyNames = [...]string{`{"key":{"Code":`, `,"Mods":`, `,"Action":`}

// ReadAct reads an act's JSON.
func ReadAct(b []byte) (a Act, err error) {
	if key, ok := writtenKey(b); ok {
		return Act{Key: key}, nil
	}
	err = json.Unmarshal(b, &a)
	return a, err
}

// writtenKey reads a key as AppendJSON writes one that types what is ASCII and needs no escape.
func writtenKey(b []byte) (*input.Key, bool) {
	k := &input.Key{}
	var numbers [3]int64
	for i, name := range keyNames {
		var ok bool
		if numbers[i], b, ok = number(b, name); !ok {
			return nil, false
		}
	}
	text, ok := bytes.CutPrefix(b, []byte(`,"Text":"`))
	end := bytes.IndexByte(text, '"')
	if !ok || end < 0 || bytes.ContainsFunc(text[:end], func(c rune) bool { return c < ' ' || c == '\\' || c > '~' }) {
		return nil, false
	}
	k.Text, b = string(text[:end]), text[end+1:]
	shifted, b, ok := number(b, `,"Shifted":`)
	base, b, whole := number(b, `,"Base":`)
	k.Code, k.Mods, k.Action, k.Shifted, k.Base = rune(numbers[0]), input.Mods(numbers[1]), input.KeyAction(numbers[2]), rune(shifted), rune(base)
	fits := int64(k.Code) == numbers[0] && int64(k.Mods) == numbers[1] && int64(k.Action) == numbers[2] && int64(k.Shifted) == shifted && int64(k.Base) == base
	return k, ok && whole && fits && string(b) == "}}"
}

// number reads one behind its name.
func number(b []byte, name string) (n int64, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(name))
	end := 0
	for end < len(b) && (b[end] >= '0' && b[end] <= '9' || b[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(string(b[:end]), 10, 64)
	digits := bytes.TrimPrefix(b[:end], []byte("-"))
	return n, b[end:], ok && err == nil && (len(digits) == 1 || digits[0] != '0') // else JSON it is not
}
