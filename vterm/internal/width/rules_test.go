package width

import (
	"strings"
	"testing"
)

// TestBlocks checks the widths of a block's characters, by UAX #11 and the general category. Each row is a range with
// one width.
func TestBlocks(t *testing.T) {
	for _, b := range []struct {
		name        string
		first, last rune
		columns     int
	}{
		{"ASCII", 0x20, 0x7e, 1},
		{"Latin-1 letters", 0xc0, 0xff, 1},
		{"combining diacritical marks", 0x300, 0x36f, 0},
		{"Greek", 0x391, 0x3a1, 1},
		{"Cyrillic", 0x410, 0x44f, 1},
		{"Hebrew letters", 0x5d0, 0x5ea, 1},
		{"Hebrew points", 0x5b0, 0x5bd, 0},
		{"Arabic letters", 0x620, 0x64a, 1},
		{"Arabic vowel signs", 0x64b, 0x65f, 0},
		{"Thai consonants", 0xe01, 0xe2e, 1},
		{"Thai vowels above and tones", 0xe47, 0xe4e, 0},
		{"leading Hangul jamo", 0x1100, 0x115f, 2},
		{"vowel jamo", 0x1160, 0x11a7, 0},
		{"trailing jamo", 0x11a8, 0x11ff, 0},
		{"zero width space, joiners and marks of direction", 0x200b, 0x200f, 0},
		{"embeddings of direction", 0x202a, 0x202e, 0},
		{"word joiner and invisible operators", 0x2060, 0x2064, 0},
		{"marks for symbols", 0x20d0, 0x20f0, 0},
		{"currency signs", 0x20a0, 0x20bf, 1},
		{"arrows", 0x2190, 0x21ff, 1},
		{"box drawing", 0x2500, 0x257f, 1},
		{"block elements", 0x2580, 0x259f, 1},
		{"braille", 0x2800, 0x28ff, 1},
		{"watch and hourglass", 0x231a, 0x231b, 2},
		{"signs of the zodiac", 0x2648, 0x2653, 2},
		{"Kangxi radicals", 0x2f00, 0x2fd5, 2},
		{"ideographic space and stops", 0x3000, 0x3002, 2},
		{"ideographic tone marks", 0x302a, 0x302d, 0},
		{"Hiragana", 0x3041, 0x3096, 2},
		{"Hiragana's combining sound marks", 0x3099, 0x309a, 0},
		{"Katakana", 0x30a1, 0x30fa, 2},
		{"Bopomofo", 0x3105, 0x312f, 2},
		{"Han, extension A", 0x3400, 0x4dbf, 2},
		{"hexagrams", 0x4dc0, 0x4dff, 2},
		{"Han", 0x4e00, 0x9fff, 2},
		{"Yi", 0xa000, 0xa48c, 2},
		{"Hangul syllables", 0xac00, 0xd7a3, 2},
		{"private use", 0xe000, 0xf8ff, 1},
		{"Han, compatibility", 0xf900, 0xfa6d, 2},
		{"Latin ligatures", 0xfb00, 0xfb06, 1},
		{"variation selectors", 0xfe00, 0xfe0f, 0},
		{"combining half marks", 0xfe20, 0xfe2f, 0},
		{"vertical forms", 0xfe30, 0xfe4f, 2},
		{"full width ASCII", 0xff01, 0xff5e, 2},
		{"half width Katakana and sound marks", 0xff66, 0xff9f, 1},
		{"full width signs", 0xffe0, 0xffe6, 2},
		{"replacement character", 0xfffd, 0xfffd, 1},
		{"Linear B", 0x10000, 0x1000b, 1},
		{"Tangut", 0x17000, 0x187f7, 2},
		{"Kana supplement", 0x1b000, 0x1b0ff, 2},
		{"mathematical letters", 0x1d400, 0x1d454, 1},
		{"mahjong red dragon", 0x1f004, 0x1f004, 2},
		{"regional indicators, each by itself", 0x1f1e6, 0x1f1ff, 1},
		{"weather and landscapes", 0x1f300, 0x1f320, 2},
		{"skin tones", 0x1f3fb, 0x1f3ff, 2},
		{"faces", 0x1f600, 0x1f64f, 2},
		{"playing cards", 0x1f0a1, 0x1f0ae, 1},
		{"Han, extension B", 0x20000, 0x2a6df, 2},
		{"Han, extension G", 0x30000, 0x3134a, 2},
		{"tags", 0xe0020, 0xe007f, 0},
		{"variation selectors supplement", 0xe0100, 0xe01ef, 0},
		{"private use, plane 16", 0x100000, 0x10fffd, 1},
	} {
		for r := b.first; r <= b.last; r++ {
			if got := Of(r).Columns(); got != b.columns {
				t.Errorf("%s: %U takes %d columns, want %d", b.name, r, got, b.columns)
				break
			}
		}
	}
	for _, r := range []rune{-1, 0x110000, 1<<31 - 1} {
		if got := Of(r).Columns(); got != 1 {
			t.Errorf("%#x, which is no character, takes %d columns", r, got)
		}
	}
}

// TestProperties checks the properties of single code points.
func TestProperties(t *testing.T) {
	for _, c := range []struct {
		name                                  string
		r                                     rune
		ambiguous, variations, joins, starter bool
	}{
		{"a letter", 'a', false, false, false, true},
		{"a digit, of a keycap", '1', false, true, false, true},
		{"a degree sign", 0xb0, true, false, false, true},
		{"a circled digit", 0x2461, true, false, false, true},
		{"a Greek letter", 0x3b1, true, false, false, true},
		{"an accent", 0x301, false, false, true, false},
		{"a joiner", 0x200d, false, false, true, false},
		{"a variation selector", 0xfe0f, false, false, true, false},
		{"a Han character", 0x4f60, false, false, false, true},
		{"a heart", 0x2764, false, true, true, true},
		{"a face", 0x1f600, false, false, true, true},
		{"half a flag", 0x1f1e6, false, false, true, false},
		{"a leading jamo", 0x1100, false, false, true, false},
		{"a vowel jamo", 0x1161, false, false, true, false},
		{"a syllable", 0xac00, false, false, true, true},
	} {
		p := Of(c.r)
		if got := p.Ambiguous(); got != c.ambiguous {
			t.Errorf("%s, %U: ambiguous %t", c.name, c.r, got)
		}
		if got := p.HasVariations(); got != c.variations {
			t.Errorf("%s, %U: has variations %t", c.name, c.r, got)
		}
		if got := p.Joins(); got != c.joins {
			t.Errorf("%s, %U: joins %t", c.name, c.r, got)
		}
		if got := p.Starter(); got != c.starter {
			t.Errorf("%s, %U: starter %t", c.name, c.r, got)
		}
		if p.Plain() && (p.Joins() || p.Ambiguous()) {
			t.Errorf("%s, %U: plain, but joins or is ambiguous", c.name, c.r)
		}
	}
}

// clusters cuts a text where a cluster ends.
func clusters(s string) []string {
	var out []string
	var state State
	for _, r := range s {
		var joined bool
		if state, joined = Step(state, Of(r)); joined {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
	}
	return out
}

// TestRules: each rule of UAX #29 that is kept, where it joins and where it stops. "|" is a break.
func TestRules(t *testing.T) {
	for _, c := range []struct{ rule, text string }{
		{"GB3: CR LF, here two controls", "\r|\n"},
		{"GB4, GB5: around controls", "a|\x01|b"},
		{"GB4, GB5: a mark after a control", "\n|\u0301"},
		{"GB6: L with L, V, LV, LVT", "\u1100\u1100|a|\u1100\u1161|a|\u1100\uac00|a|\u1100\uac01"},
		{"GB6: L with T is apart", "\u1100|\u11a8"},
		{"GB7: LV and V with V and T", "\uac00\u1161|a|\uac00\u11a8|a|\u1161\u1161\u11a8"},
		{"GB7: LV with L is apart", "\uac00|\u1100"},
		{"GB8: LVT and T with T", "\uac01\u11a8\u11a8"},
		{"GB8: LVT with V is apart", "\uac01|\u1161"},
		{"GB9: any mark and any joiner", "a\u0301\u0302\u200d\u0303|b"},
		{"GB9: a mark that begins the text", "\u0301\u0302|a"},
		{"GB9a is not kept: spacing marks have columns of their own", "\u0915|\u093e|\u0915|\u0940"},
		{"GB9b: prepended marks join marks only", "\u0600\u0301|\u0661"},
		{"GB9c is not kept: letters of conjuncts have columns of their own", "\u0915\u094d|\u0937"},
		{"GB11: pictographs by a joiner", "\U0001F468\u200d\U0001F469\u200d\U0001F466|\U0001F466"},
		{"GB11: with marks before the joiner", "\U0001F469\U0001F3FD\u200d\U0001F4BB|\U0001F4BB"},
		{"GB11: a letter before the joiner", "a\u200d|\U0001F469"},
		{"GB11: a letter after the joiner", "\U0001F469\u200d|a"},
		{"GB12, GB13: regional indicators by two", "\U0001F1E9\U0001F1EA|\U0001F1EB\U0001F1F7|\U0001F1EC"},
		{"GB12: after a letter", "a|\U0001F1E9\U0001F1EA|b"},
		{"GB12: a mark between does not begin a new count", "\U0001F1E9\u0301|\U0001F1EA"},
		{"GB999: all else is apart", "a|b|你|好|\U0001F600|\U0001F600"},
		{"keycaps", "1\ufe0f\u20e3|2\ufe0f\u20e3"},
		{"tags of a subdivision's flag", "\U0001F3F4\U000E0067\U000E0062\U000E007F|x"},
	} {
		if got := strings.Join(clusters(strings.ReplaceAll(c.text, "|", "")), "|"); got != c.text {
			t.Errorf("%s: %+q, want %+q", c.rule, got, c.text)
		}
	}
}

// TestAwaits checks that Awaits covers every state in which a code point that usually starts a cluster can join one:
// the fast paths print a starter without another check.
func TestAwaits(t *testing.T) {
	before := []string{"a", "e\u0301", "\u1100", "\uac00", "\uac01", "\u1161", "\U0001F469", "\U0001F469\u200d", "a\u200d", "\U0001F1E9", "\U0001F1E9\U0001F1EA", "\u0600", "\u0915\u094d", "\u200b", "你"}
	for _, s := range before {
		var state State
		for _, r := range s {
			state, _ = Step(state, Of(r))
		}
		for r := rune(0xa0); r < 0x30000; r++ {
			p := Of(r)
			if !p.Starter() || p.Columns() == 0 { // characters without width take the slow path
				continue
			}
			if _, joined := Step(state, p); joined && !Awaits(state) {
				t.Errorf("after %+q %U joins, which Awaits does not report", s, r)
				break
			}
		}
	}
}

// TestStart checks that a state of 0 joins nothing, and that a start is never 0.
func TestStart(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		p := Of(r)
		if s, joined := Step(0, p); joined || s != Start(p) || s == 0 {
			t.Fatalf("%U: state %#x, joined %t", r, s, joined)
		}
	}
}
