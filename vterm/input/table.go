package input

import "unicode"

// Keys that only the kitty keyboard protocol can encode, in the order of its numbers.
const (
	KeyMediaPlay = KeyKPBegin + 1 + iota
	KeyMediaPause
	KeyMediaPlayPause
	KeyMediaReverse
	KeyMediaStop
	KeyMediaFastForward
	KeyMediaRewind
	KeyMediaNext
	KeyMediaPrevious
	KeyMediaRecord
	KeyVolumeDown
	KeyVolumeUp
	KeyVolumeMute
	KeyLeftShift
	KeyLeftCtrl
	KeyLeftAlt
	KeyLeftSuper
	KeyLeftHyper
	KeyLeftMeta
	KeyRightShift
	KeyRightCtrl
	KeyRightAlt
	KeyRightSuper
	KeyRightHyper
	KeyRightMeta
	KeyLevel3Shift
	KeyLevel5Shift
)

// keyRow describes a named key: its names and its encodings. Keys that type a character or a C0 control have no legacy
// form here (legacy.go).
type keyRow struct {
	names string // the key's own name first; the others are accepted too

	// num and final are the form CSI num ; modifiers final (xterm ctlseqs, "PC-Style
	// Function Keys", "VT220-Style Function Keys"). final 0: sends nothing.
	num    int
	final  byte
	cursor bool // SS3 final in application cursor mode, when without modifiers
	pf     bool // SS3 final whenever without modifiers

	// kitty is the number of the form CSI kitty u (kitty keyboard protocol,
	// "Functional key definitions"). 0: as above. kittyTilde: it ends in ~.
	kitty      int
	kittyTilde bool

	// pad is the final byte after SS3 in application keypad mode. Otherwise the key sends the same as the key like
	// (VT100 User Guide, table 3-8).
	pad  byte
	like rune
}

// keyTable has the row of a named key at Code-KeyNone.
var keyTable = [...]keyRow{
	KeyUp - KeyNone:          {names: "Up", num: 1, final: 'A', cursor: true},
	KeyDown - KeyNone:        {names: "Down", num: 1, final: 'B', cursor: true},
	KeyRight - KeyNone:       {names: "Right", num: 1, final: 'C', cursor: true},
	KeyLeft - KeyNone:        {names: "Left", num: 1, final: 'D', cursor: true},
	KeyHome - KeyNone:        {names: "Home", num: 1, final: 'H', cursor: true},
	KeyEnd - KeyNone:         {names: "End", num: 1, final: 'F', cursor: true},
	KeyInsert - KeyNone:      {names: "Insert Ins IC", num: 2, final: '~'},
	KeyDelete - KeyNone:      {names: "Delete Del DC", num: 3, final: '~'},
	KeyPageUp - KeyNone:      {names: "PageUp PgUp PPage Prior", num: 5, final: '~'},
	KeyPageDown - KeyNone:    {names: "PageDown PgDn PgDown NPage Next", num: 6, final: '~'},
	KeyEnter - KeyNone:       {names: "Enter Return CR Ret", kitty: 13},
	KeyTab - KeyNone:         {names: "Tab", kitty: 9},
	KeyBackspace - KeyNone:   {names: "BSpace Backspace BS", kitty: 127},
	KeyEscape - KeyNone:      {names: "Escape Esc", kitty: 27},
	KeySpace - KeyNone:       {names: "Space Spc"},
	KeyMenu - KeyNone:        {names: "Menu", num: 29, final: '~', kitty: 57363},
	KeyPrintScreen - KeyNone: {names: "PrintScreen PrtSc Print", kitty: 57361},
	KeyPause - KeyNone:       {names: "Pause Break", kitty: 57362},
	KeyCapsLock - KeyNone:    {names: "CapsLock", kitty: 57358},
	KeyScrollLock - KeyNone:  {names: "ScrollLock", kitty: 57359},
	KeyNumLock - KeyNone:     {names: "NumLock", kitty: 57360},

	KeyF1 - KeyNone + 0:  {names: "F1", num: 1, final: 'P', pf: true},
	KeyF1 - KeyNone + 1:  {names: "F2", num: 1, final: 'Q', pf: true},
	KeyF1 - KeyNone + 2:  {names: "F3", num: 1, final: 'R', pf: true, kitty: 13, kittyTilde: true},
	KeyF1 - KeyNone + 3:  {names: "F4", num: 1, final: 'S', pf: true},
	KeyF1 - KeyNone + 4:  {names: "F5", num: 15, final: '~'},
	KeyF1 - KeyNone + 5:  {names: "F6", num: 17, final: '~'},
	KeyF1 - KeyNone + 6:  {names: "F7", num: 18, final: '~'},
	KeyF1 - KeyNone + 7:  {names: "F8", num: 19, final: '~'},
	KeyF1 - KeyNone + 8:  {names: "F9", num: 20, final: '~'},
	KeyF1 - KeyNone + 9:  {names: "F10", num: 21, final: '~'},
	KeyF1 - KeyNone + 10: {names: "F11", num: 23, final: '~'},
	KeyF1 - KeyNone + 11: {names: "F12", num: 24, final: '~'},
	KeyF1 - KeyNone + 12: {names: "F13", num: 25, final: '~', kitty: 57376},
	KeyF1 - KeyNone + 13: {names: "F14", num: 26, final: '~', kitty: 57377},
	KeyF1 - KeyNone + 14: {names: "F15", num: 28, final: '~', kitty: 57378},
	KeyF1 - KeyNone + 15: {names: "F16", num: 29, final: '~', kitty: 57379},
	KeyF1 - KeyNone + 16: {names: "F17", num: 31, final: '~', kitty: 57380},
	KeyF1 - KeyNone + 17: {names: "F18", num: 32, final: '~', kitty: 57381},
	KeyF1 - KeyNone + 18: {names: "F19", num: 33, final: '~', kitty: 57382},
	KeyF1 - KeyNone + 19: {names: "F20", num: 34, final: '~', kitty: 57383},
	KeyF1 - KeyNone + 20: {names: "F21", num: 42, final: '~', kitty: 57384},
	KeyF1 - KeyNone + 21: {names: "F22", num: 43, final: '~', kitty: 57385},
	KeyF1 - KeyNone + 22: {names: "F23", num: 44, final: '~', kitty: 57386},
	KeyF1 - KeyNone + 23: {names: "F24", num: 45, final: '~', kitty: 57387},
	KeyF1 - KeyNone + 24: {names: "F25", num: 46, final: '~', kitty: 57388},
	KeyF1 - KeyNone + 25: {names: "F26", num: 47, final: '~', kitty: 57389},
	KeyF1 - KeyNone + 26: {names: "F27", num: 48, final: '~', kitty: 57390},
	KeyF1 - KeyNone + 27: {names: "F28", num: 49, final: '~', kitty: 57391},
	KeyF1 - KeyNone + 28: {names: "F29", num: 50, final: '~', kitty: 57392},
	KeyF1 - KeyNone + 29: {names: "F30", num: 51, final: '~', kitty: 57393},
	KeyF1 - KeyNone + 30: {names: "F31", num: 52, final: '~', kitty: 57394},
	KeyF1 - KeyNone + 31: {names: "F32", num: 53, final: '~', kitty: 57395},
	KeyF1 - KeyNone + 32: {names: "F33", num: 54, final: '~', kitty: 57396},
	KeyF1 - KeyNone + 33: {names: "F34", num: 55, final: '~', kitty: 57397},
	KeyF1 - KeyNone + 34: {names: "F35", num: 56, final: '~', kitty: 57398},

	KeyKP0 - KeyNone + 0:     {names: "KP0 k0", kitty: 57399, pad: 'p', like: '0'},
	KeyKP0 - KeyNone + 1:     {names: "KP1 k1", kitty: 57400, pad: 'q', like: '1'},
	KeyKP0 - KeyNone + 2:     {names: "KP2 k2", kitty: 57401, pad: 'r', like: '2'},
	KeyKP0 - KeyNone + 3:     {names: "KP3 k3", kitty: 57402, pad: 's', like: '3'},
	KeyKP0 - KeyNone + 4:     {names: "KP4 k4", kitty: 57403, pad: 't', like: '4'},
	KeyKP0 - KeyNone + 5:     {names: "KP5 k5", kitty: 57404, pad: 'u', like: '5'},
	KeyKP0 - KeyNone + 6:     {names: "KP6 k6", kitty: 57405, pad: 'v', like: '6'},
	KeyKP0 - KeyNone + 7:     {names: "KP7 k7", kitty: 57406, pad: 'w', like: '7'},
	KeyKP0 - KeyNone + 8:     {names: "KP8 k8", kitty: 57407, pad: 'x', like: '8'},
	KeyKP0 - KeyNone + 9:     {names: "KP9 k9", kitty: 57408, pad: 'y', like: '9'},
	KeyKPDecimal - KeyNone:   {names: "KP. kPoint kDecimal", kitty: 57409, pad: 'n', like: '.'},
	KeyKPDivide - KeyNone:    {names: "KP/ kDivide", kitty: 57410, pad: 'o', like: '/'},
	KeyKPMultiply - KeyNone:  {names: "KP* kMultiply", kitty: 57411, pad: 'j', like: '*'},
	KeyKPSubtract - KeyNone:  {names: "KP- kMinus kSubtract", kitty: 57412, pad: 'm', like: '-'},
	KeyKPAdd - KeyNone:       {names: "KP+ kPlus kAdd", kitty: 57413, pad: 'k', like: '+'},
	KeyKPEnter - KeyNone:     {names: "KPEnter kEnter", kitty: 57414, pad: 'M', like: KeyEnter},
	KeyKPEqual - KeyNone:     {names: "KP= kEqual", kitty: 57415, pad: 'X', like: '='},
	KeyKPSeparator - KeyNone: {names: "KP, kComma kSeparator", kitty: 57416, pad: 'l', like: ','},
	KeyKPLeft - KeyNone:      {names: "KPLeft kLeft", kitty: 57417, like: KeyLeft},
	KeyKPRight - KeyNone:     {names: "KPRight kRight", kitty: 57418, like: KeyRight},
	KeyKPUp - KeyNone:        {names: "KPUp kUp", kitty: 57419, like: KeyUp},
	KeyKPDown - KeyNone:      {names: "KPDown kDown", kitty: 57420, like: KeyDown},
	KeyKPPageUp - KeyNone:    {names: "KPPageUp kPageUp", kitty: 57421, like: KeyPageUp},
	KeyKPPageDown - KeyNone:  {names: "KPPageDown kPageDown", kitty: 57422, like: KeyPageDown},
	KeyKPHome - KeyNone:      {names: "KPHome kHome", kitty: 57423, like: KeyHome},
	KeyKPEnd - KeyNone:       {names: "KPEnd kEnd", kitty: 57424, like: KeyEnd},
	KeyKPInsert - KeyNone:    {names: "KPInsert kInsert", kitty: 57425, like: KeyInsert},
	KeyKPDelete - KeyNone:    {names: "KPDelete kDelete", kitty: 57426, like: KeyDelete},
	KeyKPBegin - KeyNone:     {names: "KPBegin kOrigin", num: 1, final: 'E', cursor: true},

	KeyMediaPlay - KeyNone:        {names: "MediaPlay", kitty: 57428},
	KeyMediaPause - KeyNone:       {names: "MediaPause", kitty: 57429},
	KeyMediaPlayPause - KeyNone:   {names: "MediaPlayPause", kitty: 57430},
	KeyMediaReverse - KeyNone:     {names: "MediaReverse", kitty: 57431},
	KeyMediaStop - KeyNone:        {names: "MediaStop", kitty: 57432},
	KeyMediaFastForward - KeyNone: {names: "MediaFastForward", kitty: 57433},
	KeyMediaRewind - KeyNone:      {names: "MediaRewind", kitty: 57434},
	KeyMediaNext - KeyNone:        {names: "MediaNext", kitty: 57435},
	KeyMediaPrevious - KeyNone:    {names: "MediaPrevious", kitty: 57436},
	KeyMediaRecord - KeyNone:      {names: "MediaRecord", kitty: 57437},
	KeyVolumeDown - KeyNone:       {names: "VolumeDown", kitty: 57438},
	KeyVolumeUp - KeyNone:         {names: "VolumeUp", kitty: 57439},
	KeyVolumeMute - KeyNone:       {names: "VolumeMute", kitty: 57440},
	KeyLeftShift - KeyNone:        {names: "LeftShift", kitty: 57441},
	KeyLeftCtrl - KeyNone:         {names: "LeftCtrl", kitty: 57442},
	KeyLeftAlt - KeyNone:          {names: "LeftAlt", kitty: 57443},
	KeyLeftSuper - KeyNone:        {names: "LeftSuper", kitty: 57444},
	KeyLeftHyper - KeyNone:        {names: "LeftHyper", kitty: 57445},
	KeyLeftMeta - KeyNone:         {names: "LeftMeta", kitty: 57446},
	KeyRightShift - KeyNone:       {names: "RightShift", kitty: 57447},
	KeyRightCtrl - KeyNone:        {names: "RightCtrl", kitty: 57448},
	KeyRightAlt - KeyNone:         {names: "RightAlt", kitty: 57449},
	KeyRightSuper - KeyNone:       {names: "RightSuper", kitty: 57450},
	KeyRightHyper - KeyNone:       {names: "RightHyper", kitty: 57451},
	KeyRightMeta - KeyNone:        {names: "RightMeta", kitty: 57452},
	KeyLevel3Shift - KeyNone:      {names: "Level3Shift", kitty: 57453},
	KeyLevel5Shift - KeyNone:      {names: "Level5Shift", kitty: 57454},
}

// keyRowOf returns the row of a named key, nil for printing keys.
func keyRowOf(code rune) *keyRow {
	if i := code - KeyNone; i > 0 && int(i) < len(keyTable) {
		return &keyTable[i]
	}
	return nil
}

// modifierKey reports whether code is a modifier or a lock.
func modifierKey(code rune) bool {
	return code >= KeyLeftShift && code <= KeyLevel5Shift ||
		code == KeyCapsLock || code == KeyNumLock || code == KeyScrollLock
}

// normalKey converts equivalent forms to one: named keys to their codes, letters to lower case with Shift, C0 controls
// to their keys.
func normalKey(k Key) Key {
	switch c := k.Code; {
	case c == KeySpace:
		k.Code = ' '
	case c == '\r' || c == '\n':
		k.Code = KeyEnter
	case c == '\t':
		k.Code = KeyTab
	case c == 0x1b:
		k.Code = KeyEscape
	case c == 0x7f:
		k.Code = KeyBackspace
	case c == 0 && k.Text == "":
		k.Code, k.Mods = ' ', k.Mods|Ctrl
	case c > 0 && c < 0x20:
		k.Code, k.Mods = unicode.ToLower(c+0x40), k.Mods|Ctrl
	case unicode.IsUpper(c):
		if low := unicode.ToLower(c); low != c && unicode.ToUpper(low) == c {
			k.Code, k.Mods = low, k.Mods|Shift
		}
	}
	return k
}
