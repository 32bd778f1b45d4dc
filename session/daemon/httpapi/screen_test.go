//go:build unix

package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm"
)

// hundred is a history of a hundred lines whose version is their number.
type hundred struct{ vterm.NoHistory }

func (hundred) Len() int                  { return 100 }
func (hundred) Line(i int, l *vterm.Line) { l.Version = uint64(i) }

// FEATURES: R34
func TestHistoryRanges(t *testing.T) {
	for spec, want := range map[string][2]int{
		"0:10": {0, 10}, "-5:": {95, 100}, ":": {0, 100}, "90:200": {90, 100}, ":-99": {0, 1}, "50:40": {0, 0},
	} {
		lines, err := historyLines(hundred{}, spec)
		if err != nil || len(lines) != want[1]-want[0] || len(lines) > 0 && int(lines[0].Version) != want[0] {
			t.Errorf("%q: %d lines, %v", spec, len(lines), err)
		}
	}
	for _, spec := range []string{"x", "1", "a:b", "1:b"} {
		if _, err := historyLines(hundred{}, spec); err == nil {
			t.Errorf("%q was accepted", spec)
		}
	}
}

// A screen tells what is waited for also where that is nothing, so that who asks knows a daemon that does not tell it.
//
// FEATURES: R88
func TestScreensTellWhatIsWaitedFor(t *testing.T) {
	for want, screen := range map[string]Screen{
		`null`:           {Needs: &ScreenNeeds{}},
		`{"kind":"text"`: {Needs: &ScreenNeeds{&api.Needs{Kind: "text"}}},
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

// A smaller client sees the part that fits; half a wide character is not shown.
//
// FEATURES: R96
func TestCrop(t *testing.T) {
	wide := vterm.NewCell('你', vterm.WidthWide, 0, 0)
	tail := vterm.NewCell(0, vterm.WidthTail, 0, 0)
	a := vterm.NewCell('a', vterm.WidthNarrow, 0, 0)
	f := vterm.Frame{Cols: 4, Rows: 3, Cursor: vterm.Cursor{Row: 2, Col: 3, Visible: true}}
	for row := range 3 {
		f.Lines = append(f.Lines, vterm.Line{Row: row, Cells: []vterm.Cell{a, a, wide, tail}})
	}
	original := f.Lines[0].Cells
	crop(&f, 3, 2)
	if len(f.Lines) != 2 || len(f.Lines[0].Cells) != 3 || f.Lines[0].Cells[2] != 0 || f.Cursor.Visible {
		t.Errorf("%+v", f)
	}
	if f.Cols != 3 || f.Rows != 2 || len(original) != 4 {
		t.Errorf("%+v", f)
	}
}
