package vterm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// reportState implements DECRQPSR: 1 requests the cursor (DECCIR), 2 the tab stops (DECTABSR).
func (t *Terminal) reportState(s *parse.Seq) {
	switch s.Param(0, 0) {
	case 1:
		t.replyDCS("1$u%s", t.cursorInformation())
	case 2:
		var stops []string
		for col := 1; col < t.cols; col++ { // the first column is no stop, as in xterm
			if t.tabs.isSet(col) {
				stops = append(stops, strconv.Itoa(col+1))
			}
		}
		t.replyDCS("2$u%s", strings.Join(stops, "/"))
	}
}

// cursorInformation returns the report of DECCIR (VT510).
func (t *Terminal) cursorInformation() string {
	row, col := t.fromOrigin()
	flag := func(at int, on bool) int { return boolInt(on) << at }
	rendition := 0x40 + flag(0, t.pen.Attrs&Bold != 0) + flag(1, t.pen.Underline != 0) +
		flag(2, t.pen.Attrs&Blink != 0) + flag(3, t.pen.Attrs&Inverse != 0)
	protection := 0x40 + flag(0, t.protect != 0)
	flags := 0x40 + flag(0, t.modes&modeOrigin != 0) + flag(1, t.charsets.single == 2) +
		flag(2, t.charsets.single == 3) + flag(3, t.cur.Pending)
	size96, names := 0x40, ""
	for i, g := range t.charsets.g {
		size96 += flag(i, charsetTables[g].size96)
		names += charsetTables[g].names[0]
	}
	return fmt.Sprintf("%d;%d;1;%c;%c;%c;%d;%d;%c;%s", row+1, col+1, rendition, protection, flags,
		t.charsets.gl, t.charsets.gr, size96, names)
}

// restoreState implements DECRSPS, the inverse of DECRQPSR.
func (t *Terminal) restoreState(s *parse.Seq, data []byte) {
	switch s.Param(0, 0) {
	case 1:
		t.restoreCursorInformation(strings.SplitN(string(data), ";", 10))
	case 2:
		clear(t.tabs)
		for _, f := range strings.Split(string(data), "/") {
			if col, err := strconv.Atoi(f); err == nil && col >= 1 && col <= t.cols {
				t.tabs.set(col - 1)
			}
		}
	}
}

func (t *Terminal) restoreCursorInformation(f []string) {
	if len(f) < 10 {
		return
	}
	row, err1 := strconv.Atoi(f[0])
	col, err2 := strconv.Atoi(f[1])
	if err1 != nil || err2 != nil || f[3] == "" || f[4] == "" || f[5] == "" {
		return
	}
	rendition, protection, flags := f[3][0], f[4][0], f[5][0]
	bit := func(b byte, at int) bool { return b>>at&1 != 0 }
	t.pen.Attrs &^= Bold | Blink | Inverse
	for at, a := range []Attrs{Bold, 0, Blink, Inverse} {
		if bit(rendition, at) {
			t.pen.Attrs |= a
		}
	}
	t.pen.Underline = Underline(boolInt(bit(rendition, 1)))
	t.protect = 0
	if bit(protection, 0) {
		t.protect = CellProtected
	}
	t.penChanged()
	t.setMode(modeOrigin, bit(flags, 0))
	t.moveToOrigin(row-1, col-1)
	t.cur.Pending = bit(flags, 3)
	t.restoreCharsets(f[6:])
}

// restoreCharsets restores the character sets from DECCIR: GL, GR, which sets have 96 characters, and the names of the
// sets, one after the other.
func (t *Terminal) restoreCharsets(f []string) {
	for i, slot := range []*uint8{&t.charsets.gl, &t.charsets.gr} {
		if v, err := strconv.Atoi(f[i]); err == nil && v >= 0 && v < len(t.charsets.g) {
			*slot = uint8(v)
		}
	}
	names := f[3]
	for i := range t.charsets.g {
		n := 0
		for n < len(names) && names[n] < 0x30 { // intermediates come before the final byte
			n++
		}
		if n == len(names) || f[2] == "" {
			break
		}
		t.designate(i, names[:n+1], f[2][0]>>i&1 != 0)
		names = names[n+1:]
	}
	t.updateSimple()
}
