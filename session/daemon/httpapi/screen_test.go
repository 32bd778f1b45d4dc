//go:build unix

package httpapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm"
)

// hundred is a history of a hundred lines.
type hundred struct{ vterm.NoHistory }

func (hundred) Len() int { return 100 }

// FEATURES: R34
func TestHistoryRanges(t *testing.T) {
	for spec, want := range map[string][2]int{
		"0:10": {0, 10}, "-5:": {95, 100}, ":": {0, 100}, "90:200": {90, 100}, ":-99": {0, 1}, "50:40": {0, 0},
	} {
		from, to, err := historyRange(hundred{}, spec)
		if err != nil || to-from != want[1]-want[0] || to > from && from != want[0] {
			t.Errorf("%q: %d to %d, %v", spec, from, to, err)
		}
	}
	for _, spec := range []string{"x", "1", "a:b", "1:b"} {
		if _, _, err := historyRange(hundred{}, spec); err == nil {
			t.Errorf("%q was accepted", spec)
		}
	}
}

// TestScreens_IncludeConditions checks that a screen reports its conditions even if none exists, so that clients can
// recognise a daemon that does not report them.
//
// FEATURES: R88
func TestScreens_IncludeConditions(t *testing.T) {
	for want, screen := range map[string]Screen{
		`null`:           {Needs: &ScreenNeeds{}},
		`{"kind":"text"`: {Needs: &ScreenNeeds{&api.InputRequest{Kind: "text"}}},
		``:               {}, // a past one
	} {
		b, err := json.Marshal(screen)
		var got struct {
			Needs json.RawMessage `json:"needs_input"`
		}
		if err != nil || json.Unmarshal(b, &got) != nil || want == "" && got.Needs != nil || !strings.HasPrefix(string(got.Needs), want) {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

// TestCrop checks that a smaller client sees the part of the screen that fits, and the cursor if it is in that part.
// Half of a wide character is blank.
//
// FEATURES: R96
func TestCrop(t *testing.T) {
	wide := vterm.NewCell('你', vterm.WidthWide, 0, 0)
	tail := vterm.NewCell(0, vterm.WidthTail, 0, 0)
	a := vterm.NewCell('a', vterm.WidthNarrow, 0, 0)
	frame := func(cursor vterm.Cursor) (f vterm.Frame) {
		f = vterm.Frame{Cols: 6, Rows: 3, Cursor: cursor}
		for row := range 3 {
			f.Lines = append(f.Lines, vterm.Line{Row: row, Cells: []vterm.Cell{a, a, wide, tail, a, a}})
		}
		return f
	}
	for name, c := range map[string]struct {
		cursor, want vterm.Cursor
		cells        []vterm.Cell
	}{
		"at the beginning": {vterm.Cursor{Row: 1, Col: 1, Visible: true}, vterm.Cursor{Row: 1, Col: 1, Visible: true}, []vterm.Cell{a, a, 0}},
		"hidden":           {vterm.Cursor{Row: 2, Col: 5}, vterm.Cursor{Row: 1, Col: 2}, []vterm.Cell{a, a, 0}},
		"far on":           {vterm.Cursor{Row: 2, Col: 5, Visible: true}, vterm.Cursor{Row: 1, Col: 2, Visible: true}, []vterm.Cell{0, a, a}},
		"on a half":        {vterm.Cursor{Row: 2, Col: 4, Visible: true}, vterm.Cursor{Row: 1, Col: 2, Visible: true}, []vterm.Cell{wide, tail, a}},
	} {
		f := frame(c.cursor)
		crop(&f, 3, 2)
		if f.Cols != 3 || f.Rows != 2 || f.Cursor != c.want || len(f.Lines) != 2 || f.Lines[0].Row != 0 || f.Lines[1].Row != 1 {
			t.Errorf("%s: %+v", name, f)
		}
		if !slices.Equal(f.Lines[1].Cells, c.cells) {
			t.Errorf("%s: %v", name, f.Lines[1].Cells)
		}
	}
}
