package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Bounds of the page's messages.
const (
	MaxMessage = 1 << 20 // bytes
	MaxSubs    = 64      // subscriptions at a time
	maxID      = 1_000_000
	maxName    = 256 // bytes of names and times
	maxUnique  = 64
)

// Message is a message of the page (docs/web-protocol.md). T is its kind and determines the relevant fields.
type Message struct {
	T     string `json:"t"`
	ID    int    `json:"id"`
	After uint64 `json:"after"`
	Brief bool   `json:"brief"`
	Terse bool   `json:"terse"`

	S    string          `json:"s"`
	Kind string          `json:"kind"`
	Rows json.RawMessage `json:"rows"` // of sub: [from,to]; of resize: a number
	FPS  int             `json:"fps"`
	V    uint64          `json:"v"`
	E    string          `json:"e"`
	At   json.RawMessage `json:"at"` // a time, or an offset

	N uint64 `json:"n"`

	K    string `json:"k"`
	Ev   string `json:"ev"`
	Text string `json:"text"`
	B    string `json:"b"`
	A    string `json:"a"`
	X    int    `json:"x"`
	Y    int    `json:"y"`
	M    string `json:"m"`
	On   bool   `json:"on"`
	Cols int    `json:"cols"`

	Q *int64 `json:"q"`
	U string `json:"u"`
}

// ErrMessage reports an invalid message; the page that sent it cannot be trusted.
var ErrMessage = errors.New("not a message")

// ParseMessage parses a message. An unknown kind is not an error: a newer page may send it.
func ParseMessage(b []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(b, &m); err != nil || m.T == "" {
		return Message{}, fmt.Errorf("%w: %.40q", ErrMessage, b)
	}
	return m, nil
}

// View describes what a subscription shows.
type View struct {
	Session  string
	Thumb    bool   // a small preview, with 2 frames a second at most
	From, To int    // rows; To 0: all
	FPS      int    // frames a second, 1 to 60
	At       string // time or offset of a past screen; empty: now
	Version  uint64 // version of the rows that the page has
	Epoch    string
}

// View returns the view that a sub message requests.
func (m *Message) View() (View, error) {
	v := View{Session: m.S, Thumb: m.Kind == "thumb", FPS: m.FPS, Version: m.V, Epoch: m.E}
	switch {
	case m.ID < 1 || m.ID > maxID:
		return v, fmt.Errorf("the number %d of a subscription is not 1 to %d", m.ID, maxID)
	case m.S == "" || len(m.S) > maxName:
		return v, errors.New("a subscription names a session")
	case m.Kind != "" && m.Kind != "full" && m.Kind != "thumb":
		return v, fmt.Errorf("unknown kind %.20q (full or thumb)", m.Kind)
	case m.FPS < 0 || m.FPS > 60:
		return v, fmt.Errorf("%d frames a second: give 1 to 60", m.FPS)
	}
	if isGiven(m.Rows) {
		var rows []int
		if json.Unmarshal(m.Rows, &rows) != nil || len(rows) != 2 || rows[0] < 0 || rows[1] <= rows[0] {
			return v, errors.New("rows are [from,to], to exclusive")
		}
		v.From, v.To = rows[0], rows[1]
	}
	var err error
	if v.At, err = m.Moment(); err != nil {
		return v, err
	}
	if v.FPS == 0 {
		v.FPS = 60
	}
	if v.Thumb {
		v.FPS = min(v.FPS, 2)
	}
	return v, nil
}

// Moment returns the requested time or offset of a session; empty for now.
func (m *Message) Moment() (at string, err error) {
	if !isGiven(m.At) {
		return "", nil
	}
	if json.Unmarshal(m.At, &at) != nil {
		var off uint64
		if json.Unmarshal(m.At, &off) != nil {
			return "", errors.New("at is an offset or a time")
		}
		at = fmt.Sprint(off)
	}
	if len(at) > maxName {
		return "", errors.New("at is an offset or a time")
	}
	return at, nil
}

// Image returns the key of the requested image, its session and moment; empty for an image of a subscription.
func (m *Message) Image() (key, session, at string, err error) {
	if len(m.K) > maxName || len(m.S) > maxName {
		return "", "", "", errors.New("an image is named by its key and a session")
	}
	at, err = m.Moment()
	return m.K, m.S, at, err
}

// isGiven reports whether a member is present and not null.
func isGiven(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// RequestID returns the id that prevents duplicate input.
func (m *Message) RequestID() (string, error) {
	if len(m.U) > maxUnique || !utf8.ValidString(m.U) {
		return "", fmt.Errorf("u has more than %d bytes", maxUnique)
	}
	return m.U, nil
}

// Key returns the key of a key message.
func (m *Message) Key() (input.Key, error) {
	if len(m.K) > maxUnique || len(m.Text) > maxUnique {
		return input.Key{}, errors.New("a key's name is too long")
	}
	k, err := input.ParseKey(m.K)
	if err != nil {
		return k, err
	}
	if m.Text != "" && !strings.ContainsFunc(m.Text, isControl) {
		k.Text = m.Text
	}
	switch m.Ev {
	case "", "press":
	case "repeat":
		k.Action = input.KeyRepeat
	case "release":
		k.Action = input.KeyRelease
	default:
		return k, fmt.Errorf("unknown key event %.20q (press, repeat or release)", m.Ev)
	}
	return k, nil
}

// isControl reports whether a character is a control character.
func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// Names of mouse buttons, mouse actions and modifiers.
var buttons = map[string]input.Button{
	"none": input.ButtonNone, "": input.ButtonNone, "left": input.ButtonLeft, "middle": input.ButtonMiddle, "right": input.ButtonRight,
	"wheel-up": input.ButtonWheelUp, "wheel-down": input.ButtonWheelDown, "wheel-left": input.ButtonWheelLeft, "wheel-right": input.ButtonWheelRight,
}

var actions = map[string]input.MouseAction{
	"press": input.MousePress, "release": input.MouseRelease, "move": input.MouseMotion,
}

var modifiers = map[rune]input.Mods{'S': input.Shift, 'M': input.Alt, 'C': input.Ctrl}

// maxCell bounds mouse positions; no screen is larger.
const maxCell = 1 << 16

// Mouse returns the event of a mouse message.
func (m *Message) Mouse() (input.Mouse, error) {
	b, known := buttons[m.B]
	a, does := actions[m.A]
	if !known || !does || m.X < 0 || m.Y < 0 || m.X > maxCell || m.Y > maxCell {
		return input.Mouse{}, errors.New("a mouse message has a button, an action and a cell")
	}
	out := input.Mouse{Button: b, Action: a, Row: m.Y, Col: m.X}
	for _, c := range m.M {
		mod, known := modifiers[c]
		if !known {
			return input.Mouse{}, fmt.Errorf("unknown modifier %q (S, M or C)", c)
		}
		out.Mods |= mod
	}
	return out, nil
}

// Size returns the size of a resize message.
func (m *Message) Size() (cols, rows int, err error) {
	if json.Unmarshal(m.Rows, &rows) != nil {
		return 0, 0, errors.New("a size has cols and rows")
	}
	return m.Cols, rows, nil
}
