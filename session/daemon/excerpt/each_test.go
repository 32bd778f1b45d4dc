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
