package vterm

// modeBits is the set of modes that are on.
type modeBits uint64

// Mode bits. Snapshots store modes by number, so the order may change.
const (
	modeKeyboardLock modeBits = 1 << iota
	modeInsert
	modeSendReceive
	modeNewLine
	modeAppCursor
	modeANSI
	modeColumns132
	modeSmoothScroll
	modeReverseVideo
	modeOrigin
	modeAutowrap
	modeCursorBlink
	modePrintFF
	modePrintExtent
	modeCursorVisible
	modeAllowColumns
	modeMoreFix
	modeNational
	modeMarginBell
	modeReverseWrap
	modeReverseWrap2
	modeAppKeypad
	modeBackarrow
	modeMargins
	modeSixelDisplay
	modeKeepOnColumns
	modeAlt47
	modeAlt1047
	modeAlt1049
	modeFocus
	modeAltScroll
	modeBracketedPaste
	modeSync
	modeGraphemes
	modeScheme
	modeInBandResize
	modeMouseX10
	modeMouseNormal
	modeMouseHighlight
	modeMouseButton
	modeMouseAny
	modeMouseUTF8
	modeMouseSGR
	modeMouseURXVT
	modeMousePixel
	modeSaveCursor
	modeScrollOutput
	modeScrollKey
	modeMetaEighth
	modeAltSendsEsc
	modeMetaSendsEsc
	modeDelete
	modeKeepSelection
	modeScrollbar
	modeReplaceScreen
	modeBlinkXor
	modeSixelPrivate
	modeSixelRight
	modeHebrew
)

// modeDefaults are the modes that are on after a reset.
const modeDefaults = modeANSI | modeAutowrap | modeCursorVisible | modeSendReceive |
	modeGraphemes | modeAltScroll | modeScrollKey | modeKeepSelection | modePrintExtent | modeSixelPrivate

const (
	mouseTrackings = modeMouseX10 | modeMouseNormal | modeMouseHighlight | modeMouseButton | modeMouseAny
	mouseEncodings = modeMouseUTF8 | modeMouseSGR | modeMouseURXVT | modeMousePixel
)

// mode is a row of the table of modes, which SM, RM, DECSET, DECRST, DECRQM, XTSAVE, the documentation and a test use.
type mode struct {
	number  int
	ansi    bool // SM/RM rather than DECSET/DECRST
	bit     modeBits
	name    string
	source  string
	fixed   int                        // DECRPM answer for a mode that cannot be changed: 3 set, 4 reset
	changed func(t *Terminal, on bool) // handler of a change; nil if unset
}

const (
	fixedSet   = 3
	fixedReset = 4
)

// modeTable is in ascending order of (ansi first, number).
var modeTable = []mode{
	{1, true, 0, "GATM: guarded area transfer", "ECMA-48", fixedReset, nil},
	{2, true, modeKeyboardLock, "KAM: keyboard locked", "ECMA-48", 0, nil},
	{4, true, modeInsert, "IRM: insert", "ECMA-48", 0, func(t *Terminal, _ bool) { t.updateSimple() }},
	{5, true, 0, "SRTM: status report transfer", "ECMA-48", fixedReset, nil},
	{7, true, 0, "VEM: vertical editing", "ECMA-48", fixedReset, nil},
	{10, true, 0, "HEM: horizontal editing", "ECMA-48", fixedReset, nil},
	{11, true, 0, "PUM: positioning unit", "ECMA-48", fixedReset, nil},
	{12, true, modeSendReceive, "SRM: no local echo", "ECMA-48", 0, nil},
	{13, true, 0, "FEAM: format effector action", "ECMA-48", fixedReset, nil},
	{14, true, 0, "FETM: format effector transfer", "ECMA-48", fixedReset, nil},
	{15, true, 0, "MATM: multiple area transfer", "ECMA-48", fixedReset, nil},
	{16, true, 0, "TTM: transfer termination", "ECMA-48", fixedReset, nil},
	{17, true, 0, "SATM: selected area transfer", "ECMA-48", fixedReset, nil},
	{18, true, 0, "TSM: tabulation stop", "ECMA-48", fixedReset, nil},
	{19, true, 0, "EBM: editing boundary", "ECMA-48", fixedReset, nil},
	{20, true, modeNewLine, "LNM: new line", "ECMA-48", 0, nil},

	{1, false, modeAppCursor, "DECCKM: application cursor keys", "VT510", 0, nil},
	{2, false, modeANSI, "DECANM: ANSI rather than VT52", "VT510", 0, (*Terminal).changedANSI},
	{3, false, modeColumns132, "DECCOLM: 132 columns", "VT510", 0, (*Terminal).changedColumns},
	{4, false, modeSmoothScroll, "DECSCLM: smooth scroll", "VT510", 0, nil},
	{5, false, modeReverseVideo, "DECSCNM: reverse video", "VT510", 0, func(t *Terminal, _ bool) { t.scr.TouchAll() }},
	{6, false, modeOrigin, "DECOM: origin", "VT510", 0, func(t *Terminal, _ bool) { t.home() }},
	{7, false, modeAutowrap, "DECAWM: autowrap", "VT510", 0, nil},
	{8, false, 0, "DECARM: keys repeat, the keyboard's affair", "VT510", fixedReset, nil},
	{9, false, modeMouseX10, "mouse: presses", "xterm", 0, nil},
	{12, false, modeCursorBlink, "cursor blinks", "xterm", 0, nil},
	{13, false, 0, "cursor blink by resource", "xterm", fixedReset, nil},
	{14, false, modeBlinkXor, "cursor blink by XOR", "xterm", 0, nil},
	{18, false, modePrintFF, "DECPFF: form feed ends a print", "VT510", 0, nil},
	{19, false, modePrintExtent, "DECPEX: print the whole screen", "VT510", 0, nil},
	{25, false, modeCursorVisible, "DECTCEM: cursor visible", "VT510", 0, nil},
	{30, false, modeScrollbar, "scrollbar shown", "xterm", 0, nil},
	{35, false, modeHebrew, "DECHEBM: Hebrew keyboard", "VT510", 0, nil},
	{40, false, modeAllowColumns, "DECCOLM allowed", "xterm", 0, nil},
	{41, false, modeMoreFix, "fix for more(1)", "xterm", 0, nil},
	{42, false, modeNational, "DECNRCM: national character sets", "VT510", 0, (*Terminal).changedNational},
	{44, false, modeMarginBell, "margin bell", "xterm", 0, nil},
	{45, false, modeReverseWrap, "reverse wrap", "xterm", 0, nil},
	{47, false, modeAlt47, "alternate screen", "xterm", 0, func(t *Terminal, on bool) { t.showAlternate(on, false) }},
	{60, false, 0, "DECHCCM: horizontal cursor coupling", "VT510", fixedReset, nil},
	{66, false, modeAppKeypad, "DECNKM: application keypad", "VT510", 0, nil},
	{67, false, modeBackarrow, "DECBKM: backarrow sends BS", "VT510", 0, nil},
	{69, false, modeMargins, "DECLRMM: left and right margins", "VT510", 0, (*Terminal).changedMargins},
	{80, false, modeSixelDisplay, "DECSDM: sixels do not scroll", "VT340", 0, nil},
	{95, false, modeKeepOnColumns, "DECNCSM: DECCOLM does not clear", "VT510", 0, nil},
	{1000, false, modeMouseNormal, "mouse: presses and releases", "xterm", 0, nil},
	{1001, false, modeMouseHighlight, "mouse: highlight tracking", "xterm", 0, nil},
	{1002, false, modeMouseButton, "mouse: drags", "xterm", 0, nil},
	{1003, false, modeMouseAny, "mouse: every motion", "xterm", 0, nil},
	{1004, false, modeFocus, "focus reports", "xterm", 0, nil},
	{1005, false, modeMouseUTF8, "mouse: UTF-8 encoding", "xterm", 0, nil},
	{1006, false, modeMouseSGR, "mouse: SGR encoding", "xterm", 0, nil},
	{1007, false, modeAltScroll, "wheel sends cursor keys on the alternate screen", "xterm", 0, nil},
	{1010, false, modeScrollOutput, "scroll to bottom on output", "rxvt", 0, nil},
	{1011, false, modeScrollKey, "scroll to bottom on a key", "rxvt", 0, nil},
	{1015, false, modeMouseURXVT, "mouse: urxvt encoding", "urxvt", 0, nil},
	{1016, false, modeMousePixel, "mouse: SGR encoding in pixels", "xterm", 0, nil},
	{1034, false, modeMetaEighth, "Meta sets the eighth bit", "xterm", 0, nil},
	{1036, false, modeMetaSendsEsc, "Meta sends ESC", "xterm", 0, nil},
	{1037, false, modeDelete, "keypad Delete sends DEL", "xterm", 0, nil},
	{1039, false, modeAltSendsEsc, "Alt sends ESC", "xterm", 0, nil},
	{1040, false, modeKeepSelection, "selection is kept", "xterm", 0, nil},
	{1045, false, modeReverseWrap2, "extended reverse wrap", "xterm", 0, nil},
	{1047, false, modeAlt1047, "alternate screen, cleared on leaving", "xterm", 0, (*Terminal).changedAlt1047},
	{1048, false, modeSaveCursor, "cursor saved", "xterm", 0, (*Terminal).changedSaveCursor},
	{1049, false, modeAlt1049, "cursor saved, alternate screen, cleared on entering", "xterm", 0, (*Terminal).changedAlt1049},
	{1070, false, modeSixelPrivate, "sixel colours private to each image", "xterm", 0, nil},
	{2004, false, modeBracketedPaste, "bracketed paste", "xterm", 0, nil},
	{2026, false, modeSync, "synchronized output", "contour", 0, (*Terminal).changedSync},
	{2027, false, modeGraphemes, "grapheme clusters", "contour", 0, nil},
	{2031, false, modeScheme, "colour scheme reports", "contour", 0, nil},
	{2048, false, modeInBandResize, "in-band resize reports", "kitty", 0, (*Terminal).changedInBand},
	{8452, false, modeSixelRight, "cursor right of sixels", "mintty", 0, nil},
}

// syncMode is the row of mode 2026, which programs change with every screen.
var syncMode = findMode(2026, false)

// findMode returns a mode by its number, or nil.
func findMode(number int, ansi bool) *mode {
	lo, hi := 0, len(modeTable)
	for lo < hi {
		i := int(uint(lo+hi) / 2)
		switch m := &modeTable[i]; {
		case m.ansi == ansi && m.number == number:
			return m
		case m.ansi == ansi && m.number < number || m.ansi && !ansi:
			lo = i + 1
		default:
			hi = i
		}
	}
	return nil
}
