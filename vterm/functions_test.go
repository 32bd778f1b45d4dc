package vterm

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files")

// functionCase tests a row: input on a terminal of 10×4, and the expected result: the rows joined by "/", the cursor as
// row,col, and the replies.
type functionCase struct {
	row   string // "CSI A": kind and match of the row
	input string
	want  string
}

// seen returns the text to compare with functionCase.want.
func seen(t *Terminal) string {
	rows := strings.Split(text(t), "\n")
	s := fmt.Sprintf("%s @%d,%d", strings.Join(rows, "/"), t.cur.Row, t.cur.Col)
	if r := replies(t); r != "" {
		s += " " + strings.ReplaceAll(r, "\x1b", "^")
	}
	for _, e := range t.Events(nil) {
		if e.Kind != EventModes {
			s += fmt.Sprintf(" <%d %s %s %d>", e.Kind, e.Name, e.Text, e.Num)
		}
	}
	return s
}

// TestFunctions runs a case for every row of the tables of control functions.
//
// FEATURES: R30, R33
func TestFunctions(t *testing.T) {
	tested := make(map[string]bool)
	for _, c := range functionCases {
		tested[c.row] = true
		term := New(Options{Cols: 10, Rows: 4, ReportClipboard: true})
		feed(term, c.input)
		if got := seen(term); got != c.want {
			t.Errorf("%s: %q gives\n\t%q, want\n\t%q", c.row, c.input, got, c.want)
		}
		if what := broken(term); what != "" {
			t.Errorf("%s: %q: %s", c.row, c.input, what)
		}
	}
	for _, row := range allRows() {
		if !tested[row] {
			t.Errorf("%s has no test", row)
		}
	}
}

// allRows names the rows of all tables of functions.
func allRows() []string {
	var rows []string
	for _, c := range controlTable {
		rows = append(rows, fmt.Sprintf("C0 %02x", c.code))
	}
	for _, table := range [][]function{csiFunctions, escFunctions} {
		for _, f := range table {
			rows = append(rows, f.kind+" "+f.match)
		}
	}
	for _, c := range oscTable {
		rows = append(rows, fmt.Sprintf("OSC %d", c.numbers[0]))
	}
	for _, d := range deviceStrings {
		rows = append(rows, "DCS "+d.match)
	}
	return rows
}

// TestModes checks that every mode can be set, queried, saved and reset, or is fixed.
func TestModes(t *testing.T) {
	for _, m := range modeTable {
		term := newTest(t, 80, 24)
		prefix := "?"
		if m.ansi {
			prefix = ""
		}
		ask := fmt.Sprintf("\x1b[%s%d$p", prefix, m.number)
		answer := func(s string, state int) {
			t.Helper()
			feed(term, s+ask)
			if got, want := replies(term), fmt.Sprintf("\x1b[%s%d;%d$y", prefix, m.number, state); !strings.HasSuffix(got, want) {
				t.Errorf("mode %s%d (%s): %q after %q, want %q", prefix, m.number, m.name, got, s, want)
			}
		}
		if m.fixed != 0 {
			answer(fmt.Sprintf("\x1b[%s%dh", prefix, m.number), m.fixed)
			continue
		}
		if m.number == 3 {
			feed(term, "\x1b[?40h")
		}
		if m.bit == modeANSI {
			continue // leaving it leaves DECRQM too: TestVT52
		}
		answer(fmt.Sprintf("\x1b[%s%dh", prefix, m.number), 1)
		answer(fmt.Sprintf("\x1b[%s%dl", prefix, m.number), 2)
		if !m.ansi {
			answer(fmt.Sprintf("\x1b[?%ds\x1b[?%dh\x1b[?%dr", m.number, m.number, m.number), 2)
		}
	}
}

// TestModeTable proves the order that findMode relies on, and that bits are used once.
func TestModeTable(t *testing.T) {
	var used modeBits
	for i := range modeTable {
		m := &modeTable[i]
		if findMode(m.number, m.ansi) != m {
			t.Errorf("mode %d is not found", m.number)
		}
		if used&m.bit != 0 {
			t.Errorf("mode %d shares its bit", m.number)
		}
		used |= m.bit
		if (m.bit == 0) == (m.fixed == 0) {
			t.Errorf("mode %d is neither fixed nor changeable", m.number)
		}
	}
}

// TestSequencesPage checks that docs/sequences.md equals the tables.
func TestSequencesPage(t *testing.T) {
	file := filepath.Join("..", "docs", "sequences.md")
	page := sequencesPage()
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page {
		t.Errorf("%s is not current: go generate ./vterm", file)
	}
}
