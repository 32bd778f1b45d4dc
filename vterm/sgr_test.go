package vterm_test

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestSGR checks the effect of SGR on a character and the answer of DECRQSS: a style that is stored but not reported,
// or the reverse, is incomplete.
//
// FEATURES: R30
func TestSGR(t *testing.T) {
	index, rgb := vterm.Index, vterm.RGB
	for _, c := range []struct {
		in    string
		want  vterm.Style
		asked string // the parameters of DECRQSS's answer
		spec  string
	}{
		{"\x1b[1m", vterm.Style{Attrs: vterm.Bold}, "0;1", "ECMA-48 8.3.117"},
		{"\x1b[2m", vterm.Style{Attrs: vterm.Faint}, "0;2", "ECMA-48 8.3.117"},
		{"\x1b[3m", vterm.Style{Attrs: vterm.Italic}, "0;3", "ECMA-48 8.3.117"},
		{"\x1b[4m", vterm.Style{Underline: vterm.UnderlineSingle}, "0;4", "ECMA-48 8.3.117"},
		{"\x1b[5m", vterm.Style{Attrs: vterm.Blink}, "0;5", "ECMA-48 8.3.117"},
		{"\x1b[6m", vterm.Style{Attrs: vterm.RapidBlink}, "0;6", "ECMA-48 8.3.117"},
		{"\x1b[7m", vterm.Style{Attrs: vterm.Inverse}, "0;7", "ECMA-48 8.3.117"},
		{"\x1b[8m", vterm.Style{Attrs: vterm.Conceal}, "0;8", "ECMA-48 8.3.117"},
		{"\x1b[9m", vterm.Style{Attrs: vterm.Strike}, "0;9", "ECMA-48 8.3.117"},
		{"\x1b[53m", vterm.Style{Attrs: vterm.Overline}, "0;53", "ECMA-48 8.3.117"},
		{"\x1b[21m", vterm.Style{Underline: vterm.UnderlineDouble}, "0;21", "ECMA-48 8.3.117"},
		{"\x1b[1;2m", vterm.Style{Attrs: vterm.Bold | vterm.Faint}, "0;1;2", "both can be on, as in xterm"},
		{"\x1b[1;2;22m", vterm.Style{}, "0", "22 ends both"},
		{"\x1b[3;23m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[21;24m", vterm.Style{}, "0", "24 ends double underlines too"},
		{"\x1b[4:3;24m", vterm.Style{}, "0", "24 ends all styles of underlines"},
		{"\x1b[5;6;25m", vterm.Style{}, "0", "25 ends both"},
		{"\x1b[7;27m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[8;28m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[9;29m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[53;55m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[1;3;4;7;9m\x1b[23;29m", vterm.Style{Attrs: vterm.Bold | vterm.Inverse, Underline: vterm.UnderlineSingle}, "0;1;7;4", "the others stay"},

		{"\x1b[1;31m\x1b[m", vterm.Style{}, "0", "no parameter is 0"},
		{"\x1b[1;31m\x1b[0m", vterm.Style{}, "0", "ECMA-48 8.3.117"},
		{"\x1b[1;31m\x1b[;4m", vterm.Style{Underline: vterm.UnderlineSingle}, "0;4", "an empty parameter is 0"},
		{"\x1b[1;;3m", vterm.Style{Attrs: vterm.Italic}, "0;3", "in the middle too"},
		{"\x1b[1;m", vterm.Style{}, "0", "and at the end"},
		{"\x1b[1;00000000003m", vterm.Style{Attrs: vterm.Bold | vterm.Italic}, "0;1;3", "leading zeros mean nothing"},
		{"\x1b[1;99999;3m", vterm.Style{Attrs: vterm.Bold | vterm.Italic}, "0;1;3", "an unknown one is skipped"},
		{"\x1b[10;11;20;26;50;51;54;60;65;73m", vterm.Style{}, "0", "fonts, frames and ideograms are not shown"},
		{"\x1b[1m\x1b[?31m\x1b[>31m", vterm.Style{Attrs: vterm.Bold}, "0;1", "with a private mark it is another function"},
		{"\x1b[31 m", vterm.Style{}, "0", "with an intermediate too"},

		{"\x1b[30m", vterm.Style{FG: index(0)}, "0;30", "ECMA-48 8.3.117"},
		{"\x1b[37;40m", vterm.Style{FG: index(7), BG: index(0)}, "0;37;40", "ECMA-48 8.3.117"},
		{"\x1b[90;107m", vterm.Style{FG: index(8), BG: index(15)}, "0;90;107", "aixterm's bright colours"},
		{"\x1b[31;42;39m", vterm.Style{BG: index(2)}, "0;42", "39 is the default foreground"},
		{"\x1b[31;42;49m", vterm.Style{FG: index(1)}, "0;31", "49 is the default background"},
		{"\x1b[98;108m", vterm.Style{}, "0", "next to the bright ones"},
		{"\x1b[38;5;1m", vterm.Style{FG: index(1)}, "0;31", "a small number is the same colour"},
		{"\x1b[38;5;9m", vterm.Style{FG: index(9)}, "0;91", "a bright one too"},
		{"\x1b[48;5;16m", vterm.Style{BG: index(16)}, "0;48:5:16", "xterm ctlseqs"},
		{"\x1b[38;5;255m", vterm.Style{FG: index(255)}, "0;38:5:255", "the last"},
		{"\x1b[38;5;256m", vterm.Style{}, "0", "beyond the last"},
		{"\x1b[38;5;256;1m", vterm.Style{Attrs: vterm.Bold}, "0;1", "which takes its number all the same"},
		{"\x1b[38;5m", vterm.Style{}, "0", "a colour cut short is none"},
		{"\x1b[38;5;m", vterm.Style{FG: index(0)}, "0;30", "an empty number is 0"},
		{"\x1b[38m", vterm.Style{}, "0", "ISO 8613-6: 38 alone says nothing"},
		{"\x1b[38;2;1;2;3m", vterm.Style{FG: rgb(1, 2, 3)}, "0;38:2::1:2:3", "konsole's form"},
		{"\x1b[48;2;255;0;255;1m", vterm.Style{BG: rgb(255, 0, 255), Attrs: vterm.Bold}, "0;1;48:2::255:0:255", "what follows is read"},
		{"\x1b[38;2;1;2m", vterm.Style{}, "0", "cut short"},
		{"\x1b[38;2;256;0;0m", vterm.Style{}, "0", "a component too large"},
		{"\x1b[38;2;;;m", vterm.Style{FG: rgb(0, 0, 0)}, "0;38:2::0:0:0", "empty components are 0"},
		{"\x1b[58;5;3;4m", vterm.Style{ULColor: index(3), Underline: vterm.UnderlineSingle}, "0;4;58:5:3", "kitty: the underline's colour"},
		{"\x1b[58;2;1;2;3m", vterm.Style{ULColor: rgb(1, 2, 3)}, "0;58:2::1:2:3", "kitty"},
		{"\x1b[58;5;3;59m", vterm.Style{}, "0", "59 ends it"},

		{"\x1b[38:5:1m", vterm.Style{FG: index(1)}, "0;31", "ISO 8613-6 with colons"},
		{"\x1b[38:2:1:2:3m", vterm.Style{FG: rgb(1, 2, 3)}, "0;38:2::1:2:3", "without the colour space that many leave out"},
		{"\x1b[38:2::1:2:3m", vterm.Style{FG: rgb(1, 2, 3)}, "0;38:2::1:2:3", "with an empty one"},
		{"\x1b[38:2:9:1:2:3m", vterm.Style{FG: rgb(1, 2, 3)}, "0;38:2::1:2:3", "with one that is not looked at"},
		{"\x1b[38:2::1:2:3:0:1m", vterm.Style{FG: rgb(1, 2, 3)}, "0;38:2::1:2:3", "with tolerances"},
		{"\x1b[38:5m", vterm.Style{}, "0", "cut short"},
		{"\x1b[38:5:256m", vterm.Style{}, "0", "beyond the last"},
		{"\x1b[38:2:1:2m", vterm.Style{}, "0", "a component is missing"},
		{"\x1b[38:3:1:2:3m", vterm.Style{}, "0", "CMY is not supported"},
		{"\x1b[38:5:1;1m", vterm.Style{FG: index(1), Attrs: vterm.Bold}, "0;1;31", "then the next parameter"},
		{"\x1b[38:5:1:7m", vterm.Style{FG: index(1)}, "0;31", "sub-parameters too many are not parameters"},
		{"\x1b[4:0m", vterm.Style{}, "0", "kitty: no underline"},
		{"\x1b[4:1m", vterm.Style{Underline: vterm.UnderlineSingle}, "0;4", "kitty"},
		{"\x1b[4:2m", vterm.Style{Underline: vterm.UnderlineDouble}, "0;21", "kitty: it is that of 21"},
		{"\x1b[4:3m", vterm.Style{Underline: vterm.UnderlineCurly}, "0;4:3", "kitty"},
		{"\x1b[4:4m", vterm.Style{Underline: vterm.UnderlineDotted}, "0;4:4", "kitty"},
		{"\x1b[4:5m", vterm.Style{Underline: vterm.UnderlineDashed}, "0;4:5", "kitty"},
		{"\x1b[4:6m", vterm.Style{Underline: vterm.UnderlineSingle}, "0;4", "an unknown one is a plain line"},
		{"\x1b[4:m", vterm.Style{Underline: vterm.UnderlineSingle}, "0;4", "an empty one is a plain line"},
		{"\x1b[4:3;1m", vterm.Style{Underline: vterm.UnderlineCurly, Attrs: vterm.Bold}, "0;1;4:3", "then the next parameter"},
		{"\x1b[1:2m", vterm.Style{Attrs: vterm.Bold}, "0;1", "sub-parameters that mean nothing are skipped"},
		{"\x1b[31:5;4m", vterm.Style{FG: index(1), Underline: vterm.UnderlineSingle}, "0;4;31", "also of a colour"},

		{"\x1b[1m\x1b7\x1b[0;3m\x1b8", vterm.Style{Attrs: vterm.Bold}, "0;1", "DECSC keeps the rendition"},
		{"\x1b[1m\x1b8", vterm.Style{}, "0", "DECRC with nothing saved resets it"},
		{"\x1b[1;31m\x1b[!p", vterm.Style{}, "0", "DECSTR resets it"},
		{"\x1b[1m\x1b[?1049h\x1b[3m\x1b[?1049l", vterm.Style{Attrs: vterm.Bold}, "0;1", "1049 saves and restores it"},
		{"\x1b[1m\x1b[?47h\x1b[3m\x1b[?47l", vterm.Style{Attrs: vterm.Bold | vterm.Italic}, "0;1;3", "47 does not"},
		{"\x1b[1;31m\x1b[#{\x1b[0;4m\x1b[#}", vterm.Style{Attrs: vterm.Bold, FG: index(1)}, "0;1;31", "XTPUSHSGR and XTPOPSGR"},
		{"\x1b[1;31m\x1b[30#{\x1b[0;4m\x1b[#}", vterm.Style{Underline: vterm.UnderlineSingle, FG: index(1)}, "0;4;31", "of the foreground only"},
		{"\x1b[1;41m\x1b[31#{\x1b[0;4m\x1b[#}", vterm.Style{Underline: vterm.UnderlineSingle, BG: index(1)}, "0;4;41", "of the background only"},
		{"\x1b[3m\x1b[1#{\x1b[1m\x1b[#}", vterm.Style{Attrs: vterm.Italic}, "0;3", "what was off goes off again"},
		{"\x1b[1m\x1b[#}", vterm.Style{Attrs: vterm.Bold}, "0;1", "from an empty stack nothing comes"},
		{"\x1b[1m\x1b[#{\x1b[3m\x1b[#{\x1b[0m\x1b[#}\x1b[#}", vterm.Style{Attrs: vterm.Bold}, "0;1", "the last in is the first out"},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		_ = term.Replies(nil)
		write(term, "x\x1bP$qm\x1b\\")
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if _, st := cellAt(term, f.Cursor.Row, f.Cursor.Col-1); st != c.want {
			t.Errorf("%s: %q gives %+v, want %+v", c.spec, c.in, st, c.want)
		}
		if got, want := string(term.Replies(nil)), "\x1bP1$r"+c.asked+"m\x1b\\"; got != want {
			t.Errorf("%s: %q is reported as %q, want %q", c.spec, c.in, got, want)
		}
		checkSnapshot(t, term, c.in)
	}
}

// TestSGRThereAndBack sends DECRQSS's answer back, which gives the same style.
func TestSGRThereAndBack(t *testing.T) {
	parts := []string{
		"1", "2", "3", "4", "5", "6", "7", "8", "9", "21", "53", "4:3", "4:4", "4:5", "31", "91", "42", "102", "38:5:99", "48:5:200",
		"38:2::1:2:3", "48:2::4:5:6", "58:2::7:8:9", "58:5:33", "58:5:3",
	}
	for i := range parts {
		for j := range parts {
			in := "\x1b[" + parts[i] + ";" + parts[j] + "m"
			term := (&example{}).terminal()
			write(term, in+"x\x1bP$qm\x1b\\")
			_, want := cellAt(term, 0, 0)
			said := string(term.Replies(nil))
			again := (&example{}).terminal()
			write(again, "\x1b["+said[len("\x1bP1$r"):len(said)-len("\x1b\\")]+"x")
			if _, got := cellAt(again, 0, 0); got != want {
				t.Errorf("%q is %+v, reported as %q which is %+v", in, want, said, got)
			}
		}
	}
}

// TestReportSGR checks that XTREPORTSGR reports the common attributes of a rectangle's cells.
func TestReportSGR(t *testing.T) {
	for _, c := range []struct{ in, rect, want string }{
		{"\x1b[1;31mab\x1b[0;1;32mcd", "1;1;1;2", "0;1;31"},
		{"\x1b[1;31mab\x1b[0;1;32mcd", "1;1;1;4", "0;1"},
		{"\x1b[1;31mab\x1b[0;1;32mcd", "1;3;1;4", "0;1;32"},
		{"\x1b[1;31mab\x1b[0;1;32mcd", "1;1;1;5", "0"}, // a cell that was never written
		{"\x1b[1;31mab\x1b[0;1;32mcd", "1;1;2;2", "0"},
		{"\x1b[4;44mab\x1b[4:3mcd", "1;1;1;4", "0;44"},
		{"\x1b[38;2;1;2;3mab", "1;1;1;2", "0;38:2::1:2:3"},
		{"\x1b[1mab", "2;2;1;1", ""}, // upside down
		{"\x1b[1mab\x1b[2;2H", "", "0"},
	} {
		term := (&example{}).terminal()
		write(term, c.in+"\x1b["+c.rect+"#|")
		want := ""
		if c.want != "" {
			want = "\x1b[" + c.want + "m"
		}
		if got := string(term.Replies(nil)); got != want {
			t.Errorf("%q of %q: %q, want %q", c.rect, c.in, got, want)
		}
	}
}
