package wire

import (
	"encoding/json"
	"fmt"
)

// Mirror is the screen of a page without a browser, made from frames. Tests and measurements use it.
type Mirror struct {
	Cols, Rows int
	Lines      []MirrorLine
	Cursor     [5]any
	Title      string
	State      string
	Mouse      string
	Alt        bool
	Version    uint64
	Epoch      string
	N          uint64 // number of the last frame
	styles     map[int]MirrorStyle
}

// MirrorLine is a row in displayed form.
type MirrorLine struct {
	Flags int
	Spans []MirrorSpan
}

// MirrorSpan is text of one style.
type MirrorSpan struct {
	Style  MirrorStyle
	Text   string
	Widths []int
}

// MirrorStyle is the definition of a style.
type MirrorStyle struct {
	FG        string `json:"f"`
	BG        string `json:"b"`
	FI        *uint8 `json:"fi"`
	BI        *uint8 `json:"bi"`
	Attrs     int    `json:"a"`
	Underline string `json:"u"`
	ULColor   string `json:"uc"`
	Link      string `json:"l"`
}

// receivedFrame is a received frame.
type receivedFrame struct {
	T      string
	ID     int
	N, V   uint64
	E      string
	Full   bool
	Size   *[2]int
	Cur    *[5]any
	Title  *string
	State  *string
	Mouse  *string
	Alt    *bool
	Reset  bool
	Styles json.RawMessage
	Scroll *[3]int
	Rows   [][]json.RawMessage
}

// Text returns the row's text.
func (l MirrorLine) Text() string {
	var s string
	for _, p := range l.Spans {
		s += p.Text
	}
	return s
}

// Apply applies a frame and returns its number, which must be acknowledged. Several mirrors of a connection may share styles.
func (m *Mirror) Apply(b []byte, styles map[int]MirrorStyle) (n uint64, err error) {
	var f receivedFrame
	if err := json.Unmarshal(b, &f); err != nil {
		return 0, err
	}
	if m.styles = styles; f.Reset {
		clear(styles)
	}
	if err := addStyles(styles, string(f.Styles)); err != nil {
		return 0, err
	}
	setIfPresent(&m.Title, f.Title)
	setIfPresent(&m.State, f.State)
	setIfPresent(&m.Mouse, f.Mouse)
	setIfPresent(&m.Alt, f.Alt)
	setIfPresent(&m.Cursor, f.Cur)
	if f.Size != nil {
		m.Cols, m.Rows = f.Size[0], f.Size[1]
	}
	if f.Full || len(m.Lines) != m.Rows {
		m.Lines = make([]MirrorLine, m.Rows)
	}
	m.Version, m.Epoch, m.N = f.V, f.E, f.N
	if f.Scroll != nil {
		if err := m.scrollRows(f.Scroll[0], f.Scroll[1], f.Scroll[2]); err != nil {
			return 0, err
		}
	}
	for _, r := range f.Rows {
		if err := m.setRow(r); err != nil {
			return 0, err
		}
	}
	return f.N, nil
}

// addStyles adds definitions to a table of styles.
func addStyles(styles map[int]MirrorStyle, text string) error {
	var all [][2]json.RawMessage
	if text != "" {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return err
		}
	}
	for _, d := range all {
		var id int
		var st MirrorStyle
		if json.Unmarshal(d[0], &id) != nil || json.Unmarshal(d[1], &st) != nil {
			return fmt.Errorf("style %s", d)
		}
		if _, twice := styles[id]; twice || id == 0 {
			return fmt.Errorf("style %d is defined twice", id)
		}
		styles[id] = st
	}
	return nil
}

// setIfPresent copies a value that a frame has.
func setIfPresent[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// scrollRows moves rows; freed rows are invalid until they are sent.
func (m *Mirror) scrollRows(top, bottom, by int) error {
	if top < 0 || bottom > m.Rows || bottom-top <= abs(by) {
		return fmt.Errorf("scroll of rows %d to %d by %d", top, bottom, by)
	}
	was := append([]MirrorLine(nil), m.Lines...)
	for i := top; i < bottom; i++ {
		m.Lines[i] = MirrorLine{Flags: -1} // detects a row that is not sent again
		if from := i + by; from >= top && from < bottom {
			m.Lines[i] = was[from]
		}
	}
	return nil
}

// setRow sets a row from its JSON.
func (m *Mirror) setRow(r []json.RawMessage) error {
	if len(r) < 2 {
		return fmt.Errorf("a row of %d", len(r))
	}
	var row int
	var l MirrorLine
	if json.Unmarshal(r[0], &row) != nil || json.Unmarshal(r[1], &l.Flags) != nil || row < 0 || row >= m.Rows {
		return fmt.Errorf("row %s", r[:2])
	}
	for _, raw := range r[2:] {
		var parts []json.RawMessage
		var id int
		var s MirrorSpan
		if json.Unmarshal(raw, &parts) != nil || len(parts) < 2 || json.Unmarshal(parts[0], &id) != nil || json.Unmarshal(parts[1], &s.Text) != nil {
			return fmt.Errorf("span %s", raw)
		}
		if len(parts) > 2 && json.Unmarshal(parts[2], &s.Widths) != nil {
			return fmt.Errorf("widths %s", parts[2])
		}
		st, known := m.styles[id]
		if !known && id != 0 {
			return fmt.Errorf("style %d is not defined", id)
		}
		s.Style = st
		l.Spans = append(l.Spans, s)
	}
	m.Lines[row] = l
	return nil
}
