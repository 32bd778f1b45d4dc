package vterm_test

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// from0x21 are the characters of a set's 94 positions, for which a set has others.
var from0x21 = func() string {
	var b strings.Builder
	for c := byte(0x21); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

// TestSupplementalSets checks the right halves of ISO 8859, by the Unicode Consortium's mapping tables, each in a slot
// for sets of 96 characters. Unassigned positions show U+2426.
//
// FEATURES: R30
func TestSupplementalSets(t *testing.T) {
	for _, c := range []struct{ final, source, want string }{
		{"A", "ISO 8859-1", "¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþ"},
		{"B", "ISO 8859-2", "Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00adŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ"},
		{"M", "ISO 8859-9", "¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüış"},
		{"L", "ISO 8859-5", "ЁЂЃЄЅІЇЈЉЊЋЌ\u00adЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ў"},
		{"F", "ISO 8859-7:1987, before the euro", "‘’£␦␦¦§¨©␦«¬\u00ad␦―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ␦ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ"},
		{"H", "ISO 8859-8:1988, before the marks of direction", "␦¢£¤¥¦§¨©×«¬\u00ad®¯°±²³´µ¶·¸¹÷»¼½¾␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦‗אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦"},
	} {
		for _, slot := range []struct{ designate, shift string }{{"-", "\x0e"}, {".", "\x1bn"}, {"/", "\x1bo"}} {
			term := (&example{cols: 100}).terminal()
			write(term, "\x1b"+slot.designate+c.final+slot.shift+from0x21)
			got := firstRow(term)
			if got != c.want {
				t.Errorf("%s in the slot of %q:\n%s, want\n%s", c.source, slot.designate, got, c.want)
			}
		}
	}
}

func firstRow(t *vterm.Terminal) string {
	var f vterm.Frame
	t.Frame(&f, vterm.Query{})
	return textOf(&f, &f.Lines[0])
}

// TestNationalSets checks the national forms of ISO 646. A case lists only the differences from ASCII: position and
// character (VT510, chapter 5, "National Replacement Character Sets").
//
// FEATURES: R30
func TestNationalSets(t *testing.T) {
	for _, c := range []struct{ finals, name, pairs string }{
		{"A", "British", "#£"},
		{"4", "Dutch", "#£@¾[ĳ\\½]|{¨|ƒ}¼~´"},
		{"C 5", "Finnish", "[Ä\\Ö]Å^Ü`é{ä|ö}å~ü"},
		{"R f", "French", "#£@à[°\\ç]§{é|ù}è~¨"},
		{"Q 9", "French Canadian", "@à[â\\ç]ê^î`ô{é|ù}è~û"},
		{"K", "German", "@§[Ä\\Ö]Ü{ä|ö}ü~ß"},
		{"Y", "Italian", "#£@§[°\\ç]é`ù{à|ò}è~ì"},
		{"E 6 `", "Norwegian and Danish", "@Ä[Æ\\Ø]Å^Ü`ä{æ|ø}å~ü"},
		{"%6", "Portuguese", "[Ã\\Ç]Õ{ã|ç}õ"},
		{"Z", "Spanish", "#£@§[¡\\Ñ]¿{°|ñ}ç"},
		{"H 7", "Swedish", "@É[Ä\\Ö]Å^Ü`é{ä|ö}å~ü"},
		{"=", "Swiss", "#ù@à[é\\ç]ê^î_è`ô{ä|ö}ü~û"},
	} {
		want := []rune(from0x21)
		pairs := []rune(c.pairs)
		for i := 0; i < len(pairs); i += 2 {
			want[pairs[i]-0x21] = pairs[i+1]
		}
		for _, final := range strings.Fields(c.finals) {
			for slot, shift := range map[string]string{"(": "", ")": "\x0e", "*": "\x1bn", "+": "\x1bo"} {
				term := (&example{cols: 100}).terminal()
				write(term, "\x1b[?42h\x1b"+slot+final+shift+from0x21)
				if got := firstRow(term); got != string(want) {
					t.Errorf("%s by %q in the slot of %q:\n%s, want\n%s", c.name, final, slot, got, string(want))
				}
			}
			if final == "A" {
				continue // the British one was there before DECNRCM
			}
			term := (&example{cols: 100}).terminal()
			write(term, "\x1b("+final+from0x21)
			if got := firstRow(term); got != from0x21 {
				t.Errorf("%s without DECNRCM:\n%s", c.name, got)
			}
		}
	}
}

// TestSpecialGraphics: DEC's line drawing set, position by position (VT100, table 3-9).
//
// FEATURES: R30
func TestSpecialGraphics(t *testing.T) {
	const want = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^ ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	for slot, shift := range map[string]string{"(": "", ")": "\x0e", "*": "\x1bn", "+": "\x1bo"} {
		term := (&example{cols: 100}).terminal()
		write(term, "\x1b"+slot+"0"+shift+from0x21)
		if got := firstRow(term); got != want {
			t.Errorf("in the slot of %q:\n%s, want\n%s", slot, got, want)
		}
	}
}

// TestTechnical checks DEC's technical set, except pieces of larger signs (VT330, appendix).
func TestTechnical(t *testing.T) {
	for in, want := range map[string]string{
		"<": "≤", "=": "≠", ">": "≥", "?": "∫", "@": "∴", "B": "∞", "C": "÷", "D": "Δ", "E": "∇", "F": "Φ", "G": "Γ",
		"J": "Θ", "K": "×", "L": "Λ", "P": "Π", "Q": "Ψ", "S": "Σ", "V": "√", "W": "Ω", "X": "Ξ", "Y": "Υ", "a": "α", "b": "β",
		"c": "χ", "d": "δ", "e": "ε", "p": "π", "q": "ψ", "s": "σ", "w": "ω", "z": "ζ", "{": "←", "|": "↑", "}": "→", "~": "↓",
	} {
		term := (&example{}).terminal()
		write(term, "\x1b(>"+in)
		if got := firstRow(term); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

// TestCharsets: designation, shifts, and what ends them.
//
// FEATURES: R30
func TestCharsets(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "SO and SI choose G1 and G0",
			spec:   "ECMA-48 8.3.126 SO, 8.3.119 SI",
			in:     "\x1b)0q\x0eq\x0fq",
			screen: []string{"q─q"},
			col:    3,
		},
		{
			name:   "LS2 and LS3 choose G2 and G3",
			spec:   "ECMA-48 8.3.78, 8.3.80",
			in:     "\x1b*0\x1b+A\x1bnq#\x1boq#\x0fq#",
			screen: []string{"─#q£q#"},
			col:    6,
		},
		{
			name:   "SS2 and SS3 are for one character",
			spec:   "ECMA-48 8.3.141, 8.3.142",
			in:     "\x1b*0\x1b+A\x1bNqq\x1bO##",
			screen: []string{"─q£#"},
			col:    4,
		},
		{
			name:   "8-bit forms of SS2 and SS3",
			spec:   "ECMA-48 8.3.141, 8.3.142",
			in:     "\x1b*0\x1b+A\u008eqq\u008f##",
			screen: []string{"─q£#"},
			col:    4,
		},
		{
			name:   "SS2 outlasts a control character",
			spec:   "ECMA-35 8.4: it affects the next graphic character",
			in:     "\x1b*0\x1bN\r\nqq",
			screen: []string{"", "─q"},
			row:    1, col: 2,
		},
		{
			name:   "SS2 is used up by a character above ASCII",
			spec:   "xterm: the character is taken as it is",
			in:     "\x1b*0\x1bNéq",
			screen: []string{"éq"},
			col:    2,
		},
		{
			name:   "a space in a set of 94 is a space",
			spec:   "ECMA-35 6.2.2",
			in:     "\x1b(0q q",
			screen: []string{"─ ─"},
			col:    3,
		},
		{
			name:   "UTF-8 is not translated",
			spec:   "xterm: sets are for bytes below 0x80",
			in:     "\x1b(0é你q",
			screen: []string{"é你─"},
			col:    4,
		},
		{
			name:   "an unknown set leaves the slot as it is",
			spec:   "VT510, SCS: unrecognized sets are ignored",
			in:     "\x1b(0\x1b(x\x1b(%zq",
			screen: []string{"─"},
			col:    1,
		},
		{
			name:   "a set of 96 characters cannot be in G0",
			spec:   "ECMA-35 14.3.2: 96-sets go to G1, G2 and G3",
			in:     "\x1b,A#",
			screen: []string{"#"},
			col:    1,
		},
		{
			name:   "the same letter names different sets of 94 and 96",
			spec:   "VT510, SCS: A is British or ISO Latin-1",
			in:     "\x1b)A\x0e#\x1b-A#",
			screen: []string{"££"},
			col:    2,
		},
		{
			name:   "leaving DECNRCM ends the national sets",
			spec:   "VT510, DECNRCM",
			in:     "\x1b[?42h\x1b(K[\x1b[?42l[",
			screen: []string{"Ä["},
			col:    2,
		},
		{
			name:   "RIS, DECSTR and DECRC with nothing saved reset the sets",
			spec:   "VT510, DECSTR and DECRC",
			in:     "\x1b(0q\x1b[!pq\x1b)0\x0eq\x1b8\x1b[4Gq",
			screen: []string{"─q─q"},
			col:    4,
		},
		{
			name:   "DECSC keeps sets and shifts",
			spec:   "VT510, DECSC",
			in:     "\x1b)0\x0e\x1b7\x0f\x1b)Bq\x1b8\x1b[2Gq",
			screen: []string{"q─"},
			col:    2,
		},
		{
			name:   "SS2 is kept by DECSC as well",
			spec:   "VT510, DECSC: any single shift 2 or 3",
			in:     "\x1b*0\x1bN\x1b7qq\x1b8q",
			screen: []string{"─q"},
			col:    1,
		},
		{
			name:   "sets are translated where the text is printed, not where it is shown",
			spec:   "VT510, SCS",
			in:     "\x1b(0lqk\x1b(B lqk",
			screen: []string{"┌─┐ lqk"},
			col:    7,
		},
		{
			name:   "a run of text in another set wraps as usual",
			spec:   "VT510, DECAWM",
			in:     "\x1b(0qqqqqqqqqqqq",
			screen: []string{"──────────", "──"},
			row:    1, col: 2,
		},
		{
			name:   "insert mode in another set",
			spec:   "ECMA-48 7.2.10",
			in:     "xx\r\x1b(0\x1b[4hqq",
			screen: []string{"──xx"},
			col:    2,
		},
		{
			name:   "REP repeats what was shown",
			spec:   "ECMA-48 8.3.103; xterm",
			in:     "\x1b(0q\x1b[2b\x1b(Bq",
			screen: []string{"───q"},
			col:    4,
		},
		{
			name:   "DECFRA fills in the set in use",
			spec:   "xterm: the fill character is mapped like text",
			in:     "\x1b(0\x1b[113;1;1;2;3$x",
			screen: []string{"───", "───"},
		},
		{
			name:    "DECCIR tells sets, shifts and where 96 are",
			spec:    "VT510, DECCIR",
			in:      "\x1b(0\x1b-A\x1b*>\x0e\x1b[1$w",
			replies: "\x1bP1$u1;1;1;@;@;@;1;2;B;0A>B\x1b\\",
		},
	})
}
