// Package replyform is the grammar of all answers that an engine may send.
//
// Output is not trusted, and if the querying program does not read an answer, the shell reads it as typed text. Answers
// therefore consist of fixed texts, numbers of limited length and colours in one form, and never of bytes that output
// chose. Tests and fuzz targets of both engines check answers against the table here, and docs/sequences.md lists it.
package replyform

import (
	"fmt"
	"regexp"
	"strings"
)

// Kind is one form of answer. Pattern is a regular expression in which <N> matches a number of up to 5 digits, <L> one
// of up to 10, <RGB> a colour, <SGR> the parameters of a style and <ST> the terminator, which is BEL if the query ended
// with BEL.
type Kind struct {
	Name    string
	Pattern string
}

// Kinds lists all answers. A terminal set to 8-bit C1 controls (S8C1T) sends 0x9b for ESC [, and so on.
var Kinds = []Kind{
	{"DA1", `ESC \[\?(1;2|62;22|6[1-5];1;2;4;6;9;15;16;17;18;21;22;28;29)c`},
	{"DA2", `ESC \[>(0|1|24|41|64);(10|398);0c`},
	{"DA3", `ESC P!\|00000000<ST>`},
	{"XTVERSION", `ESC P>\|longterm\((1|vt10x)\)<ST>`},
	{"VT52 identity", `ESC /Z`},
	{"DSR: operating status", `ESC \[0n`},
	{"DSR: cursor position", `ESC \[<N>;<N>R`},
	{"DECXCPR", `ESC \[\?<N>;<N>;1R`},
	{"DECDSR: devices, which are absent", `ESC \[\?(13|20|27;1;0;0|50|57;0|70|83)n`},
	{"DECDSR: colour scheme", `ESC \[\?997;[12]n`},
	{"DECMSR", `ESC \[0000\*\{`},
	{"DECCKSR: checksum", `ESC P<N>!~[0-9A-F]{4}<ST>`},
	{"DECREPTPARM", `ESC \[[23];1;1;128;128;1;0x`},
	{"DECLRP: no locator", `ESC \[0&w`},
	{"DECRPM", `ESC \[\??<N>;[0-4]\$y`},
	{"XTQMODKEYS", `ESC \[>[0-7];[0-3]m`},
	{"kitty keyboard flags", `ESC \[\?<N>u`},
	{"XTREPORTSGR", `ESC \[<SGR>m`},
	{"XTREPORTCOLORS", `ESC \[\?<N>;<N>#Q`},
	{"XTSMGRAPHICS", `ESC \[\?(1;0;256|2;0;<L>;<L>|<N>;[12])S`},
	{"XTWINOPS: state, position", `ESC \[(1|3;0;0)t`},
	{"XTWINOPS: sizes", `ESC \[[45689];<L>;<L>t`},
	{"XTWINOPS: titles, empty", `ESC \][lL]<ST>`},
	{"in-band size", `ESC \[48;<N>;<N>;<L>;<L>t`},
	{"DECRQUPSS", `ESC P0!u%5<ST>`},
	{"DECCIR", `ESC P1\$u<N>;<N>;1;[@-O];[@A];[@-O];[0-3];[0-3];[@-O];([ -/]?[0-~]){4}<ST>`},
	{"DECTABSR", `ESC P2\$u(<N>(/<N>)*)?<ST>`},
	{"DECRQSS", `ESC P(0\$r|1\$r(<SGR>m|<N>;<N>[rs]|<N>t|<N> q|[01]"q|6[1-5](;[01])?"p|<N>\$\||<N>\*\||<N>\*x|0\$[}~]|0"t|0,[|}~]|>4;[0-2]m))<ST>`},
	{"XTGETTCAP", `ESC P(0\+r|1\+r([0-9A-F]{2}){2,7}=([0-9A-F]{2}){0,80})<ST>`},
	{"OSC 4, 5: palette", `ESC \][45];<N>;<RGB><ST>`},
	{"OSC 10 to 19: dynamic colours", `ESC \]1[0-9];<RGB><ST>`},
	{"OSC 21: colours by name", `ESC \]21;<COLOR>(;<COLOR>)*<ST>`},
	{"kitty graphics", `ESC _G([iIp]=<L>(,[Ip]=<L>)*)?;(OK|E[A-Z]+:[a-zA-Z0-9 ,]{1,80})<ST>`},
}

// parts replaces the placeholders of patterns.
var parts = strings.NewReplacer("ESC ", "\x1b", "<ST>", `(\x1b\\|\x07)`, "<N>", "[0-9]{1,5}", "<L>", "[0-9]{1,10}",
	"<RGB>", rgb, "<SGR>", `0(;([0-9]{1,3}|4:[3-5]|[345]8:5:[0-9]{1,3}|[345]8:2::[0-9]{1,3}:[0-9]{1,3}:[0-9]{1,3}))*`,
	"<COLOR>", `((foreground|background|cursor|[0-9]{1,3})=`+rgb+
		`|(cursor_text|visual_bell|selection_(fore|back)ground|transparent_background_color[1-8])=\?)`)

const rgb = "rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}"

// compiled holds the patterns of Kinds.
var compiled = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(Kinds))
	for i, k := range Kinds {
		list[i] = regexp.MustCompile("^(" + parts.Replace(k.Pattern) + ")")
	}
	return list
}()

// c1 converts 8-bit controls to their 7-bit form.
var c1 = strings.NewReplacer("\x90", "\x1bP", "\x9b", "\x1b[", "\x9c", "\x1b\\", "\x9d", "\x1b]", "\x9f", "\x1b_")

// CountByForm parses replies and counts them by form. It fails on the first reply without a known form.
func CountByForm(answers []byte) (map[string]int, error) {
	seen := make(map[string]int)
	rest := c1.Replace(string(answers))
	for rest != "" {
		name, n := match(rest)
		if n == 0 {
			return seen, fmt.Errorf("%q is no answer of the table", rest[:min(len(rest), 200)])
		}
		seen[name]++
		rest = rest[n:]
	}
	return seen, nil
}

func match(s string) (name string, n int) {
	for i, re := range compiled {
		if m := re.FindStringIndex(s); m != nil {
			return Kinds[i].Name, m[1]
		}
	}
	return "", 0
}
