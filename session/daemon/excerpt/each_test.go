//go:build unix

package excerpt

import (
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 3*eachLineMax)
	s := printed(t, text("one\r\n\x1b[31mtwo\x1b[0m\r\n", long+"\n", "10%\r20%\r30%\n", "\x00\x01\x02binary\n", "tail"))
	var lines []string
	_, to := s.OutputRange()
	partial, err := EachLine(t.Context(), s, 0, to, false, func(l []byte) { lines = append(lines, string(l)) })
	if err != nil || partial {
		t.Fatalf("partial %v, %v", partial, err)
	}
	if len(lines) != 6 || !reflect.DeepEqual(lines[:2], []string{"one", "two"}) || len(lines[2]) != eachLineMax || lines[3] != "30%" || lines[5] != "tail" {
		t.Errorf("lines: %.200q", lines)
	}
}

func TestEachLine_PartialAfterAGap(t *testing.T) {
	s := printed(t, func(j *journal.Journal) {
		text("one\n")(j)
		if err := j.AppendGap(100); err != nil {
			panic(err)
		}
		text("two\n")(j)
	})
	var lines []string
	_, to := s.OutputRange()
	partial, err := EachLine(t.Context(), s, 0, to, false, func(l []byte) { lines = append(lines, string(l)) })
	if err != nil || !partial || !reflect.DeepEqual(lines, []string{"one", "two"}) {
		t.Errorf("%q, partial %v, %v", lines, partial, err)
	}
}

// TestLineReader_AnyPieces checks that the lines and offsets are the same, wherever the output is cut.
//
// FEATURES: R127
func TestLineReader_AnyPieces(t *testing.T) {
	s := printed(t, text("one\r\n\x1b[31mtwo", "\x1b[0m\r\n", "\x00\x01\x02binary\n", "error: no x\n", "tail"))
	_, to := s.OutputRange()
	type line struct {
		text string
		at   uint64
	}
	want := []line{{"one", 0}, {"two", 5}, {"binary", 19}, {"error: no x", 29}, {"tail", 41}}
	for size := uint64(1); size <= to; size++ {
		var got []line
		r := NewLineReader(s, 0, false, func(text []byte, at uint64) { got = append(got, line{string(text), at}) })
		for r.Offset() < to {
			if err := r.Read(t.Context(), min(to, r.Offset()+size)); err != nil {
				t.Fatal(err)
			}
		}
		if partial := r.Finish(); partial || !reflect.DeepEqual(got, want) {
			t.Fatalf("pieces of %d: %+v, partial %v", size, got, partial)
		}
	}
	var got []line
	r := NewLineReader(s, 0, false, func(text []byte, at uint64) { got = append(got, line{string(text), at}) })
	r.Skip(29)
	if err := r.Read(t.Context(), to); err != nil || len(got) != 1 || got[0] != want[3] {
		t.Errorf("after a skip: %+v, %v", got, err)
	}
}
