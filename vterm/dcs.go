package vterm

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// deviceString is a row of the table of device control strings (DCS).
type deviceString struct {
	match  string // intermediates and final byte, like function.match
	name   string
	syntax string
	source string
	run    func(t *Terminal, s *parse.Seq, data []byte)
}

var deviceStrings = []deviceString{
	{"q", "sixel graphics", "DCS Ps ; Ps ; Ps q … ST", "VT340", (*Terminal).sixel},
	{"$q", "DECRQSS: setting asked", "DCS $ q Pt ST", "VT510", (*Terminal).requestSetting},
	{"$t", "DECRSPS: restore presentation state", "DCS Ps $ t Pt ST", "VT510", (*Terminal).restoreState},
	{"+q", "XTGETTCAP: terminfo capability asked", "DCS + q Pt ST", "xterm", (*Terminal).requestCapability},
	{"+p", "XTSETTCAP: swallowed", "DCS + p Pt ST", "xterm", func(*Terminal, *parse.Seq, []byte) {}},
	{"|", "DECUDK: user-defined keys, swallowed", "DCS Ps ; Ps | Pt ST", "VT510", func(*Terminal, *parse.Seq, []byte) {}},
	{"{", "DECDLD: soft characters, swallowed", "DCS … { Pt ST", "VT510", func(*Terminal, *parse.Seq, []byte) {}},
}

// dcs runs a device control string.
func (t *Terminal) dcs(s *parse.Seq, data []byte) {
	for i := range deviceStrings {
		d := &deviceStrings[i]
		if (&function{match: d.match}).key() == s.Key() {
			d.run(t, s, data)
			return
		}
	}
}

// requestSetting implements DECRQSS. The answer is 1 $ r setting, or 0 $ r if the setting is unknown (xterm's order: 1
// is valid).
func (t *Terminal) requestSetting(_ *parse.Seq, data []byte) {
	if v, ok := t.setting(string(data)); ok {
		t.replyDCS("1$r%s%s", v, strings.TrimPrefix(string(data), ">4"))
	} else {
		t.replyDCS("0$r")
	}
}

func (t *Terminal) setting(name string) (string, bool) {
	switch name {
	case "m":
		return sgrString(t.pen), true
	case "r":
		return fmt.Sprintf("%d;%d", t.top+1, t.bottom+1), true
	case "s":
		return fmt.Sprintf("%d;%d", t.left+1, t.right+1), t.conform.level >= 4
	case "t":
		return fmt.Sprint(t.rows), true
	case " q":
		return fmt.Sprint(t.shapeNumber()), true
	case "\"q":
		return fmt.Sprint(boolInt(t.protect&CellProtected != 0)), true
	case "\"p":
		if t.conform.level == 1 {
			return "61", true
		}
		return fmt.Sprintf("%d;%d", 60+t.conform.level, 1-boolInt(t.bit8)), true
	case "$|":
		return fmt.Sprint(t.cols), true
	case "*|":
		return fmt.Sprint(t.rows), true
	case "*x":
		return fmt.Sprint(t.rectExtent), true
	case "$}", "$~", "\"t", ",|", ",}", ",~":
		return "0", true
	case ">4m":
		return fmt.Sprintf(">4;%d", t.keyFormat.modifyOther), true
	}
	return "", false
}

// requestCapability implements XTGETTCAP. Names and values are in hex. Only known names are answered, in the table's
// spelling; unknown names are not repeated.
func (a *replyQueue) requestCapability(_ *parse.Seq, data []byte) {
	for _, h := range strings.Split(string(data), ";") {
		name, err := hex.DecodeString(h)
		v, ok := capabilities[string(name)]
		if err != nil || !ok {
			a.replyDCS("0+r")
			return
		}
		a.replyDCS("1+r%s=%s", toHex(string(name)), toHex(v))
	}
}

var capabilities = map[string]string{
	"TN": "xterm-256color", "name": "xterm-256color", "Co": "256", "colors": "256", "RGB": "8/8/8", "Tc": "", "Su": "",
	"setrgbf": "\x1b[38:2:%p1%d:%p2%d:%p3%dm", "setrgbb": "\x1b[48:2:%p1%d:%p2%d:%p3%dm",
	"Ss": "\x1b[%p1%d q", "Se": "\x1b[2 q", "Smulx": "\x1b[4:%p1%dm", "Setulc": "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m",
	"Ms": "\x1b]52;%p1%s;%p2%s\x07", "fullkbd": "", "Sync": "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
}

func toHex(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }
